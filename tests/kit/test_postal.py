import pytest

from storefront.kit import postal
from storefront.kit.countries import countries
from storefront.kit.postal import (
    international_phone,
    needs_postal_code,
    postal_code_problem,
    region_key,
    region_problem,
    regions_of,
)


@pytest.mark.parametrize(
    ("country", "code"),
    [
        ("DE", "20457"),
        ("DE", "25 845"),
        ("GB", "w1u 4eg"),
        ("NL", "1234AB"),
        ("US", "95014-0001"),
        *(
            ("LT", "LT-01100"),
            ("LU", "L-1234"),
            ("AZ", "AZ1000"),
            ("FI", "FI-00100"),
            ("DE", "D-20457"),
            ("EG", "1234567"),
        ),
        *(("PL", "00001"), ("PT", "1000001"), ("LV", "1010"), ("SV", "1101"), ("CA", "k1a-0b1"), ("MD", "MD-2001")),
        ("HK", "x"),
        ("XX", "x"),
        ("x" * 100_000, "x"),
    ],
)
def test_a_countrys_postal_codes_are_accepted(country, code):
    assert postal_code_problem(country, code) == ""


@pytest.mark.parametrize(("country", "code"), [("DE", "2045"), ("GB", "20457"), ("NL", "1234"), ("US", "ABCDE")])
def test_others_are_refused_with_an_example(country, code):
    problem = postal_code_problem(country, code)
    assert "not a postal code" in problem
    assert "An example: " in problem


def test_some_countries_need_no_postal_code():
    assert [needs_postal_code(country) for country in ("DE", "US", "HK", "IE", "XX", "")] == [True, True, *[False] * 4]


def test_regions_are_known_by_code_and_name():
    assert regions_of("US")["CA"] == "California"
    assert (regions_of("DE"), region_problem("DE", "")) == ({}, "")
    assert [region_problem("US", each) for each in ("CA", "california", "Armed Forces Europe")] == [""] * 3
    assert (regions_of("JP")["東京都"], regions_of("ES")["BI"]) == ("Tokyo", "Vizcaya")
    assert "Alabama or AL" in region_problem("US", "")
    assert max(len(regions_of(country)) for country in countries()) > 50
    assert region_key("US", "California") == region_key("US", "ca") != region_key("CA", "CA")
    assert region_key("DE", "Schleswig-Holstein") == region_key("DE", "schleswig holstein")


def test_what_visitors_send_as_a_country_is_not_kept():
    region_key("y" * 100_000, "x")
    assert postal._rules_of.cache_info().currsize < 300
    assert postal._regions_by_text.cache_info().currsize < 300


def test_phone_numbers_get_their_country():
    stored = international_phone("+1 415 555 2671 x123", "DE")
    assert stored == international_phone(stored, "DE") == "+1 415-555-2671 x123"
    assert international_phone("040 123456", "DE") == "+49 40 123456"
    assert international_phone("+44 20 7946 0958", "DE") == "+44 20 7946 0958"
    for text, country in (("1", "DE"), ("040 123456", ""), ("call me", "DE"), ("+49 " + "1" * 20, "DE")):
        with pytest.raises(ValueError, match="not a phone number"):
            international_phone(text, country)
