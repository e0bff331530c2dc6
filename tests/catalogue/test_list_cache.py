"""A page of a filtered list is read by the cached ids of its products, and never by ids from before a change."""

import tracemalloc
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection, transaction

from storefront.catalogue import actions
from storefront.catalogue.models import Category, Product, ProductCategory, ProductSearch
from storefront.listing import page as listing
from storefront.listing import page_sql, queries
from storefront.listing.page import Listing
from storefront.listing.queries import ProductFilters
from tests.catalogue.factories import make_category, make_media, make_product
from tests.catalogue.test_deep_pages import Captured
from tests.product_files.files import imported, woo
from tests.shops.factories import NOW

HOUR = timedelta(hours=1)
# Lists that the cups are on.
LISTS = {
    "category": ProductFilters(category="cups"),
    "branch": ProductFilters(category="kitchen", with_subcategories=True),
    "words": ProductFilters(q="blue cup"),
    "short word": ProductFilters(q="cu"),
    "featured": ProductFilters(featured=True),
    "word in a category": ProductFilters(q="blue", category="cups"),
    "by price": ProductFilters(category="cups", sort="price_asc"),
}


@pytest.fixture
def cast(shop, other_shop):
    """Two shops with the same six cups each, in a category under another one."""
    for owner in (shop, other_shop):
        cups = make_category(owner, "Cups", make_category(owner, "Kitchen"))
        make_category(owner, "Garden")
        for n in range(6):
            make_product(
                owner,
                f"Blue cup {n}",
                categories=(cups,),
                is_featured=True,
                price=f"{n + 1}.00",
                created_at=NOW - n * HOUR,
                publish_at=NOW + HOUR if n == 4 else None,
                unpublish_at=NOW + HOUR if n == 0 else None,
            )
        make_product(owner, "Lamp", slug="lamp", is_pinned=True)
    listing.clear_caches()
    return shop


def names(shop, filters, now=NOW, *, page=1, per_page=4) -> list[str]:
    return [row["name"] for row in queries.product_page(shop, filters, page=page, per_page=per_page, now=now).rows]


def uncached(shop, filters, now=NOW) -> list[str]:
    """The names as a new process reads them."""
    listing.clear_caches()
    return names(shop, filters, now)


def reads_by_ids(captured) -> list[str]:
    """The statements that read records by cached ids."""
    return [sql for sql in captured.all if "json_each" in sql or "ANY (CAST(" in sql]


def one(shop, n) -> Product:
    return Product.objects.get(shop=shop, name=f"Blue cup {n}")


@pytest.mark.parametrize("name", LISTS)
def test_the_second_read_of_a_page_uses_the_cached_ids(cast, name):
    filters = LISTS[name]
    first = queries.product_page(cast, filters, page=1, per_page=4, now=NOW)
    with Captured() as statements:
        again = queries.product_page(cast, filters, page=1, per_page=4, now=NOW + HOUR / 2)
    assert again == first
    assert len(statements.all) == 2
    assert reads_by_ids(statements) == statements.all[1:]
    assert not statements.pages


@pytest.mark.parametrize("sort", [None, "price_asc", listing.RELEVANCE])
def test_a_first_search_looks_its_words_up_once(cast, other_shop, sort):
    """The page is found by the ids of the matches that were counted, in this shop alone."""
    for owner in (cast, other_shop):
        for n in range(10):
            make_product(owner, f"Bowl {n}")
    listing.clear_caches()
    with Captured() as statements:
        page = queries.product_page(cast, ProductFilters(q="blue cup", sort=sort), page=1, per_page=3, now=NOW)
    assert (page.total, len(page.rows)) == (5, 3)
    assert all(Product.objects.filter(shop=cast, pk=row["id"]).exists() for row in page.rows)
    counted, found = statements.all
    assert "blue" in counted
    ids = str(one(cast, 1).pk)
    assert ids in found
    assert ("MATCH" in counted, "MATCH" in found) == (connection.vendor == "sqlite", False)
    assert " LIKE " not in found


