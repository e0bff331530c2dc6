"""What is read often is read off an index, on whichever database the suite runs."""

import pytest
from django.db import connection

from storefront.catalogue import listing_sql, sql
from storefront.catalogue.listing_sql import Shape
from tests.catalogue.factories import make_product
from tests.shops.factories import NOW

INDEXES = {
    None: "product_list_default",
    "newest": "product_list_newest",
    "price_asc": "product_list_price",
    "price_desc": "product_list_price",
    "name": "product_list_name",
}


def plan_of(statement: str, params: dict) -> str:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(f"EXPLAIN QUERY PLAN {statement}", params)
        else:
            # A handful of rows is read and sorted faster than any index; the question is whether one would serve.
            cursor.execute(
                "SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off"
            )
            cursor.execute(f"EXPLAIN {statement}", params)
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


@pytest.mark.parametrize("sort", listing_sql.ORDERS)
def test_a_page_is_read_off_the_index_of_its_order(shop, sort):
    make_product(shop)
    now = connection.ops.adapt_datetimefield_value(NOW)
    params = {"shop": shop.pk, "now": now, "limit": 24, "offset": 0, "span": 24}
    assert INDEXES[sort] in plan_of(listing_sql.walked_page(Shape(connection.vendor), sort, False), params)


def test_each_order_has_its_index():
    assert set(INDEXES) == set(listing_sql.ORDERS)


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL knows how many rows an index leads to")
def test_a_product_s_categories_are_found_by_the_product(shop):
    product = make_product(shop)
    plan = plan_of(sql.PRODUCT_CATEGORIES, {"shop": shop.pk, "product": product.pk})
    assert "product_id=?" in plan
    assert "shop_id=?" not in plan


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL seeks by several columns at once")
@pytest.mark.parametrize("sort", listing_sql.ORDERS)
def test_a_page_behind_a_known_place_is_sought_by_every_column_down_to_the_id(shop, sort):
    now = connection.ops.adapt_datetimefield_value(NOW)
    anchor = {f"a{number}": 1 for number in range(len(listing_sql.ORDERS[sort]))}
    params = {"shop": shop.pk, "now": now, "limit": 24, "offset": 0, "span": 24, **anchor}
    plan = plan_of(listing_sql.walked_page(Shape(connection.vendor), sort, True), params)
    assert any(INDEXES[sort] in line and ("AND id<?" in line or "AND id>?" in line) for line in plan.splitlines())
