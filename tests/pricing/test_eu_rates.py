"""The start set of the EU's VAT rates: complete, added once, and never over a shop's own rates unasked."""

from decimal import Decimal

import pytest
from django.urls import reverse

from storefront.catalogue.models import TaxClass
from storefront.pricing.eu_rates import AS_OF, RATES, eu_rates, load_eu_rates
from storefront.pricing.eu_vat import MEMBER_STATES
from storefront.pricing.models import TaxRate
from storefront.shops.models import AuditEntry
from tests.races import run_concurrently
from tests.shops.factories import NOW


@pytest.fixture
def role() -> str:
    return "manager"


def percents(shop, country):
    rows = TaxRate.objects.filter(shop=shop, country=country).order_by("pk")
    return {str(row.tax_class or ""): f"{row.percent.normalize():f}" for row in rows}


def test_the_set_has_every_member_state_with_rates_that_can_be():
    assert set(RATES) == MEMBER_STATES
    for country, (standard, *lower) in RATES.items():
        # The directive's bounds: at least 15%, at least 5%, below 5%.
        assert 15 <= Decimal(standard) <= 27, country
        assert all(5 <= Decimal(each) < Decimal(standard) for each in lower[:2] if each), country
        assert all(0 < Decimal(each) < 5 for each in lower[2:] if each), country


def test_rates_and_classes_are_added_once(shop, other_shop):
    assert len(load_eu_rates(shop=shop, now=NOW).new) == len(list(eu_rates()))
    assert percents(shop, "FR") == {"": "20", "reduced": "5.5", "second reduced": "10", "super-reduced": "2.1"}
    assert percents(shop, "DK") == {"": "25"}
    again = load_eu_rates(shop=shop, now=NOW)
    assert (again.new, again.same, again.different) == ([], len(list(eu_rates())), [])
    assert not TaxRate.objects.filter(shop=other_shop).exists()
    assert not TaxClass.objects.filter(shop=other_shop).exists()


def test_the_tax_has_its_name_in_each_of_the_shops_languages(shop, other_shop):
    shop.further_languages, other_shop.language = ["de", "fr", "sv"], "de"
    for each, name in ((shop, "VAT"), (other_shop, "MwSt.")):
        load_eu_rates(shop=each, now=NOW)
        assert set(TaxRate.objects.filter(shop=each).values_list("name", flat=True)) == {name}
    assert TaxRate.objects.filter(shop=shop)[0].translations == {"de": {"name": "MwSt."}, "fr": {"name": "TVA"}}
    assert TaxRate.objects.filter(shop=other_shop)[0].translations is None


def test_own_rates_stay_unless_the_merchant_says_otherwise(shop, other_shop):
    lower = TaxClass.objects.create(shop=shop, name="Reduced")
    for each in (shop, other_shop):
        TaxRate.objects.create(shop=each, name="MwSt", country="DE", percent="16")
    TaxRate.objects.create(shop=shop, name="MwSt", country="DE", percent="5", tax_class=lower)
    TaxRate.objects.create(shop=shop, name="MwSt", country="DE", percent="0", postcodes=["27498"])
    plan = load_eu_rates(shop=shop, now=NOW)
    assert [(own.percent, rate.percent) for own, rate in plan.different] == [(16, 19), (5, 7)]
    assert sorted(row.percent for row in TaxRate.objects.filter(shop=shop, country="DE")) == [0, 5, 16]
    load_eu_rates(shop=shop, replaces=True, now=NOW)
    assert sorted(row.percent for row in TaxRate.objects.filter(shop=shop, country="DE")) == [0, 7, 19]
    assert TaxRate.objects.get(shop=other_shop).percent == 16
    entry = AuditEntry.objects.filter(shop=shop, action="tax_rate.eu_set_loaded").latest("pk")
    assert entry.before == {"replaced": {"Germany, standard: 19%": "16%", "Germany, reduced: 7%": "5%"}}


@pytest.mark.slow
def test_the_button_says_what_it_does_and_keeps_own_rates(desk, shop):
    TaxRate.objects.create(shop=shop, name="MwSt", country="DE", percent="16")
    url = reverse("admin:pricing_taxrate_load_eu_rates")
    page = desk.get(url).content.decode()
    assert "MwSt 16%, in the EU set Germany, standard: 19%" in page
    assert f"1 Jan {AS_OF.year}" in page
    assert "1 of your own kept" in desk.post(url, {}, follow=True).content.decode()
    assert TaxRate.objects.get(country="DE", tax_class=None).percent == 16
    desk.post(url, {"replaces": "on"})
    assert TaxRate.objects.get(country="DE", tax_class=None).percent == 19


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_loads_at_once_add_each_rate_once(shop):
    run_concurrently(*[lambda: load_eu_rates(shop=shop, now=NOW)] * 2)
    assert TaxRate.objects.filter(shop=shop).count() == len(list(eu_rates()))
    assert TaxClass.objects.filter(shop=shop).count() == 3