@pytest.mark.parametrize("name", ["words", "word in a category"])
@pytest.mark.parametrize("sort", page_sql.ORDERS)
def test_many_matches_are_looked_for_along_the_list(cast, other_shop, monkeypatch, name, sort):
    filters = replace(LISTS[name], sort=sort)

    def pages(now=NOW) -> list[list[str]]:
        return [names(cast, filters, now, page=number, per_page=2) for number in (1, 2, 3, 4)]

    sorted_pages = pages()
    assert sum(map(len, sorted_pages)) == 5
    monkeypatch.setattr(listing, "ORDER_STEP_ROWS", 2)
    monkeypatch.setattr(listing, "MAX_SORTED", 2)
    listing.clear_caches()
    with Captured() as statements:
        assert pages() == sorted_pages
    assert any("LIMIT 2 OFFSET 2" in sql for sql in statements.all), "the list's order is read step by step"
    listing._pages.clear()
    with Captured() as statements:
        assert names(cast, filters, page=2, per_page=2) == sorted_pages[1]
    _, found = statements.all
    assert reads_by_ids(statements) == [found]
    assert "MATCH" not in found
    assert " LIKE " not in found

    changes = (
        update(1, name="Green cup"),
        update(2, sort_order=-1),
        update(3, price=90),
        update("Lamp", name="Cup blue"),
    )
    for change in (*changes, lambda _: make_product(other_shop, "Blue cup 7")):
        change(cast)
        changed = pages()
        listing.clear_caches()
        with monkeypatch.context() as patch:
            patch.setattr(listing, "MAX_SORTED", 100)
            assert pages() == changed
    assert changed != sorted_pages
    assert pages(NOW + HOUR) != changed


@pytest.mark.parametrize("filters", [ProductFilters(), ProductFilters(category="garden")])
def test_hidden_products_are_counted_only_if_dates_hide_some(other_shop, filters):
    garden = make_category(other_shop, "Garden")
    product, _ = (make_product(other_shop, categories=(garden,)) for _ in range(2))
    listing.clear_caches()
    counted, totals = [], []
    for change in ({}, {"price": 2}, {"publish_at": NOW + HOUR}, {"price": 3}, {"publish_at": None}, {"price": 4}):
        Product.objects.filter(pk=product.pk).update(**change)
        with Captured() as statements:
            totals.append(queries.product_page(other_shop, filters, page=1, per_page=4, now=NOW).total)
        counted.append(any("count(*)" in sql for sql in statements.all))
    assert totals == [2, 2, 1, 1, 2, 2]
    assert counted == [True, False, True, True, True, False]


@pytest.mark.parametrize("sort", page_sql.ORDERS)
def test_each_order_and_page_size_is_cached_separately(cast, sort):
    filters = ProductFilters(category="cups", sort=sort)
    asked = [(page, size) for size in (1, 2, 3, 5) for page in range(1, 6)]
    first = [queries.product_page(cast, filters, page=page, per_page=size, now=NOW) for page, size in asked]
    assert [queries.product_page(cast, filters, page=page, per_page=size, now=NOW) for page, size in asked] == first
    (whole, *_) = [page for page, (_, size) in zip(first, asked, strict=True) if size == 5]
    assert [page.records_json for page in first[:5]] == [[text] for text in whole.records_json]


def test_a_cached_page_has_current_records(cast):
    make_media(one(cast, 1))
    filters = LISTS["category"]
    before = queries.product_page(cast, filters, page=1, per_page=4, now=NOW)
    Product.objects.filter(shop=cast).update(stock_qty=3)
    make_media(one(cast, 2), "https://cdn.example.com/new.jpg")
    with Captured() as statements:
        after = queries.product_page(cast, filters, page=1, per_page=4, now=NOW)
    assert reads_by_ids(statements)
    assert after != before
    assert [row["stock_qty"] for row in after.rows] == [3] * 4
    listing.clear_caches()
    assert queries.product_page(cast, filters, page=1, per_page=4, now=NOW) == after


