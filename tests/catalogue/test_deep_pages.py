"""A page shows the right products, however deep it is and whatever was read before."""

from datetime import timedelta
from random import Random

import pytest
from django.db import connection

from storefront.catalogue.models import Product
from storefront.listing import page as listing
from storefront.listing import queries
from storefront.listing.page_cache import Anchors, Validity
from storefront.listing.page_sql import ORDERS
from storefront.listing.queries import ProductFilters
from tests.catalogue.factories import make_product
from tests.shops.factories import NOW

pytestmark = pytest.mark.slow

HOUR = timedelta(hours=1)
ORM_ORDERS = {
    None: ["-is_pinned", "sort_order", "-created_at", "-id"],
    "newest": ["-created_at", "-id"],
    "price_asc": ["price", "id"],
    "price_desc": ["-price", "-id"],
    "name": ["sort_name", "id"],
}


@pytest.fixture
def large(shop, monkeypatch):
    """A shop that counts as large, with many ties in every order."""
    monkeypatch.setattr(listing, "DEEP_OFFSET_ROWS", 10)
    monkeypatch.setattr(listing, "ANCHOR_STEP_ROWS", 7)
    listing.clear_caches()
    chance = Random(3)
    for n in range(90):
        make_product(
            shop,
            chance.choice(["Mug", "Éclair", "mug", "Lamp"]),
            slug=f"p{n}",
            is_pinned=n % 30 == 0,
            sort_order=chance.choice([0, 0, 0, 1, -1]),
            price=chance.choice(["1.00", "2.50", "9.99"]),
            created_at=NOW - chance.choice([0, 1, 2]) * HOUR,
            publish_at=chance.choice([None, None, NOW + HOUR]),
        )
    return shop


def page_of(shop, sort, page, per_page, now=NOW) -> list[int]:
    filters = ProductFilters(sort=sort)
    return [record["id"] for record in queries.product_page(shop, filters, page=page, per_page=per_page, now=now).rows]


def in_order(shop, sort, now=NOW) -> list[int]:
    listed = queries.published_products(shop, now).filter(exclude_from_catalog=False)
    return list(listed.order_by(*ORM_ORDERS[sort]).values_list("pk", flat=True))


@pytest.mark.parametrize("sort", ORDERS)
def test_consecutive_pages_show_every_product_once(large, sort):
    expected = in_order(large, sort)
    pages = -(-len(expected) // 4)
    assert [id for page in range(1, pages + 1) for id in page_of(large, sort, page, 4)] == expected
    # Again, now that all anchors exist, and with another page size.
    assert [id for page in range(1, pages + 1) for id in page_of(large, sort, page, 4)] == expected
    assert [id for page in range(1, 20) for id in page_of(large, sort, page, 9)] == expected


@pytest.mark.parametrize("sort", ORDERS)
def test_pages_read_in_any_order(large, sort):
    expected = in_order(large, sort)
    chance = Random(5)
    for _ in range(60):
        page, size = chance.randint(1, 40), chance.randint(1, 9)
        assert page_of(large, sort, page, size) == expected[(page - 1) * size : page * size]


@pytest.mark.parametrize(
    "change",
    [
        {"status": "draft"},
        {"is_pinned": True},
        {"sort_order": -5},
        {"created_at": NOW + HOUR},
        {"price": "0.50"},
        {"sort_name": "aaa"},
        {"exclude_from_catalog": True},
        {"publish_at": NOW + HOUR},
        {"unpublish_at": NOW},
    ],
)
@pytest.mark.parametrize("sort", ORDERS)
def test_the_next_read_after_an_edit_is_correct(large, sort, change):
    for page in range(1, 8):
        page_of(large, sort, page, 9)
    last = in_order(large, sort)[-1]
    Product.objects.filter(pk=last).update(**change)
    expected = in_order(large, sort)
    assert page_of(large, sort, 6, 9) == expected[45:54]


def test_pages_are_correct_before_and_after_a_date_passes(large):
    for page in range(1, 8):
        page_of(large, None, page, 9)
    later = NOW + HOUR
    assert page_of(large, None, 6, 9, now=later) == in_order(large, None, later)[45:54]
    assert page_of(large, None, 6, 9) == in_order(large, None)[45:54]


def test_a_sale_keeps_the_anchors(large, django_assert_num_queries):
    page_of(large, "newest", 5, 9)
    Product.objects.filter(shop=large).update(stock_qty=5)
    (anchors,) = listing._anchors._values.values()
    page_of(large, "newest", 6, 9)
    assert list(listing._anchors._values.values()) == [anchors]
    assert 45 in anchors.positions


def test_reading_on_starts_where_the_last_page_ended(large):
    with Captured() as statements:
        page_of(large, "newest", 5, 9)
        page_of(large, "newest", 6, 9)
    assert "OFFSET 36" in statements.pages[0]
    assert "OFFSET 0" in statements.pages[1]


def test_repeated_far_reads_load_the_anchors_once(large):
    with Captured() as statements:
        for page in (8, 3, 6, 4, 7, 2, 5):
            page_of(large, None, page, 8)
    assert len(statements.anchor_reads) == 1
    assert len(statements.all) == 15


def test_each_shop_and_order_has_its_own_anchors(large, other_shop):
    for n in range(30):
        make_product(other_shop, f"Other {n}", created_at=NOW - n * HOUR)
    for sort in ORDERS:
        page_of(large, sort, 5, 9)
        page_of(other_shop, sort, 2, 9)
    for sort in ORDERS:
        assert page_of(large, sort, 6, 9) == in_order(large, sort)[45:54]
        assert page_of(other_shop, sort, 3, 9) == in_order(other_shop, sort)[18:27]


def test_anchors_are_bounded():
    anchors = Anchors(Validity(1, NOW, None))
    for place in range(100, 1_000_100, 100):
        anchors.add(place, (place,))
    assert len(anchors.positions) == len(anchors.keys) <= Anchors.MAX_PLACES
    assert anchors.before(1_000_000) == (1_000_000, (1_000_000,))
    assert anchors.before(99) == (0, None)
    for place in range(0, 1_000_000, 12_345):
        at, key = anchors.before(place)
        assert at <= place
        assert key in ((at,), None)


class Captured:
    """The statements that ran, as they were executed, with their values."""

    def __enter__(self):
        self.all: list[str] = []
        self._wrapped = connection.execute_wrapper(self._record)
        self._wrapped.__enter__()
        return self

    def __exit__(self, *error):
        self._wrapped.__exit__(*error)

    def _record(self, execute, sql, params, many, context):
        self.all.append(sql % {name: str(value) for name, value in (params or {}).items()})
        return execute(sql, params, many, context)

    @property
    def pages(self) -> list[str]:
        return [sql for sql in self.all if "OFFSET" in sql]

    @property
    def anchor_reads(self) -> list[str]:
        return [sql for sql in self.all if "row_number" in sql]
