"""Shops of an earlier release go on with the totals that they had: rates, orders and open checkouts move over."""

from decimal import Decimal

import pytest
from django.core.management import call_command
from django.db import connection

from storefront.orders.queries import order_record
from storefront.pricing.discounts import PricedLine
from storefront.pricing.queries import tax_terms
from storefront.pricing.rules import totals
from storefront.server.migration_state import Executor
from storefront.shops.models import Shop
from tests.shops.factories import NOW, make_shop

BEFORE = [
    ("checkout", "0006_pickup_places"),
    ("orders", "0012_sent_in_parts"),
    ("pricing", "0006_delivery_zones"),
    ("customers", "0004_by_change"),
    ("shops", "0011_told_of_orders"),
]
# What the earlier release found in 210.00 for 100.00 at the standard and 100.00 at the reduced rate with 10.00 for
# delivery. In FR there is no reduced rate, so that half of it all is untaxed.
TAX = {"DE": "23.63", "FR": "17.50", "CH": "0.00", "IT": "0.00"}


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_totals_stay_the_same():
    shop_id = make_shop("old.example.com").pk
    try:
        executor = Executor(connection)
        executor.migrate(BEFORE)
        apps = executor.loader.project_state(BEFORE).apps
        rates, orders = apps.get_model("pricing", "TaxRate"), apps.get_model("orders", "Order")
        reduced = apps.get_model("catalogue", "TaxClass").objects.create(shop_id=shop_id, name="reduced")
        for country, percent, tax_class in (("DE", 19, None), ("DE", 7, reduced), ("FR", 20, None)):
            rates.objects.create(shop_id=shop_id, name="VAT", country=country, percent=percent, tax_class=tax_class)
        orders.objects.create(
            shop_id=shop_id,
            number=1,
            email="ada@example.com",
            currency="EUR",
            prices_include_tax=True,
            tax=Decimal("1.90"),
            total=Decimal("11.90"),
            tax_lines=[{"name": "VAT", "percent": "19", "amount": "1.90"}],
            billing_address={"country": "DE"},
            placed_at=NOW,
            updated_at=NOW,
        )
    finally:
        # The command, which puts up the catalogue's triggers again: the way back has taken them down.
        call_command("migrate", verbosity=0)
    shop = Shop.objects.get(pk=shop_id)
    lines = [PricedLine(Decimal("100.00")), PricedLine(Decimal("100.00"), tax_class_id=reduced.pk)]
    for country, tax in TAX.items():
        terms = tax_terms(shop, destination={"country": country}, buyer={"country": country})
        sums = totals(lines, currency="EUR", now=NOW, shipping=Decimal("10.00"), terms=terms)
        assert (str(sums.total), str(sums.tax)) == ("210.00", tax)
    (line,) = order_record(shop.orders.get())["tax_lines"]
    assert line == {"name": "VAT", "percent": "19", "base": None, "amount": "1.90", "treatment": "taxed"}
    assert not shop.asks_vat_id
    fresh = make_shop("new.example.com")
    assert (shop.eu_tax, shop.exports_at_net_price) == ("listed", False)
    assert (fresh.eu_tax, fresh.exports_at_net_price) == ("destination", True)
