"""A search by the bitmaps of frequent words finds what a look at every text finds, whatever was written since they were
counted."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.catalogue import actions, search_index
from storefront.catalogue.models import (
    Brand,
    Product,
    ProductCategory,
    ProductSearch,
    TextChange,
    WordCount,
)
from storefront.catalogue.postgresql import deferred_totals
from storefront.listing import frequent_words, queries
from storefront.listing.page import RELEVANCE
from storefront.listing.verifying import deviations
from tests.catalogue.factories import make_category, make_product, make_variant
from tests.catalogue.frequent_words import (
    HOUR,
    SEARCHES,
    begin,
    check,
    counted,
    expected,
    fill,
    found,
    looks_at_texts,
    statements_of,
)
from tests.catalogue.frequent_words import make_all_frequent as make_all_frequent
from tests.shops.factories import NOW

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite's shops are small enough without"),
]


def test_searches_find_the_same_by_bitmaps(shop, other_shop):
    fill(shop)
    fill(other_shop, seed=2)
    check(shop, other_shop)
    counted(shop)
    check(shop, other_shop)
    counted(other_shop)
    check(shop, other_shop)
    assert not TextChange.objects.exists()


def test_a_counted_word_is_not_looked_for_in_the_texts(shop):
    fill(shop)
    make_product(shop, "Running shoe")
    assert looks_at_texts(statements_of(shop, "blue mug"))
    counted(shop)
    begin(shop)
    statements = statements_of(shop, "blue mug")
    assert not looks_at_texts(statements)
    # The words that are stored, their bitmaps, the page.
    assert len(statements) == 3
    # Neither is it again, nor for the filters.
    assert len(statements_of(shop, "blue mug")) <= 3
    assert not looks_at_texts(statements_of(shop, "blue mug", sort=RELEVANCE))
    with CaptureQueriesContext(connection) as captured:
        begin(shop)
        assert len(queries.match_ids(shop, "blue", now=NOW)) > 0
    assert not looks_at_texts([query["sql"] for query in captured.captured_queries])
    # A word whose stem is counted is, once; a part of a word is without reading bitmaps for it.
    assert sum("catalogue_textchange" in each for each in statements_of(shop, "blues mug")) == 1
    statements = statements_of(shop, "blue harb")
    assert looks_at_texts(statements)
    assert not any("catalogue_textchange" in each for each in statements)


def test_a_list_with_other_filters_or_short_words_finds_the_same(shop):
    products = fill(shop)
    cups = make_category(shop, "Cups")
    counted(shop)
    for product in products[::2]:
        ProductCategory.objects.create(shop=shop, product=product, category=cups, created_at=NOW, updated_at=NOW)
        Product.objects.filter(pk=product.pk).update(is_featured=True)
    of_cups = {product.slug for product in products[::2]}
    assert found(shop, "blue", category="cups") == expected(shop, "blue") & of_cups
    assert found(shop, "blue", featured=True) == expected(shop, "blue") & of_cups
    assert found(shop, "blue te") == expected(shop, "blue te")
    assert found(shop, "blue", updated_since=NOW - HOUR) == expected(shop, "blue")


def test_dates_are_those_of_the_moment(shop):
    fill(shop)
    counted(shop)
    for moment in (NOW - 2 * HOUR, NOW, NOW + 2 * HOUR, NOW):
        assert found(shop, "blue", moment) == expected(shop, "blue", moment)
    assert len({frozenset(expected(shop, "blue", NOW + at)) for at in (-2 * HOUR, timedelta(0), 2 * HOUR)}) == 3


CHANGES = {
    "created": lambda shop, products: make_product(shop, "Blue mug of sandstone", slug="new"),
    "created by an action": lambda shop, products: actions.create_product(
        shop=shop, now=NOW, name="Blue mugs", price="1", status="active"
    ),
    "renamed": lambda shop, products: actions.update_product(
        shop=shop, product=products[0], now=NOW, name="Pottery teapot", description="", status="active"
    ),
    "unlisted": lambda shop, products: Product.objects.filter(shop=shop).update(status="draft"),
    "listed": lambda shop, products: Product.objects.filter(shop=shop, status="draft").update(status="active"),
    "excluded": lambda shop, products: Product.objects.filter(shop=shop).update(exclude_from_catalog=True),
    "removed": lambda shop, products: actions.delete_product(shop=shop, product=products[1], now=NOW),
    "deleted": lambda shop, products: Product.objects.filter(pk=products[2].pk).delete(),
    "a variant": lambda shop, products: make_variant(products[3], "zzz"),
    "a brand's name": lambda shop, products: brand_of(shop, products),
    "by hand": lambda shop, products: by_hand(
        "UPDATE catalogue_productsearch SET text = ' mug stone ' WHERE shop_id = %s", shop.pk
    ),
    "imported": lambda shop, products: imported(shop),
}


def brand_of(shop, products) -> None:
    brand = Brand.objects.create(shop=shop, name="Stone & Tea")
    Product.objects.filter(pk__in=[product.pk for product in products[4:9]]).update(brand=brand)
    search_index.rewrite_texts(shop)


def by_hand(statement: str, *values) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def imported(shop) -> None:
    """As the importer writes a batch."""
    last = Product.objects.order_by("-pk").values_list("pk", flat=True)[0]
    new = [last + number for number in range(1, 5)]
    with deferred_totals(connection, new):
        for number, pk in enumerate(new):
            row = {"pk": pk, "slug": f"i{pk}", "status": "draft" if number == 2 else "active", "price": "1.00"}
            Product.objects.create(
                shop=shop, name="Blue mug", sort_name="blue mug", created_at=NOW, updated_at=NOW, **row
            )
            ProductSearch.objects.create(product_id=pk, shop=shop, text=" blue mug ", listed=number != 2)


@pytest.mark.parametrize("change", CHANGES)
def test_searches_follow_every_write(shop, other_shop, change, django_capture_on_commit_callbacks):
    products, others = fill(shop), fill(other_shop)
    counted(shop)
    counted(other_shop)
    before = {q: found(shop, q) for q in SEARCHES}
    with django_capture_on_commit_callbacks(execute=True):
        CHANGES[change](shop, products)
    assert {q: expected(shop, q) for q in SEARCHES} != before
    check(shop, other_shop)
    assert not [each for each in deviations(shop) if each.check == "frequent word"]
    # After a count of the changes alone, and after one of everything.
    WordCount.objects.filter(shop=shop).update(done_at=NOW)
    frequent_words.MUCH, much = 100, frequent_words.MUCH
    try:
        counted(shop)
    finally:
        frequent_words.MUCH = much
    assert not TextChange.objects.filter(shop=shop).exists()
    check(shop, other_shop)
    counted(shop, anew=True)
    check(shop, other_shop)
    assert len(others) == 30


def test_a_span_of_changes_reaches_into_no_other_shop(shop, other_shop):
    fill(shop)
    fill(other_shop, seed=2)
    counted(shop)
    counted(other_shop)
    ids = Product.objects.order_by("pk").values_list("pk", flat=True)
    TextChange.objects.create(shop=shop, first_product=ids.first(), last_product=ids.last())
    check(shop, other_shop)
