"""Searches need few different statements, and the cache of statements is bounded."""

import tracemalloc

import pytest

from storefront.kit import clock
from storefront.listing import page_sql, queries
from storefront.listing.queries import ProductFilters
from storefront.listing.words_sql import MAX_LONG_WORDS, MAX_SHORT_WORDS
from tests.catalogue.factories import make_product

KEPT = [page_sql.state, page_sql.scanned_page, page_sql.sorted_page]


def found(shop, q: str, **filters) -> list[str]:
    page = queries.product_page(shop, ProductFilters(q=q, **filters), page=1, per_page=10, now=clock.now())
    return [row["name"] for row in page.rows]


def searches(count: int):
    """Different searches with various numbers of long and short words."""
    for number in range(count):
        long, short = number % 50, number // 50 % 60
        words = [f"w{place:02d}" for place in range(long)] + [f"{place}" for place in range(short)]
        yield " ".join(words)[:200] or "x", [None, "newest", "name"][number % 3], bool(number % 2)


@pytest.mark.slow
def test_two_thousand_different_searches_take_little_memory(shop):
    make_product(shop, "Cup")
    for q, sort, featured in searches(100):
        found(shop, q, sort=sort, featured=featured)
    tracemalloc.start()
    try:
        for q, sort, featured in searches(2000):
            found(shop, q, sort=sort, featured=featured)
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert all(texts.cache_info().currsize <= page_sql.MAX_SQL_TEXTS for texts in KEPT)
    assert grown < 20_000_000


def test_any_number_of_words_needs_few_statements(shop, django_assert_num_queries):
    for texts in KEPT:
        texts.cache_clear()
    for count in range(1, 67):
        found(shop, " ".join(f"w{place:02d}" for place in range(count))[:200])
    for count in range(1, 100):
        found(shop, " ".join(chr(97 + place % 26) + "0123456789"[place % 10] for place in range(count))[:200])
    assert page_sql.state.cache_info().misses <= 2 * (MAX_LONG_WORDS + MAX_SHORT_WORDS)


WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "a1", "b2", "c3", "d4", "e5"]


@pytest.mark.parametrize("filters", [{}, {"featured": True}, {"sort": "name"}])
@pytest.mark.parametrize("missing", [None, *WORDS])
def test_every_word_must_occur_however_many_there_are(shop, other_shop, missing, filters):
    for each in (shop, other_shop):
        said = [word for word in WORDS if word != missing]
        make_product(each, "Cup", description=" ".join(said), is_featured=True)
        make_product(each, "Mug", description="alpha beta", is_featured=True)
    assert found(shop, " ".join(WORDS), **filters) == ([] if missing else ["Cup"])


def test_a_category_slug_that_is_too_long_matches_nothing(shop):
    assert (
        queries.product_page(shop, ProductFilters(category="x" * 100_000), page=1, per_page=1, now=clock.now()).total
        == 0
    )
