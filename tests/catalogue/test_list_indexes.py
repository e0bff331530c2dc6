"""Frequent reads use an index, on both databases."""

import pytest
from django.db import connection

from storefront.catalogue.models import Media, Option, OptionValue, Product, ProductCategory, Variant
from storefront.listing import facet_rows, page_sql, queries, sql
from storefront.listing.words_sql import Shape
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


@pytest.mark.parametrize("sort", page_sql.ORDERS)
def test_a_page_uses_the_index_of_its_order(shop, sort):
    make_product(shop)
    now = connection.ops.adapt_datetimefield_value(NOW)
    params = {"shop": shop.pk, "now": now, "limit": 24, "offset": 0, "span": 24}
    assert INDEXES[sort] in plan_of(page_sql.scanned_page(Shape(), sort, False), params)


def test_each_order_has_its_index():
    assert set(INDEXES) == set(page_sql.ORDERS)


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL knows how many rows an index leads to")
def test_categories_of_a_product_are_found_by_the_product(shop):
    product = make_product(shop)
    now = connection.ops.adapt_datetimefield_value(NOW)
    plan = plan_of(sql.product("id"), {"shop": shop.pk, "now": now, "key": product.pk}).splitlines()
    (links,) = [line for line in plan if line.startswith("SEARCH l ")]
    assert "product_id=?" in links
    assert "shop_id=?" not in links


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL knows how many rows an index leads to")
def test_what_filters_read_of_products_is_found_by_their_ids(shop):
    ids = [make_product(shop).pk for _ in range(3)]
    plans = []

    def explained(statement: str, params: dict, **_: bool) -> list[tuple]:
        plans.append(plan_of(statement, params))
        return queries.database_fetch(statement, params)

    assert len(facet_rows.read_rows(explained, shop, ids, NOW)) == 3
    assert "SEARCH p USING INTEGER PRIMARY KEY" in "".join(plans)
    assert not any("shop_id=?" in plan or "SCAN" in plan for plan in plans)


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL seeks by several columns at once")
@pytest.mark.parametrize("sort", page_sql.ORDERS)
def test_a_page_after_an_anchor_seeks_by_every_column_of_the_index(shop, sort):
    now = connection.ops.adapt_datetimefield_value(NOW)
    anchor = {f"a{number}": 1 for number in range(len(page_sql.ORDERS[sort]))}
    params = {"shop": shop.pk, "now": now, "limit": 24, "offset": 0, "span": 24, **anchor}
    plan = plan_of(page_sql.scanned_page(Shape(), sort, True), params)
    assert any(INDEXES[sort] in line and ("AND id<?" in line or "AND id>?" in line) for line in plan.splitlines())


@pytest.mark.skipif("connection.vendor == 'sqlite'", reason="SQLite compiles nothing")
def test_jit_compilation_is_off(shop):
    with connection.cursor() as cursor:
        cursor.execute("SHOW jit")
        assert cursor.fetchone() == ("off",)


@pytest.mark.parametrize(
    "model", [Product, Variant, Option, OptionValue, Media, ProductCategory], ids=lambda m: m.__name__
)
def test_no_index_repeats_the_beginning_of_another(db, model):
    """Each index of these tables is written to by each row of an import."""
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, model._meta.db_table)
    partial = {
        index.name for index in (*model._meta.indexes, *model._meta.constraints) if getattr(index, "condition", None)
    }
    columns = [
        tuple(each["columns"])
        for name, each in found.items()
        if name not in partial and (each["index"] or each["unique"])
    ]
    assert columns
    repeated = [short for short in columns for long in columns if short != long and long[: len(short)] == short]
    assert repeated == []


def test_links_of_a_category_are_found_by_an_index_with_and_without_the_shop(shop):
    links = "SELECT product_id FROM catalogue_productcategory WHERE category_id = %(category)s"
    # Without it, as the database looks when a category is deleted.
    for statement in (f"{links} AND shop_id = 1", links):
        assert "product_category_links" in plan_of(statement, {"category": 1})


# The indexes that each filter uses, alone and with another, so that no list reads all products of a shop.
FILTERS = {
    "featured": (Shape(featured=True), ["product_list_featured"]),
    "featured in a category": (Shape(category="alone", featured=True), ["product_list_featured"]),
    "a word in a category": (Shape(category="alone", long_words=(1,)), ["SCAN i VIRTUAL TABLE"]),
    "a short word in a category": (Shape(category="alone", short_words=(1,)), ["product_id=?"]),
    "news": (Shape(since=True), ["updated_at>?", "product_list_starts"]),
    "news in a category": (Shape(category="alone", since=True), ["updated_at>?", "product_list_starts"]),
}


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL chooses by what it knows of the rows")
@pytest.mark.parametrize("name", FILTERS)
def test_a_filtered_list_is_counted_by_indexes(shop, name):
    shape, indexes = FILTERS[name]
    make_product(shop)
    now = connection.ops.adapt_datetimefield_value(NOW)
    params = {
        "shop": shop.pk,
        "now": now,
        "since": now,
        "category": "mugs",
        "match": "mug",
        "word0": "mug",
        "sought_word0": "mug",
        "short0": "m",
    }
    plan = plan_of(page_sql.state(shape), params | {"cached_version": -1, "cached_total": 0})
    for part in indexes:
        assert part in plan
    assert "AUTOMATIC" not in plan
    assert "SCAN p" not in plan
