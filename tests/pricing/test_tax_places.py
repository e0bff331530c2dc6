"""Which rates an order has: by place, class, step and setting; and what is free of tax."""

from dataclasses import replace
from decimal import Decimal

import pytest

from storefront.pricing.eu_vat import normal_vat_id, vat_area, vat_id_country
from storefront.pricing.models import TaxRate
from storefront.pricing.queries import tax_terms
from storefront.pricing.rules import totals
from storefront.pricing.taxes import TaxTerms, rates_at
from storefront.shops.models import Shop
from tests.pricing.factories import amount, candidate, line, rate
from tests.shops.factories import NOW

DE, FR, CH = ({"country": each} for each in ("DE", "FR", "CH"))
CANARIES = {"country": "ES", "postal_code": "35 001"}
REDUCED = 5
RATES = (
    rate("19", 1),
    rate("7", 2, tax_class_id=REDUCED),
    rate("20", 3, country="FR"),
    rate("21", 4, country="ES"),
)
SHOP = TaxTerms(RATES, home="DE", eu_tax="destination", included=False, exports_at_net_price=True)


def taxes(*lines, shipping="0.00", to=None, buyer=None, **given):
    terms = replace(SHOP, destination=to, buyer=buyer or to, **given)
    found = totals(lines, currency="EUR", now=NOW, shipping=Decimal(shipping), terms=terms)
    return [(tax.label, str(tax.base), str(tax.amount)) for tax in found.tax_lines]


MUG, BOOK, SONG = line("10.00"), line("10.00", tax_class_id=REDUCED), line("10.00", is_digital=True)


def test_a_postal_code_is_narrower_than_a_region_and_a_region_than_the_country():
    country, region = rate("21", 1, country="ES"), rate("7", 2, country="ES", region="Canarias")
    islands, island = (
        rate("5", 3, country="ES", postcodes=["35*", "38*"]),
        rate("3", 4, country="ES", postcodes=["35001"]),
    )
    rates = [country, region, islands, island]
    assert rates_at(rates, None, {"country": "ES", "postal_code": "28001"}) == (country,)
    assert rates_at(rates, None, {"country": "ES", "region": "CANARIAS", "postal_code": ""}) == (region,)
    assert rates_at(rates, None, {"country": "ES", "region": "Canarias", "postal_code": "38 003"}) == (islands,)
    assert rates_at(rates, None, CANARIES) == (island,)


def test_taxes_of_several_steps_add_up_and_compound_ones_include_earlier_ones():
    federal = rate("5", 1, country="CA", name="GST")
    regional = rate("9.975", 2, country="CA", region="Quebec", step=2, name="QST")
    to = {"country": "CA", "region": "Québec"}
    terms = TaxTerms([federal, regional], home="CA", destination=to, included=False)

    def found(terms):
        return [
            (tax.label, str(tax.base), str(tax.amount))
            for tax in totals([line("100.00")], currency="EUR", now=NOW, terms=terms).tax_lines
        ]

    assert found(terms) == [("GST 5%", "100.00", "5.00"), ("QST 9.975%", "100.00", "9.98")]
    regional.is_compound = True
    assert found(terms) == [("GST 5%", "100.00", "5.00"), ("QST 9.975%", "105.00", "10.47")]
    included = found(replace(terms, included=True))
    assert sum(Decimal(tax) for _, _, tax in included) + Decimal(included[0][1]) == 100


def test_oss_is_the_rate_of_the_country_of_delivery():
    assert taxes(MUG, to=FR) == [("VAT 20%", "10.00", "2.00")]


def test_a_class_without_a_rate_there_has_the_standard_one_never_none():
    assert taxes(BOOK, to=FR) == [("VAT 20%", "10.00", "2.00")]


def test_without_a_rate_there_it_is_that_of_the_shops_own_country():
    assert taxes(MUG, BOOK, to={"country": "IT"}) == [("VAT 19%", "10.00", "1.90"), ("VAT 7%", "10.00", "0.70")]


def test_below_the_threshold_it_is_that_of_the_shops_own_country():
    assert taxes(MUG, to=FR, eu_tax="origin") == [("VAT 19%", "10.00", "1.90")]


