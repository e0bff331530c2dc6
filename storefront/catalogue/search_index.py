"""Writes the texts that `q` searches, and the words that spelling is corrected to.

A product's text is written with the product by every action, form and import. `write_texts` writes the texts of many
products again after a change of something that they share: a brand's name, the shop's language. The search index itself
follows the texts by triggers (`triggers.py`).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import partial
from typing import Any

import orjson
from django.db import connection, transaction
from django.db.models import OuterRef, Subquery

from storefront.catalogue.dialect import dialect
from storefront.catalogue.folding import unaccented
from storefront.catalogue.models import Brand, Product, ProductSearch, SearchWord, Variant
from storefront.catalogue.search_texts import Spelling, TranslatedWord, search_text
from storefront.shops.models import Shop

BATCH_ROWS = 2000
_COLUMNS = ("name", "sku", "description", "tags", "attributes", "translations")


def write_text(product: Product) -> None:
    """Update the product's text. Nothing is written if it has not changed."""
    write_texts(product.shop, [product.pk])


@transaction.atomic
def write_texts(shop: Shop, ids: Collection[int], words: set[Spelling] | None = None) -> int:
    """Update the texts of these products of the shop, at most BATCH_ROWS; returns how many were wrong. The words of all
    of them are added to `words`, if it is given."""
    # Locked, so that a newer text is never overwritten.
    products = Product.objects.select_for_update(no_key=True).filter(shop=shop, deleted_at=None, pk__in=ids)
    # A subquery, since PostgreSQL locks no row of an outer join.
    brand_name = Subquery(Brand.objects.filter(pk=OuterRef("brand_id")).values("name"))
    rows = products.order_by("pk").values_list("pk", brand_name, *_COLUMNS)
    found = {pk: (brand, dict(zip(_COLUMNS, values, strict=True))) for pk, brand, *values in rows}
    variants: dict[int, list[tuple[str, str, dict[str, Any]]]] = defaultdict(list)
    of_products = Variant.objects.filter(shop=shop, product__in=found, is_active=True).order_by("sort_order", "id")
    for pk, name, sku, option_values in of_products.values_list("product_id", "name", "sku", "option_values"):
        variants[pk].append((name, sku, option_values))
    stored = dict(ProductSearch.objects.filter(product__in=found).values_list("product_id", "text"))
    languages = {"language": shop.language, "further": shop.further_languages}
    texts = {
        pk: search_text(**languages, brand=brand, variants=variants[pk], **fields)
        for pk, (brand, fields) in found.items()
    }
    wrong = [pk for pk, made in texts.items() if stored.get(pk) != made.text]
    ProductSearch.objects.bulk_create(
        [ProductSearch(product_id=pk, shop=shop, text=texts[pk].text) for pk in wrong],
        update_conflicts=True,
        unique_fields=["product"],
        update_fields=["text"],
    )
    if words is not None:
        words.update(*(made.words for made in texts.values()))
    else:
        add_words_on_commit(shop, {word for pk in wrong for word in texts[pk].words})
    return len(wrong)


def add_words_on_commit(shop: Shop, words: Iterable[Spelling]) -> None:
    """Add the words after the commit: within the transaction, writers of two products with one new word would wait for
    each other. If that fails, it is logged, and `storefront reindex` adds them."""
    transaction.on_commit(partial(add_words, shop, words), robust=True)


def add_words(shop: Shop, words: Iterable[Spelling]) -> None:
    """Add the words that the shop does not have yet."""
    # Sorted, so that two writers of the same words wait for each other and do not deadlock.
    rows = sorted(_row(word) for word in words)
    if rows:
        with connection.cursor() as cursor:
            cursor.execute(dialect.ADD_WORDS, [shop.pk, orjson.dumps(rows).decode()])


def _row(spelling: Spelling) -> tuple[str, str, str, str]:
    word, language = spelling if isinstance(spelling, TranslatedWord) else (spelling, "")
    return (word, *ends(word), language)


def ends(word: str) -> tuple[str, str]:
    """The first and the last two letters of a word, without accents."""
    plain = unaccented(word)
    return plain[:2], plain[-2:]


def rewrite_texts(shop: Shop) -> int:
    """Update all texts of the shop, and remove words that none of its products has; returns how many texts were
    wrong."""
    last = SearchWord.objects.filter(shop=shop).order_by("-pk").values_list("pk", flat=True).first() or 0
    words: set[Spelling] = set()
    wrong = sum(write_texts(shop, batch, words) for batch in _batches(shop))
    rows = SearchWord.objects.filter(shop=shop).values_list("word", "language", "pk")
    known = {TranslatedWord(word, language) if language else word: pk for word, language, pk in rows}
    add_words(shop, words - known.keys())
    # Words that were added meanwhile stay, since their products may be newer than the ones read here.
    gone = [pk for word, pk in known.items() if pk <= last and word not in words]
    for start in range(0, len(gone), BATCH_ROWS):
        SearchWord.objects.filter(pk__in=gone[start : start + BATCH_ROWS]).delete()
    return wrong


class NewWords:
    """Collects the words of an import's new products, and adds those of a batch at once. Words that were added before
    are remembered, at most a hundred thousand."""

    MAX_REMEMBERED = 100_000

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self._added: set[Spelling] = set()

    def add(self, texts: Iterable[frozenset[Spelling]]) -> None:
        words = set[Spelling]().union(*texts) - self._added
        add_words_on_commit(self.shop, words)
        if len(self._added) < self.MAX_REMEMBERED:
            self._added |= words


def _batches(shop: Shop) -> Iterator[list[int]]:
    last = 0
    existing: Any = Product.objects.filter(shop=shop, deleted_at=None).order_by("pk")
    while ids := list(existing.filter(pk__gt=last).values_list("pk", flat=True)[:BATCH_ROWS]):
        yield ids
        last = ids[-1]
