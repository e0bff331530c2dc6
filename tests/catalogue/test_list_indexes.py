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
