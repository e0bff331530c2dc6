"""The admin's forms for customers, group prices, discounts and tax rates."""

from decimal import Decimal

import pytest

from storefront.catalogue.models import TaxClass
from storefront.customers.models import Customer, CustomerGroup
from storefront.pricing.models import Discount, GroupPrice, TaxRate, TaxSettings
from tests.catalogue.factories import make_product, make_variant
from tests.staff import admin_url, make_staff, open_desk


@pytest.fixture
def role() -> str:
    return "manager"


def errors_of(page) -> dict:
    found = dict(page.context_data["adminform"].form.errors)
    for inline in page.context_data["inline_admin_formsets"]:
        for form in inline.formset.forms:
            found |= form.errors
    return found


def test_customer_email_is_lower_case_and_unique_in_a_shop(desk, shop, other_shop):
    assert desk.fill(Customer, email="Mia@Example.com", name="Mia").status_code == 302
    assert Customer.objects.get().email == "mia@example.com"
    assert "email" in errors_of(desk.fill(Customer, email="MIA@example.com"))
    assert open_desk(make_staff(other_shop, "bo")).fill(Customer, email="mia@example.com").status_code == 302


@pytest.mark.slow
def test_group_prices_are_saved_with_their_group(desk, shop):
    group = CustomerGroup.objects.create(shop=shop, name="Trade")
    cup, scarf = make_product(shop, "Cup"), make_variant(make_product(shop, "Scarf"))
    one = {"prices__TOTAL_FORMS": 1, "prices__0__price": "7.00"}
    assert desk.fill(group, **one, prices__0__product=cup.pk, discount_percent="12.5").status_code == 302
    assert GroupPrice.objects.get().price == Decimal("7.00")
    assert GroupPrice.objects.get().shop == shop
    again = {"prices-1-product": cup.pk, "prices-1-price": "1.00", "prices-TOTAL_FORMS": 2}
    assert "product" in errors_of(desk.fill(group, **again))
    wrong = {"prices-1-product": cup.pk, "prices-1-variant": scarf.pk, "prices-1-price": "1", "prices-TOTAL_FORMS": 2}
    assert "variant" in errors_of(desk.fill(group, **wrong))
    assert "12.5%" in desk.get(admin_url(CustomerGroup, "changelist")).content.decode()


def test_group_name_is_unique_regardless_of_case(desk, shop):
    CustomerGroup.objects.create(shop=shop, name="Trade")
    assert "name" in errors_of(desk.fill(CustomerGroup, name="TRADE"))


def test_refuses_a_discount_above_100_percent(desk, shop):
    assert "value" in errors_of(desk.fill(Discount, name="Sale", kind="percent", value="101"))
    assert desk.fill(Discount, name="Sale", kind="amount", value="101", needs_code="").status_code == 302
    assert "€101.00" in desk.get(admin_url(Discount, "changelist")).content.decode()


@pytest.mark.slow
def test_tax_rate_is_unique_for_a_country_and_region(desk, shop):
    assert desk.fill(TaxRate, name="VAT", country="DE", percent="19").status_code == 302
    assert errors_of(desk.fill(TaxRate, name="VAT", country="DE", percent="7"))
    assert "country" in errors_of(desk.fill(TaxRate, name="VAT", country="1!", percent="7"))


@pytest.mark.slow
def test_a_tax_rate_may_be_for_postal_codes_that_no_other_rate_of_its_place_has(desk, shop):
    assert desk.fill(TaxRate, name="IGIC", country="ES", percent="7", postcodes="35 *, 38*").status_code == 302
    assert TaxRate.objects.get().postcodes == ["35*", "38*"]
    assert "postcodes" in errors_of(desk.fill(TaxRate, name="IGIC", country="ES", percent="5", postcodes="38*"))
    assert "postcodes" in errors_of(desk.fill(TaxRate, name="IGIC", country="ES", percent="5", postcodes="?"))
    assert desk.fill(TaxRate, name="IGIC", country="ES", percent="5", postcodes="38*", step="2").status_code == 302
    assert "Spain: 35*, 38*" in desk.get(admin_url(TaxRate, "changelist")).content.decode()


@pytest.mark.slow
def test_a_compound_tax_needs_an_earlier_step(desk):
    assert "is_compound" in errors_of(desk.fill(TaxRate, name="QST", country="CA", percent="9", is_compound="on"))
    assert desk.fill(TaxRate, name="QST", country="CA", percent="9", is_compound="on", step="2").status_code == 302


def test_settings_for_taxes_are_checked(shop, other_shop):
    desk = open_desk(make_staff(shop, "olga", "owner"))
    row = TaxSettings.objects.get(pk=shop.pk)
    assert "vat_id" in errors_of(desk.fill(row, vat_id="DE136695975"))
    assert desk.fill(row, vat_id="de 136 695 976", asks_vat_id="on", tax_rounding="line").status_code == 302
    shop.refresh_from_db()
    assert (shop.vat_id, shop.asks_vat_id, shop.tax_rounding) == ("DE136695976", True, "line")
    shop.country = "US"
    shop.save()
    assert "asks_vat_id" in errors_of(desk.fill(row, asks_vat_id="on"))
    other_shop.refresh_from_db()
    assert (other_shop.vat_id, other_shop.tax_rounding) == ("", "order")


def test_delivery_cannot_have_a_tax_class_of_another_shop(shop, other_shop):
    desk = open_desk(make_staff(shop, "olga", "owner"))
    row, theirs = TaxSettings.objects.get(pk=shop.pk), TaxClass.objects.create(shop=other_shop, name="reduced")
    assert errors_of(desk.fill(row, delivery_tax="class", delivery_tax_class=theirs.pk))
    shop.refresh_from_db()
    assert shop.delivery_tax_class_id is None