def test_only_listed_rates_count_if_the_shop_says_so():
    assert taxes(MUG, to={"country": "IT"}, eu_tax="listed") == []
    assert taxes(BOOK, to=FR, eu_tax="listed") == []
    assert taxes(MUG, to=CANARIES, eu_tax="listed") == [("VAT 21%", "10.00", "2.10")]


def test_digital_goods_are_taxed_where_the_buyer_is():
    assert taxes(MUG, SONG, to=DE, buyer=FR) == [("VAT 19%", "10.00", "1.90"), ("VAT 20%", "10.00", "2.00")]


def test_delivery_belongs_to_the_goods():
    assert taxes(MUG, SONG, shipping="5.00", to=DE, buyer=FR) == [
        ("VAT 19%", "15.00", "2.85"),
        ("VAT 20%", "10.00", "2.00"),
    ]


def test_delivery_may_have_a_class_of_its_own():
    given = {"shipping": "5.00", "to": DE, "delivery_tax": "class"}
    assert taxes(BOOK, **given) == [("VAT 7%", "10.00", "0.70"), ("VAT 19%", "5.00", "0.95")]
    assert taxes(MUG, **given, delivery_class_id=REDUCED) == [("VAT 19%", "10.00", "1.90"), ("VAT 7%", "5.00", "0.35")]


@pytest.mark.parametrize("to", [CH, {"country": "US"}, CANARIES, {"country": "DE", "postal_code": "27498"}])
def test_what_leaves_the_vat_area_is_an_export(to):
    assert taxes(MUG, shipping="5.00", to=to) == [("Export outside the EU", "15.00", "0.00")]


def test_outside_the_eu_a_listed_rate_counts_since_the_shop_is_registered_there():
    swiss = rate("8.1", 9, country="CH")
    assert taxes(MUG, to=CH, rates=(*RATES, swiss)) == [("VAT 8.1%", "10.00", "0.81")]
    igic = rate("7", 9, country="ES", postcodes=["35*"], name="IGIC")
    assert taxes(MUG, to=CANARIES, rates=(*RATES, igic)) == [("IGIC 7%", "10.00", "0.70")]


def test_a_business_in_another_member_state_owes_the_tax_itself():
    assert taxes(MUG, shipping="5.00", to=FR, vat_id_country="FR") == [("Reverse charge", "15.00", "0.00")]
    # Collected in the shop's own country, it is taxed there; the song is not.
    assert taxes(MUG, SONG, to=DE, buyer=FR, vat_id_country="FR") == [
        ("VAT 19%", "10.00", "1.90"),
        ("Reverse charge", "10.00", "0.00"),
    ]


def test_a_vat_id_of_the_shops_own_country_changes_nothing():
    assert taxes(MUG, to=DE, vat_id_country="DE") == [("VAT 19%", "10.00", "1.90")]
    assert taxes(MUG, to=FR, vat_id_country="DE") == [("VAT 20%", "10.00", "2.00")]


def test_a_shop_without_tax_names_no_exports():
    assert taxes(MUG, to=CH, rates=()) == []
    assert taxes(MUG, to={"country": "CA"}, home="US", rates=RATES) == []


def test_prices_with_tax_are_paid_without_it_where_none_is_due():
    sums = totals(
        [line("23.80", qty=2), line("10.70", tax_class_id=REDUCED), line("50.00", is_gift_card=True)],
        currency="EUR",
        now=NOW,
        discounts=[candidate(amount("8.45"))],
        shipping=Decimal("4.90"),
        terms=replace(SHOP, included=True, destination=CH, buyer=CH),
    )
    assert sums.unit_prices == (Decimal("10.00"), Decimal("10.00"), Decimal("50.00"))
    assert (sums.subtotal, sums.tax, sums.prices_include_tax) == (Decimal("80.00"), 0, False)
    assert sums.discount == sum(sums.line_discounts) == Decimal("7.35")
    assert sums.shipping == Decimal("4.27")
    assert sums.total == Decimal("76.92")


