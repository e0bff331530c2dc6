"""The rates of an earlier release, with their countries, become zones that offer every address what it was offered."""

from collections import defaultdict

import pytest
from django.db import connection

from storefront.server.migration_state import Executor
from tests.shops.factories import make_shop

BEFORE, AFTER = ("pricing", "0005_remove_discount_category"), ("pricing", "0006_delivery_zones")
EARLIER = [("checkout", "0005_drafts"), BEFORE]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_every_address_is_offered_the_rates_that_it_was_offered():
    home, closed, empty = (make_shop(f"{name}.example.com") for name in ("home", "closed", "empty"))
    old = Executor(connection).migrate(EARLIER).apps.get_model("pricing", "ShippingRate")

    def rate(shop, name, *countries, **given):
        return old.objects.create(shop_id=shop.pk, name=name, countries=list(countries), **{"price": 5} | given)

    parcel = rate(home, "Parcel", "DE", "at", maximum_weight=2, free_from=80)
    rate(home, "Express", "DE", sort_order=1, is_active=False)
    rate(home, "World", price=30, sort_order=2)
    rate(closed, "Off", "FR", is_active=False)
    latest = Executor(connection).loader.graph.leaf_nodes()
    try:
        apps = Executor(connection).migrate([AFTER]).apps
        rows = apps.get_model("pricing", "ShippingRate").objects.order_by("shop_id", "sort_order", "id")
        found = defaultdict(list)
        for row in rows.select_related("zone"):
            assert row.zone.shop_id == row.shop_id
            found[row.shop_id, tuple(row.zone.countries)].append((row.name, int(row.price), row.is_active))
        parcel_now = ("Parcel", 5, True)
        assert found == {
            (home.pk, ("AT",)): [parcel_now, ("World", 30, True)],
            (home.pk, ("DE",)): [parcel_now, ("Express", 5, False), ("World", 30, True)],
            (home.pk, ()): [("World", 30, True)],
            # It has offered free delivery everywhere, as a shop without an active rate did.
            (closed.pk, ("FR",)): [("Off", 5, False), ("Delivery", 0, True)],
            (closed.pk, ()): [("Delivery", 0, True)],
        }
        names = apps.get_model("pricing", "DeliveryZone").objects.filter(shop_id=home.pk).order_by("name")
        assert list(names.values_list("name", flat=True)) == ["Austria", "Germany", "Rest of the world"]
        kept = rows.get(pk=parcel.pk)
        assert (kept.name, kept.maximum_weight, kept.free_from, kept.basis) == ("Parcel", 2, 80, "order")
        assert {row.maximum_weight for row in rows.filter(name="Parcel")} == {2}
        assert not rows.filter(shop_id=empty.pk).exists()
    finally:
        Executor(connection).migrate(latest)