def update(n: int | str, **changes):
    """A merchant edits a product."""
    name = f"Blue cup {n}" if isinstance(n, int) else n
    return lambda shop: actions.update_product(
        shop=shop, product=Product.objects.get(shop=shop, name=name), now=NOW, **changes
    )


def write(n: int, **changes):
    """Somebody writes to the table."""
    return lambda shop: Product.objects.filter(pk=one(shop, n).pk).update(**changes)


def links(shop, n):
    return ProductCategory.objects.filter(product=one(shop, n))


def category(shop, slug) -> Category:
    return Category.objects.get(shop=shop, slug=slug)


def recategorise(name: str, **changes):
    return lambda shop: actions.update_category(shop=shop, category=category(shop, name), now=NOW, **changes)


IN_CATEGORIES, SEARCHED = {"category", "branch", "by price", "word in a category"}, {"words", "short word"}
UNSORTED = set(LISTS) - {"by price"}
# Changes, and the lists that they change.
CHANGES = {
    "name": (update(1, name="Red bowl"), {*SEARCHED, "word in a category"}),
    "description": (update("Lamp", description="For a blue cup"), SEARCHED),
    "sku": (update("Lamp", sku="BLUE-CUP"), SEARCHED),
    "text": (lambda shop: ProductSearch.objects.filter(product=one(shop, 1)).update(text="bowl"), SEARCHED),
    "moved link": (lambda shop: links(shop, 1).update(category=category(shop, "garden")), IN_CATEGORIES),
    "link gone": (lambda shop: links(shop, 1).delete(), IN_CATEGORIES),
    "new link": (lambda shop: update("Lamp", categories=[category(shop, "cups")])(shop), {"category", "branch"}),
    "price": (write(1, price="99.00"), {"by price"}),
    "pin": (write(5, is_pinned=True), UNSORTED),
    "place": (write(5, sort_order=-1), UNSORTED),
    "featured": (write(1, is_featured=False), {"featured"}),
    "draft": (write(1, status="draft"), set(LISTS)),
    "unlisted": (write(1, exclude_from_catalog=True), set(LISTS)),
    "date of the past": (write(1, unpublish_at=NOW - HOUR), set(LISTS)),
    "deleted": (lambda shop: actions.delete_product(shop=shop, product=one(shop, 1), now=NOW), set(LISTS)),
    "row gone": (lambda shop: one(shop, 1).delete(), set(LISTS)),
    "category switched off": (recategorise("cups", is_active=False), IN_CATEGORIES),
    "parent switched off": (recategorise("kitchen", is_active=False), {"branch"}),
    "category's new slug": (recategorise("cups", slug="mugs"), IN_CATEGORIES - {"branch"}),
    "category moved": (recategorise("cups", parent=None), {"branch"}),
    "category gone": (
        lambda shop: actions.delete_category(shop=shop, category=category(shop, "cups"), now=NOW),
        IN_CATEGORIES,
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_shown_at_once_and_only_in_its_shop(cast, other_shop, change):
    act, shows_on = CHANGES[change]
    before = {name: names(cast, filters) for name, filters in LISTS.items()}
    for name, filters in LISTS.items():
        assert names(other_shop, filters) == before[name]
    act(cast)
    after = {name: names(cast, filters) for name, filters in LISTS.items()}
    with Captured() as statements:
        assert {name: names(other_shop, filters) for name, filters in LISTS.items()} == before
    assert len(reads_by_ids(statements)) == len(LISTS)
    assert {name for name in LISTS if after[name] != before[name]} >= shows_on
    assert after == {name: uncached(cast, filters) for name, filters in LISTS.items()}


@pytest.mark.parametrize("name", LISTS)
def test_a_new_product_is_shown_at_once(cast, name):
    before = names(cast, LISTS[name])
    cups = category(cast, "cups")
    make_product(cast, "New blue cup", categories=(cups,), is_featured=True, price="0.50", is_pinned=True)
    assert names(cast, LISTS[name]) == ["New blue cup", *before[:3]] == uncached(cast, LISTS[name])


def test_imported_products_are_shown_at_once(cast, tmp_path):
    before = names(cast, LISTS["words"])
    imported(cast, [woo(id="900", sku="N1", name="New blue cup", position="-1")], tmp_path)
    assert names(cast, LISTS["words"]) == ["New blue cup", *before[:3]] == uncached(cast, LISTS["words"])


@pytest.mark.parametrize("name", LISTS)
def test_a_date_takes_effect_at_once(cast, name):
    before, later = names(cast, LISTS[name]), NOW + HOUR
    assert "Blue cup 0" in before
    assert names(cast, LISTS[name], later - timedelta(microseconds=1)) == before
    after = names(cast, LISTS[name], later)
    assert "Blue cup 0" not in after
    assert "Blue cup 4" in after
    # A reader whose clock is behind.
    assert names(cast, LISTS[name], NOW) == before
    assert uncached(cast, LISTS[name], later) == after


def test_a_write_that_is_rolled_back_is_not_cached(cast):
    before = {name: names(cast, filters) for name, filters in LISTS.items()}
    for name, filters in LISTS.items():
        with transaction.atomic():
            write(1, status="draft")(cast)
            assert names(cast, filters) != before[name]
            transaction.set_rollback(True)
    assert {name: names(cast, filters) for name, filters in LISTS.items()} == before


@pytest.mark.parametrize("reads", [0, 1])
@pytest.mark.parametrize("name", LISTS)
def test_a_write_between_the_two_statements_is_not_cached_wrongly(cast, name, reads):
    for _ in range(reads):
        names(cast, LISTS[name])
    with WriteBetween(lambda: write(1, status="draft")(cast)):
        assert "Blue cup 1" not in names(cast, LISTS[name])
    assert names(cast, LISTS[name]) == uncached(cast, LISTS[name])


def test_a_list_with_updated_since_is_not_cached(cast):
    for _ in range(2):
        names(cast, ProductFilters(category="cups", updated_since=NOW - HOUR))
    with Captured() as statements:
        names(cast, ProductFilters(category="cups", updated_since=NOW - HOUR))
    assert not reads_by_ids(statements)
    assert not listing._pages._values


@pytest.mark.slow
def test_the_page_cache_is_bounded():
    """Many pages of a hundred products, with large ids."""
    rows = [("{}", 10_000_000_000 + n) for n in range(100)]

    def fetch(statement, params, *, prepared=True):
        return [(5 << 40, None, None, False, 10**7, 10**6, None)] if "listingtotal" in statement else rows

    listing.clear_caches()
    tracemalloc.start()
    for page in range(6000):
        filters = ProductFilters(category=f"cups-{page}", q="blue")
        Listing(fetch, "sqlite", 1, "en", filters, f"{NOW}{page}", None).page(offset=page * 100, limit=100)
    taken = tracemalloc.get_traced_memory()[0]
    listing._pages.clear()
    freed = taken - tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    listing.clear_caches()
    assert 1_000_000 < freed < 4_500_000


class WriteBetween:
    """Runs a write between the first statement of a read and the second."""

    def __init__(self, act):
        self._acts, self._seen = [act], 0

    def __enter__(self):
        self._wrapped = connection.execute_wrapper(self._execute)
        self._wrapped.__enter__()

    def __exit__(self, *error):
        self._wrapped.__exit__(*error)
        assert not self._acts

    def _execute(self, execute, sql, params, many, context):
        self._seen += 1
        if self._seen == 2 and self._acts:
            self._acts.pop()()
        return execute(sql, params, many, context)
