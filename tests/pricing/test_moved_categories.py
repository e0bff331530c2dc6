"""A discount of an earlier release keeps its one category, without the category's subcategories."""

import pytest
from django.db import connection

from storefront.server.migration_state import Executor
from tests.catalogue.factories import make_category

BEFORE, AFTER = ("pricing", "0003_discount_codes"), ("pricing", "0005_remove_discount_category")


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_category_becomes_an_item_that_stands_for_itself(shop):
    cups = make_category(shop)
    before = Executor(connection).migrate([BEFORE]).apps.get_model("pricing", "Discount")
    before.objects.create(shop_id=shop.pk, name="Cups", value=5, category_id=cups.pk)
    before.objects.create(shop_id=shop.pk, name="All", value=5)
    latest = Executor(connection).loader.graph.leaf_nodes()
    try:
        after = Executor(connection).migrate([AFTER]).apps.get_model("pricing", "Discount")
        found = _found(after)
    finally:
        Executor(connection).migrate(latest)
    assert found == [("All", False, True, None, False, True), ("Cups", True, False, cups.pk, False, True)]


def _found(discount) -> list[tuple]:
    rows = discount.objects.order_by("name").values_list(
        "name", "is_limited_to_items", "includes_subcategories", "targets__category", "needs_code", "is_combinable"
    )
    return list(rows)
