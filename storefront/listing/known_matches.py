# ruff: noqa: S608, the statements consist of conditions of this package; values are parameters.
"""Finds the matches of a search in a large shop on PostgreSQL by the bitmaps of its frequent words
(`frequent_words.py`).

One statement reads the bitmaps, the shop's changes since they were counted and the matches among the changed products:
so the answer is that of one moment, whatever is written or counted meanwhile.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import and_, or_
from typing import Any

from pyroaring import BitMap64

from storefront.catalogue.search_texts import SearchWord
from storefront.listing import page_sql, words_sql
from storefront.listing.dialect import dialect
from storefront.listing.page_sql import STATE_COLUMNS
from storefront.listing.sql import HIDDEN, LISTABLE
from storefront.listing.words_sql import Shape

Fetch = Callable[..., list[tuple]]

# Products from which on a shop's frequent words are counted. In a smaller one, the search index takes few milliseconds.
LARGE_SHOP = 5000
# Letters of a word that is counted, and changed products whose texts a search looks at.
MIN_WORD_LENGTH, MAX_CHANGED = 3, 5000


@dataclass(frozen=True, slots=True)
class KnownMatches:
    """What a search finds: `state` are the columns of `page_sql.stored_state`, `ids` the matches whatever their dates,
    `hidden` those of the shop's products that a date hides now."""

    state: tuple
    ids: BitMap64
    hidden: BitMap64


def known_matches(
    fetch: Fetch, shape: Shape, words: Sequence[SearchWord], params: dict[str, Any]
) -> KnownMatches | None:
    """The matches of a search for these words, in a shape that `is_known`; `params` are its own. None if
    too few of the texts that they look for are counted: all but one must be, and one of each word."""
    needles = [word.texts for word in words]
    wanted = [needle for each in needles for needle in each]
    stored = {text for (text,) in fetch(_stored(len(wanted)), {"shop": params["shop"]} | _numbered(wanted))}
    others = [needle for needle in wanted if needle not in stored]
    if len(others) > 1 or not all(stored.intersection(each) for each in needles):
        return None
    read = sorted(stored)
    given = params | _numbered(read)
    for other in others:
        # As the search index takes it.
        given |= {"match": words_sql.match([other]), "sought_word0": dialect.sought(other), "other": other}
    (row,) = fetch(_statement(shape, len(read), bool(others)), given, prepared=False)
    state, (changes, changed, hidden, found, *bitmaps) = row[:STATE_COLUMNS], row[STATE_COLUMNS:]
    if changed is None or found is None or None in bitmaps:
        return None
    products, in_markup = bitmaps[: len(read)], bitmaps[len(read) :]
    by_text = {text: BitMap64.deserialize(bytes(each)) for text, each in zip(read, products, strict=True)}
    for text, each in zip(read, in_markup, strict=False):
        by_text[text] -= BitMap64.deserialize(bytes(each))
    of_other = _bitmap(found)
    ids = reduce(
        and_,
        (reduce(or_, (by_text.get(needle, of_other) for needle in each)) for each in needles),
    )
    for span in changes.split(",") if changes else ():
        first, last = map(int, span.split("-"))
        ids.remove_range(first, last + 1)
    return KnownMatches(state, ids | _bitmap(changed), _bitmap(hidden))


def is_known(shape: Shape) -> bool:
    """Whether bitmaps can tell what a list of this shape has: of words alone, none of which is short."""
    only = Shape(long_words=shape.long_words, visible=shape.visible)
    return bool(shape.long_words) and shape == only


def _bitmap(ids: str) -> BitMap64:
    return BitMap64(map(int, ids.split(","))) if ids else BitMap64()


def _numbered(texts: Sequence[str]) -> dict[str, str]:
    return {f"text{number}": text for number, text in enumerate(texts)}


@lru_cache
def _stored(count: int) -> str:
    texts = ", ".join(f"%(text{number})s" for number in range(count))
    return f"SELECT f.text FROM catalogue_frequentword f WHERE f.shop_id = %(shop)s AND f.text IN ({texts})"


@lru_cache(page_sql.MAX_SQL_TEXTS)
def _statement(shape: Shape, stored: int, has_other: bool) -> str:
    """One row: the columns of `page_sql.stored_state`; the changes; the ids of the matches among the changed products,
    NULL if these are too many; those of the hidden products; those of the products that contain the text which is not
    stored, NULL if they are too many; the `stored` bitmaps; and if markup does not count, those of the products that
    contain them in markup alone."""
    joined = dialect.JOINED_IDS
    texts = (
        "catalogue_productsearch s WHERE s.product_id BETWEEN c.first_product AND c.last_product"
        f" AND +s.shop_id = %(shop)s AND s.listed AND {' AND '.join(words_sql.words(shape, indexed=False))}"
    )
    # OFFSET 0 keeps the planner from joining by reading all texts.
    changed = f"SELECT d.id FROM c CROSS JOIN LATERAL (SELECT s.product_id AS id FROM {texts} OFFSET 0) d"
    hidden = " UNION ALL ".join(
        f"SELECT p.id FROM catalogue_product p WHERE p.shop_id = %(shop)s AND {LISTABLE} AND {each}" for each in HIDDEN
    )
    columns = [
        "(SELECT string_agg(c.first_product || '-' || c.last_product, ',') FROM c)",
        f"CASE WHEN (SELECT COALESCE(sum(c.last_product - c.first_product + 1), 0) FROM c) <= {MAX_CHANGED}"
        f" THEN (SELECT COALESCE({joined}, '') FROM ({changed}) d) END",
        f"(SELECT COALESCE({joined}, '') FROM ({hidden}) d)",
        f"CASE WHEN (SELECT count(*) FROM o) <= {page_sql.MAX_MATCHES}"
        f" THEN (SELECT COALESCE({joined}, '') FROM o d) END"
        if has_other
        else "''",
        *(
            f"(SELECT f.{column} FROM catalogue_frequentword f"
            f" WHERE f.shop_id = %(shop)s AND f.text = %(text{number})s)"
            for column in ("products", "in_markup")[: 1 + shape.visible]
            for number in range(stored)
        ),
    ]
    tables = [
        "c AS MATERIALIZED (SELECT first_product, last_product FROM catalogue_textchange WHERE shop_id = %(shop)s"
        f" LIMIT {MAX_CHANGED + 1})"
    ]
    if has_other:
        seen = f" AND {words_sql.contains('other', shape)}" if shape.visible else ""
        tables.append(f"o AS MATERIALIZED ({page_sql.ids_of(Shape(long_words=(1,)))}{seen})")
    return f"WITH {', '.join(tables)} {page_sql.with_state(*columns)}"
