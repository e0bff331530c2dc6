"""SQLite's search index without positions: what has a word's parts elsewhere is no match, and an index from before is
made anew with all of its texts."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.db import connection

from storefront.listing import queries
from storefront.listing.queries import ProductFilters
from tests.catalogue.factories import make_category, make_product
from tests.shops.factories import NOW

MIGRATION = import_module("storefront.catalogue.migrations.0019_smaller_search_index")
BEFORE = (
    "CREATE VIRTUAL TABLE catalogue_searchindex USING fts5"
    "(text, content='', columnsize=0, tokenize='trigram case_sensitive 1')"
)
pytestmark = pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL's index has no positions")


def found(shop, **filters) -> list[str]:
    page = queries.product_page(shop, ProductFilters(**filters), page=1, per_page=100, now=NOW)
    assert page.total == len(page.rows)
    return [record["name"] for record in page.rows]


@pytest.fixture
def goods(shop, other_shop):
    kitchen = make_category(shop, "Kitchen")
    make_product(shop, "Moss", categories=(kitchen,))
    make_product(shop, "Mosaic cross", categories=(kitchen,))
    make_product(shop, "Archived moss", status="archived")
    make_product(other_shop, "Other moss")


def test_parts_of_a_word_are_no_match(shop, goods):
    assert found(shop, q="moss") == found(shop, q="moss", category="kitchen") == ["Moss"]
    assert found(shop, q="mosaic") == found(shop, q="cross mos") == ["Mosaic cross"]
    assert sorted(found(shop, q="mos")) == ["Mosaic cross", "Moss"]


def test_the_index_from_before_is_made_anew(shop, other_shop, goods):
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE catalogue_searchindex")
        cursor.execute(BEFORE)
        MIGRATION.make_anew(None, SimpleNamespace(connection=connection, execute=cursor.execute))
        cursor.execute("SELECT sql FROM sqlite_master WHERE name = 'catalogue_searchindex'")
        assert "detail=none" in cursor.fetchone()[0]
    assert (found(shop, q="moss"), found(other_shop, q="moss")) == (["Moss"], ["Other moss"])
    shop.products.get(name="Archived moss").delete()
    shop.products.filter(name="Moss").delete()
    assert found(shop, q="moss") == []
