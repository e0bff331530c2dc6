"""SQLite's search index has no positions: a text with a word's parts elsewhere is no match."""

import pytest
from django.db import connection

from storefront.listing import queries
from storefront.listing.queries import ProductFilters
from tests.catalogue.factories import make_category, make_product
from tests.shops.factories import NOW

pytestmark = pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL's index has no positions")


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
