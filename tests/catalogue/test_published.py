"""The three definitions of a public product, in SQL, for the ORM and for one row, agree."""

from datetime import timedelta
from itertools import product as combinations

from storefront.catalogue.models import Product
from storefront.listing import queries
from tests.catalogue.factories import make_product
from tests.shops.factories import NOW

TIMES = [None, NOW - timedelta(microseconds=1), NOW, NOW + timedelta(microseconds=1)]


def test_sql_orm_and_row_agree(shop):
    expected = set()
    for status, deleted, start, end in combinations(("active", "draft", "archived"), (None, NOW), TIMES, TIMES):
        made = make_product(shop, status=status, deleted_at=deleted, publish_at=start, unpublish_at=end)
        starts, ends = start is None or start <= NOW, end is None or end > NOW
        if status == "active" and deleted is None and starts and ends:
            expected.add(made.id)
    assert expected
    listed = queries.product_page(shop, queries.ProductFilters(), page=1, per_page=100, now=NOW)
    assert {record["id"] for record in listed.rows} == expected
    assert listed.total == len(expected)
    assert {row.id for row in queries.published_products(shop, NOW)} == expected
    assert {row.id for row in Product.objects.all() if row.is_published(NOW)} == expected
    assert {row.id for row in Product.objects.all() if queries.product_record(shop, str(row.id), now=NOW)} == expected
