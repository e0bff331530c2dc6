"""A search right after an import has the plan and the index that it has later, on PostgreSQL."""

import json

import pytest
from django.db import connection
from structlog.testing import capture_logs

from storefront.listing import page_sql, queries, statistics
from storefront.listing.queries import ProductFilters
from storefront.listing.words_sql import Shape
from storefront.product_files.importing import import_products
from tests.catalogue.factories import make_product
from tests.shops.factories import NOW

pytestmark = pytest.mark.slow


@pytest.fixture
def postgresql(db) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite's search needs no statistics and has no list of unsorted texts")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "products.jsonl"
    rows = [
        {"name": f"Plate number{n:05d}", "price": "1.00", "status": "active", "description": "for the table " * 30}
        for n in range(3000)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def settle() -> None:
    with statistics.Upkeep() as upkeep:
        upkeep.settle()


def pending() -> int:
    """Pages of texts that the search index has not sorted yet."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE EXTENSION IF NOT EXISTS pgstattuple")
        cursor.execute("SELECT pending_pages FROM pgstatginindex('catalogue_searchindex')")
        return cursor.fetchone()[0]


def plan(shop, stems: int) -> str:
    params = {"shop": shop.pk, "now": NOW, "cached_version": -1, "cached_total": 0}
    params |= {"sought_word0": "%number01234%", "sought_word0_1": "% number01234 %", "word0": "number01234"}
    params |= {"word0_1": " number01234 "}
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {page_sql.state(Shape(long_words=(1 + stems,)))}", params)
        return "\n".join(row[0] for row in cursor.fetchall())


@pytest.mark.parametrize("stems", [0, 1])
def test_a_search_uses_the_search_index_right_after_an_import(postgresql, shop, other_shop, file, monkeypatch, stems):
    # Statistics that say that there is one product, of another shop.
    make_product(other_shop, "Lamp")
    settle()
    import_products(shop=shop, file=file, now=NOW)
    assert pending() == 0
    assert "catalogue_searchindex" in plan(shop, stems)


@pytest.mark.parametrize("stems", [0, 1])
def test_a_search_uses_the_search_index_whatever_the_statistics_say(
    postgresql, shop, other_shop, file, monkeypatch, stems
):
    make_product(other_shop, "Lamp")
    settle()
    monkeypatch.setattr(statistics.Upkeep, "settle", lambda _upkeep: None)
    import_products(shop=shop, file=file, now=NOW)
    with connection.cursor() as cursor:
        cursor.execute("SELECT gin_clean_pending_list('catalogue_searchindex')")
    assert "catalogue_searchindex" in plan(shop, stems)


def test_an_import_works_without_the_right_to_it(postgresql, shop, file):
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE storefront_writer")
        cursor.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO storefront_writer")
        cursor.execute("GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO storefront_writer")
        cursor.execute("SET LOCAL ROLE storefront_writer")
        with capture_logs() as logs:
            report = import_products(shop=shop, file=file, now=NOW)
        cursor.execute("RESET ROLE")
    assert report.created == 3000
    assert [entry["statement"] for entry in logs if entry["event"] == "statistics_not_refreshed"] == [
        "SELECT gin_clean_pending_list('catalogue_searchindex')"
    ]


def test_a_search_for_a_rare_word_is_planned_once(postgresql, shop, file):
    import_products(shop=shop, file=file, now=NOW)
    for n in range(20):
        found = queries.product_page(shop, ProductFilters(q=f"number{n:05d}"), page=1, per_page=24, now=NOW)
        assert [row["name"] for row in found.rows] == [f"Plate number{n:05d}"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT generic_plans, custom_plans, statement FROM pg_prepared_statements")
        # PostgreSQL plans a statement for its first five values before it chooses.
        planned_once = [statement for once, anew, statement in cursor.fetchall() if once > 5 >= anew]
    for needed in ("LIKE", "row_to_json"):
        assert any(needed in statement for statement in planned_once)


@pytest.fixture
def committing(transactional_db, monkeypatch) -> None:
    """Imports commit their batches, and leave at their end what was not done beside them."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite's search needs no statistics and has no list of unsorted texts")
    monkeypatch.setattr(statistics.Upkeep, "settle", lambda _upkeep: None)
    # The first batch has two thirds of the file's products.
    monkeypatch.setattr(statistics, "FIRST_REFRESH", 2000)
    monkeypatch.setattr(statistics, "SORTED_AT_ONCE", 2000)


def open_connections() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return cursor.fetchone()[0]


def known_products() -> int:
    """How many products the statistics know."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples FROM pg_class WHERE relname = 'catalogue_product'")
        return cursor.fetchone()[0]


def test_texts_are_sorted_and_statistics_updated_beside_an_import(committing, shop, file):
    make_product(shop, "Lamp")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE catalogue_product")
    assert known_products() == 1
    before = open_connections()
    import_products(shop=shop, file=file, now=NOW)
    left = pending()
    assert known_products() > 1000
    with connection.cursor() as cursor:
        cursor.execute("UPDATE catalogue_productsearch SET text = text || ' again'")
    # The second batch had half as many texts as the first, which were sorted.
    assert left < pending() / 2
    assert open_connections() <= before + 1  # that of the announcer


def test_the_end_of_an_import_updates_the_statistics_of_all_tables(transactional_db, shop, file):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite's search needs no statistics and has no list of unsorted texts")
    import_products(shop=shop, file=file, now=NOW)
    assert known_products() == 3000
    with connection.cursor() as cursor:
        cursor.execute("SELECT attname FROM pg_stats WHERE tablename = 'catalogue_product'")
        of_product = {name for (name,) in cursor.fetchall()}
        cursor.execute("SELECT relname FROM pg_class WHERE reltuples >= 0 AND relname LIKE 'catalogue_%%'", [])
        analyzed = {name for (name,) in cursor.fetchall()}
        # The columns of the indexes by which lists are read.
        cursor.execute(
            "SELECT DISTINCT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid"
            " AND a.attnum = ANY (i.indkey) WHERE i.indexrelid IN (SELECT oid FROM pg_class WHERE relname LIKE"
            " 'product_list_%%')",
            [],
        )
        assert {name for (name,) in cursor.fetchall()} <= of_product
    assert {*statistics._PRODUCTS, *statistics._OTHERS} <= analyzed


def test_what_fails_beside_an_import_is_not_tried_after_each_batch(committing, shop, monkeypatch):
    monkeypatch.setattr(statistics, "_SORT_TEXTS", "SELECT no_such_function()")
    with capture_logs() as logs, statistics.Upkeep() as upkeep:
        upkeep.after_batch(2000)
        assert upkeep._running
        upkeep._running.result(timeout=10)
        upkeep.after_batch(4000)
    assert [entry["statement"] for entry in logs] == ["SELECT no_such_function()"]


def test_nothing_is_done_beside_an_import_within_a_transaction(postgresql, shop):
    with statistics.Upkeep() as upkeep:
        upkeep.after_batch(2000)
        assert upkeep._running is None
