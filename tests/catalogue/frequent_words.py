"""Shops whose words are all frequent, and what their searches find."""

from collections.abc import Iterator
from datetime import timedelta
from random import Random

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.catalogue.models import Product
from storefront.catalogue.search_texts import MARKUP, search_words
from storefront.listing import frequent_words, known_matches, queries
from storefront.listing import page as listing
from storefront.listing.frequent_words import count_words
from storefront.listing.queries import ProductFilters
from storefront.shops.models import Shop
from tests.catalogue.factories import make_product
from tests.shops.factories import NOW

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
WORDS = ["mug", "mugs", "harbour", "blue", "bluebell", "pottery", "potteries", "stone", "sandstone", "tea", "teapot"]
WORDS += ["é£-7", "o'clock", "50%"]
SEARCHES = [*WORDS, "harb", "ston", "blue mug", "mugs tea", "zzz", "blue zzz", "running", "the blue stone mug tea"]
# Their stems are words.
SEARCHES += ["teas", "blues mug", "harbours stone"]


@pytest.fixture(autouse=True)
def make_all_frequent(monkeypatch) -> Iterator[None]:
    """Every shop is large, and every word frequent."""
    monkeypatch.setattr(known_matches, "LARGE_SHOP", 1)
    monkeypatch.setattr(frequent_words, "LARGE_SHOP", 1)
    monkeypatch.setattr(frequent_words, "MIN_TEXTS", 1)
    listing.clear_caches()
    yield
    listing.clear_caches()


def begin(*shops: Shop) -> None:
    """As a new process that knows how large the shops are."""
    listing.clear_caches()
    for shop in shops:
        queries.product_page(shop, ProductFilters(), page=1, per_page=1, now=NOW)


def fill(shop: Shop, seed: int = 1, count: int = 30) -> list[Product]:
    chance = Random(seed)
    return [
        make_product(
            shop,
            " ".join(chance.sample(WORDS, 3)),
            slug=f"{seed}-{number}",
            # With a long text without white space, at some.
            description=f'<p class="{chance.choice(WORDS)} {"x" * (90 * (number % 3))}">The {chance.choice(WORDS)}.</p>'
            f"{'x' * (90 * (number % 3))}{chance.choice(WORDS)}",
            status="draft" if number % 5 == 4 else "active",
            publish_at=NOW + HOUR if number % 7 == 6 else NOW - HOUR if number % 7 == 5 else None,
            unpublish_at=NOW - MINUTE if number % 11 == 10 else None,
        )
        for number in range(count)
    ]


def published_texts(shop: Shop, now=NOW) -> dict[str, str]:
    """By slug, the texts in which searches look."""
    products = Product.objects.filter(shop=shop, exclude_from_catalog=False).select_related("search")
    return {product.slug: product.search.text for product in products if product.is_published(now)}


def matching(texts: dict[str, str], q: str, language: str, for_shoppers: bool = False) -> set[str]:
    words = search_words(q, language, for_shoppers=for_shoppers)
    if for_shoppers:
        texts = {slug: text.partition(MARKUP)[0] for slug, text in texts.items()}
    return {slug for slug, text in texts.items() if all(any(each in text for each in word.texts) for word in words)}


def expected(shop: Shop, q: str, now=NOW) -> set[str]:
    return matching(published_texts(shop, now), q, shop.language)


def found(shop: Shop, q: str, now=NOW, **filters) -> set[str]:
    page = queries.product_page(shop, ProductFilters(q=q, **filters), page=1, per_page=100, now=now)
    assert page.total == len(page.rows)
    return {row["slug"] for row in page.rows}


def check(*shops: Shop) -> None:
    """All searches, by what this process knows and as a new one."""
    for _ in range(2):
        for shop in shops:
            texts = published_texts(shop)
            for q in SEARCHES:
                for for_shoppers in (False, True):
                    wanted = matching(texts, q, shop.language, for_shoppers)
                    assert found(shop, q, for_shoppers=for_shoppers) == wanted, q
                    ids = tuple(queries.match_ids(shop, q, for_shoppers=for_shoppers, now=NOW))
                    page = queries.product_page(shop, ProductFilters(ids=ids), page=1, per_page=100, now=NOW)
                    assert page.total == len(wanted)
        begin(*shops)


def counted(shop: Shop, **given) -> None:
    count_words(shop, now=NOW, rest=0, **given)


def statements_of(shop: Shop, q: str, **filters) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        found(shop, q, **filters)
    return [query["sql"] for query in captured.captured_queries]


def looks_at_texts(statements: list[str]) -> bool:
    index = "catalogue_searchindex" if connection.vendor == "sqlite" else " LIKE "
    return any(index in statement for statement in statements)
