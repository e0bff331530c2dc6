import pytest

from storefront.pricing.models import DeliveryZone
from storefront.pricing.postcodes import codes_matched, normal_pattern, normal_postcode
from storefront.pricing.zones import countries_by_region, overlap, served_countries, zone_of


def zone(pk, *countries, **given):
    return DeliveryZone(pk=pk, name=f"Zone {pk}", countries=list(countries), **given)


def found(zones, country="DE", code="10115", region=""):
    hit = zone_of(zones, {"country": country, "postal_code": code, "region": region})
    return hit and hit.pk


@pytest.mark.parametrize(
    ("typed", "country", "code"),
    [
        (" sw1a 1aa ", "GB", "SW1A1AA"),
        ("1000-001", "PT", "1000001"),
        ("D-10115", "DE", "10115"),
        ("LV-1010", "LV", "1010"),
        ("12345-6789", "US", "12345"),
        ("123456789", "BR", "123456789"),
    ],
)
def test_codes_are_compared_without_spaces_hyphens_and_capitals(typed, country, code):
    assert normal_postcode(typed, country) == code


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("10*", "10*"),
        ("iv *", "IV*"),
        ("9000 - 9999", "9000-9999"),
        ("00-950", "00950"),
        ("sw1a 1aa", "SW1A1AA"),
    ],
)
def test_patterns_are_stored_in_one_form(typed, stored):
    assert normal_pattern(typed) == stored == normal_pattern(stored)


@pytest.mark.parametrize("typed", ["", "*", "10*5", "10?", "9999-9000", "1…9", "ä1", "10**", "-", "1_0"])
def test_refuses_what_is_no_pattern(typed):
    with pytest.raises(ValueError, match=r".+\."):
        normal_pattern(typed)


@pytest.mark.parametrize(
    ("pattern", "code", "covered"),
    [
        ("10115", "10115", 1),
        ("10115", "10116", None),
        ("10*", "10115", 1000),
        ("10115*", "10115", 1),
        ("10*", "11115", None),
        ("9000-9999", "9000", 1000),
        ("9000-9999", "9999", 1000),
        ("9000-9999", "8999", None),
        ("9000-9999", "90000", None),
        ("9000-9999", "9X00", None),
        ("9000-9999", "", None),
    ],
)
def test_what_a_pattern_covers(pattern, code, covered):
    assert codes_matched(pattern, code) == covered


def test_the_most_specific_zone_counts_whatever_their_order():
    zones = [
        zone(1),
        zone(2, "DE", "AT"),
        zone(3, "DE", regions=["Bayern", "Bavaria"]),
        zone(4, "DE", postcodes=["8*"]),
        zone(5, "DE", postcodes=["80*"]),
        zone(6, "DE", postcodes=["80331"]),
        zone(7, "DE", regions=["Bayern"], postcodes=["80*"]),
    ]
    for order in (zones, zones[::-1]):
        assert found(order, "FR") == 1
        assert found(order) == 2
        assert found(order, region="BAVARIA ") == 3
        assert found(order, code="81000") == 4
        assert found(order, code="80 100") == 5
        assert found(order, code="80331", region="Bayern") == 6
        assert found(order, code="80100", region="Bayern") == 7


def test_of_equals_the_oldest_counts():
    assert found([zone(2, "DE"), zone(1, "DE")]) == 1


def test_no_zone_is_no_delivery():
    assert found([zone(1, "AT"), zone(2, "DE", postcodes=["2*"]), zone(3, "DE", regions=["Bayern"])]) is None


def test_a_country_is_served_if_any_part_of_it_is():
    assert set(served_countries([zone(1, "DE"), zone(2, "AT", postcodes=["1*"]), zone(3, "FR")], {1, 2})) == {
        "DE",
        "AT",
    }
    everywhere = served_countries([zone(1), zone(2, "RU"), zone(3, "NO", postcodes=["917*"])], {1})
    assert ("RU" in everywhere, "NO" in everywhere, "JP" in everywhere) == (False, True, True)


def test_countries_whose_zones_depend_on_the_region():
    assert countries_by_region([zone(1, "DE"), zone(2, "ES", regions=["Baleares"])]) == {"ES"}


@pytest.mark.parametrize(
    ("other", "field"),
    [
        (zone(1, "DE", "AT"), "countries"),
        (zone(1, "AT"), None),
        (zone(1), None),
        (zone(1, "DE", postcodes=["1*"]), None),
        (zone(1, "DE", regions=["Bayern"]), None),
        (zone(2, "DE"), None),
    ],
)
def test_zones_that_are_equally_specific_overlap(other, field):
    problem = overlap(zone(2, "DE"), [other])
    assert (problem and problem[0]) == field


@pytest.mark.parametrize(
    ("given", "other", "field"),
    [
        ({"postcodes": ["10*", "2*"]}, {"postcodes": ["2*"]}, "postcodes"),
        ({"postcodes": ["10*"]}, {"postcodes": ["1*"]}, None),
        ({"regions": ["Bayern"]}, {"regions": ["BAYERN."]}, "regions"),
        ({"regions": ["Bayern"]}, {"regions": ["Hessen"]}, None),
        ({"regions": ["Bayern"], "postcodes": ["8*"]}, {"regions": ["Hessen"], "postcodes": ["8*"]}, None),
        ({"regions": ["Bayern"], "postcodes": ["8*"]}, {"regions": ["Bayern"], "postcodes": ["8*"]}, "postcodes"),
    ],
)
def test_parts_of_a_country_overlap_where_they_are_the_same(given, other, field):
    problem = overlap(zone(2, "DE", **given), [zone(1, "DE", **other)])
    assert (problem and problem[0]) == field


def test_only_one_zone_is_for_all_other_countries():
    assert overlap(zone(2), [zone(1)]) == ("countries", "Zone 1 is already for all other countries. Choose some.")