def test_exports_may_cost_the_same_as_at_home():
    terms = replace(SHOP, included=True, destination=CH, buyer=CH, exports_at_net_price=False)
    sums = totals([line("11.90")], currency="EUR", now=NOW, terms=terms)
    assert (sums.total, sums.tax, sums.prices_include_tax) == (Decimal("11.90"), 0, True)
    assert [tax.treatment for tax in sums.tax_lines] == ["export"]


def test_net_prices_are_the_same_for_every_address():
    terms = replace(SHOP, included=True, is_net=True)
    nowhere, home, abroad = (replace(terms, destination=to, buyer=to) for to in (None, DE, FR))
    found = [totals([line("11.90")], currency="EUR", now=NOW, terms=each) for each in (nowhere, home, abroad)]
    assert [(str(sums.subtotal), str(sums.tax), str(sums.total)) for sums in found] == [
        ("10.00", "0.00", "10.00"),
        ("10.00", "1.90", "11.90"),
        ("10.00", "2.00", "12.00"),
    ]


def test_rounding_on_every_line():
    three = [line("0.10")] * 3
    assert taxes(*three, to=DE) == [("VAT 19%", "0.30", "0.06")]
    assert taxes(*[line("0.08")] * 3, to=DE, rounding="order") == [("VAT 19%", "0.24", "0.05")]
    assert taxes(*[line("0.08")] * 3, to=DE, rounding="line") == [("VAT 19%", "0.24", "0.06")]


@pytest.mark.parametrize(
    ("address", "area"),
    [
        ({"country": "DE", "postal_code": "10115"}, "DE"),
        ({"country": "DE", "postal_code": "D-78266"}, ""),
        ({"country": "MC", "postal_code": "98000"}, "FR"),
        ({"country": "FR", "postal_code": "97110"}, ""),
        ({"country": "GB", "postal_code": "BT1 5GS"}, "XI"),
        ({"country": "GB", "postal_code": "SW1A 1AA"}, ""),
        ({"country": "FI", "postal_code": "22100"}, ""),
        ({"country": "GR", "postal_code": ""}, "GR"),
        ({"country": "NO"}, ""),
    ],
)
def test_the_vat_area(address, area):
    assert vat_area(address) == area


def test_northern_ireland_is_outside_for_digital_goods():
    assert vat_area({"country": "GB", "postal_code": "BT1 5GS"}, is_goods=False) == ""


def test_vat_ids_are_checked_in_form():
    assert [normal_vat_id(each) for each in ("atu 13585627", "DE 136.695.976", "EL094259216", "GR094259216")] == [
        "ATU13585627",
        "DE136695976",
        "EL094259216",
        # The code that VIES knows Greece by.
        "EL094259216",
    ]
    assert vat_id_country("EL094259216") == "GR"
    for wrong in ("DE136695975", "GB980780684", "136695976", "", "EU372022452", "CHE-107.787.577 IVA"):
        with pytest.raises(ValueError):
            normal_vat_id(wrong)


def test_included_taxes_never_come_to_more_than_what_was_paid():
    """Each of three rates of 100% is half a cent of two cents, which is rounded up."""
    rates = [rate("100", step, step=step, country="CA") for step in (1, 2, 3)]
    for rounding in ("order", "line"):
        terms = TaxTerms(rates, home="CA", destination={"country": "CA"}, rounding=rounding)
        found = totals([line("0.02")], currency="EUR", now=NOW, terms=terms)
        assert [str(tax.amount) for tax in found.tax_lines] == ["0.01", "0.01", "0.00"]
        assert [str(tax.base) for tax in found.tax_lines] == ["0.00"] * 3


@pytest.mark.django_db
def test_monaco_is_taxed_as_france(shop):
    shop.country, shop.eu_tax = "DE", Shop.EuTax.DESTINATION
    for country, percent in (("DE", 19), ("FR", 20)):
        TaxRate.objects.create(shop=shop, name="VAT", country=country, percent=percent)
    for country in ("FR", "MC"):
        terms = tax_terms(shop, destination={"country": country, "postal_code": "98000"})
        assert [tax.percent for tax in totals([line("10.00")], currency="EUR", now=NOW, terms=terms).tax_lines] == [20]
