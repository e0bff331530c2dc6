"""Counts the frequent words of large shops on PostgreSQL: which listed products contain each, as a bitmap.

To count the products that contain a frequent word, a search index has to look at all of their texts. With this, a
search reads a bitmap (`known_matches.py`). A word that is not frequent is found by the search index as in any shop.

A bitmap is right but for the products that changed since (`TextChange`, which triggers write in the transaction of the
change): searches look at these products' texts themselves. A count first deletes the changes, or reads them and deletes
them last; so a change that comes meanwhile stays. Two counts of a shop do not mix: each writes only while the token of
`WordCount` is its own.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic, sleep
from typing import Self
from uuid import UUID, uuid4

from django.db import connection, transaction
from django.db.models import F, Sum
from pyroaring import BitMap64

from storefront.catalogue.models import FrequentWord, ListingTotal, TextChange, WordCount
from storefront.catalogue.search_texts import MARKUP, stem_of
from storefront.kit.sql import fetch
from storefront.listing.dialect import dialect
from storefront.listing.facet_rows import listed_ids
from storefront.listing.known_matches import LARGE_SHOP, MAX_CHANGED, MIN_WORD_LENGTH
from storefront.pods.moves import MOVING
from storefront.shops.models import Shop

# Words that are kept at most, the most frequent ones, and in how many texts of the sample a word has to be. At a
# million products, four in twenty thousand are two hundred.
MAX_WORDS, MIN_TEXTS = 6000, 4
SAMPLE_TEXTS = 20_000
# Texts that are read at once, and words whose bitmaps are written at once.
BATCH_TEXTS, BATCH_WORDS = 1000, 200
# Words of texts that are longer are looked through for each frequent word.
LONG_WORD = 100
# Different words of texts for which it is remembered which frequent words they contain; about 300 bytes each.
MAX_REMEMBERED = 100_000
# Changed products from which on words are counted again, and their share of a shop above which all texts are read.
CHANGED, MUCH = MAX_CHANGED // 5, 0.1
# How long after a count began the next may begin.
PAUSE = timedelta(minutes=15)

# The plus keeps the database from reading all texts of the shop by its index.
_TEXTS = "SELECT s.product_id, s.text FROM catalogue_productsearch s WHERE +s.shop_id = %(shop)s AND s.listed"
# How many products changed, at most.
_CHANGED = Sum(F("last_product") - F("first_product") + 1)
# Letters of a frequent word, or of its stem: some stemmers write one letter as two.
MAX_WORD_LENGTH = 40
NONE = BitMap64().serialize()
_WORD = re.compile(rf"[^\W_]{{{MIN_WORD_LENGTH},{MAX_WORD_LENGTH}}}")


def is_large(shop: Shop) -> bool:
    """Whether the shop's words are counted."""
    return dialect.COUNTS_WORDS and _size(shop) >= LARGE_SHOP


def _size(shop: Shop) -> int:
    totals = ListingTotal.objects.filter(shop=shop, category=0)
    return totals.aggregate(size=Sum("products"))["size"] or 0


def due_shops(*, now: datetime, limit: int) -> list[int]:
    """Ids of large shops whose words were never counted, or have many changes since; marks them as asked for. Deletes
    the changes of other shops, which nothing reads."""
    totals = ListingTotal.objects.filter(category=0).values("shop").annotate(size=Sum("products"))
    large = set(totals.filter(size__gte=LARGE_SHOP).values_list("shop", flat=True))
    changes = TextChange.objects.values("shop")
    changed = dict(changes.annotate(count=_CHANGED).values_list("shop", "count"))
    counts = WordCount.objects.in_bulk()
    moving = set(MOVING.values_list("shop_id", flat=True))
    for shop in (changed.keys() | counts.keys()) - moving:
        if shop not in large:
            _forget(shop, now)
    due: list[int] = []
    for shop in sorted(large - moving):
        count = counts.get(shop)
        is_counted = count is not None and count.done_at is not None and changed.get(shop, 0) < CHANGED
        if not is_counted and (count is None or count.asked_at <= now - PAUSE) and len(due) < limit:
            due.append(shop)
            WordCount.objects.update_or_create(
                shop_id=shop,
                defaults={"asked_at": now},
                create_defaults={"asked_at": now, "token": uuid4()},
            )
    return due


def count_words(shop: Shop, *, now: datetime, anew: bool = False, rest: float = 1) -> None:
    """Count the words of the shop; after few changes those of the changed products only, unless `anew`. `rest` is how
    long to rest between batches of texts, as a multiple of the time that a batch took: other threads then get the
    interpreter."""
    token, changes = _begin(shop, now, anew)
    if changes is None:
        _count_all(shop, token, rest)
    else:
        _count_changed(shop, token, changes, rest)
    with _own(shop, token) as is_own:
        if is_own:
            for start in range(0, len(changes or ()), BATCH_TEXTS):
                known = [change.pk for change in (changes or ())[start : start + BATCH_TEXTS]]
                TextChange.objects.filter(pk__in=known).delete()
            WordCount.objects.filter(shop=shop).update(done_at=now)


@transaction.atomic
def _begin(shop: Shop, now: datetime, anew: bool) -> tuple[UUID, list[TextChange] | None]:
    """A new count; an older one that still runs writes nothing more. The changes since the last count; None if all
    texts are to be read, when neither words nor changes are left."""
    token = uuid4()
    count, _ = WordCount.objects.update_or_create(shop=shop, defaults={"token": token, "asked_at": now})
    if count.done_at is not None and not anew:
        changed = TextChange.objects.filter(shop=shop)
        if (changed.aggregate(count=_CHANGED)["count"] or 0) < _size(shop) * MUCH:
            return token, list(changed)
    # A change that is committed after this statement stays.
    TextChange.objects.filter(shop=shop).delete()
    FrequentWord.objects.filter(shop=shop).delete()
    WordCount.objects.filter(shop=shop).update(done_at=None)
    return token, None


@contextmanager
def _own(shop: Shop, token: UUID) -> Iterator[bool]:
    """A transaction in which no other count of the shop begins or writes; whether this one is still the latest."""
    with transaction.atomic():
        latest = WordCount.objects.select_for_update().filter(shop=shop).first()
        yield latest is not None and latest.token == token


@transaction.atomic
def _forget(shop: int, now: datetime) -> None:
    """Delete the words and changes of a shop that is not large, and end a count of it."""
    if not Shop.objects.filter(pk=shop).exists():
        TextChange.objects.filter(shop=shop).delete()
        return
    # First, so that a count that begins meanwhile waits, and its changes stay.
    WordCount.objects.update_or_create(shop_id=shop, defaults={"token": uuid4(), "asked_at": now})
    FrequentWord.objects.filter(shop=shop).delete()
    TextChange.objects.filter(shop=shop).delete()
    WordCount.objects.filter(shop=shop).delete()


def _count_all(shop: Shop, token: UUID, rest: float) -> None:
    bitmaps = {text: _Products() for text in _needles(shop)}
    contained = _Contained(bitmaps)
    for ids in listed_ids(_fetch, shop):
        _add_texts(shop, ids, contained, bitmaps, rest)
    texts = sorted(bitmaps)
    for start in range(0, len(texts), BATCH_WORDS):
        words = [
            FrequentWord(shop=shop, text=text, products=each.anywhere.serialize(), in_markup=each.in_markup.serialize())
            for text, each in ((text, bitmaps.pop(text)) for text in texts[start : start + BATCH_WORDS])
        ]
        with _own(shop, token) as is_own:
            if not is_own:
                return
            FrequentWord.objects.bulk_create(words)


def _count_changed(shop: Shop, token: UUID, changes: list[TextChange], rest: float) -> None:
    changed = _changed(changes)
    words = FrequentWord.objects.filter(shop=shop)
    added = {text: _Products() for text in words.values_list("text", flat=True)}
    _add_texts(shop, list(changed), _Contained(added), added, rest)
    texts = sorted(added)
    for start in range(0, len(texts), BATCH_WORDS):
        rows = []
        for row in words.filter(text__in=texts[start : start + BATCH_WORDS]):
            before = _products(row)
            now = before.without(changed) | added[row.text]
            if now != before:
                row.products, row.in_markup = now.anywhere.serialize(), now.in_markup.serialize()
                rows.append(row)
        with _own(shop, token) as is_own:
            if not is_own:
                return
            FrequentWord.objects.bulk_update(rows, ["products", "in_markup"], batch_size=50)


def wrong_words(shop: Shop) -> Iterator[tuple[str, int, int]]:
    """Each text whose bitmap is not what the shop's texts say, with how many products it has and should have. Nothing
    if a count begins or ends meanwhile. Only reads."""
    count = WordCount.objects.filter(shop=shop).exclude(done_at=None).first()
    if count is None:
        return
    words = FrequentWord.objects.filter(shop=shop)
    expected = {text: _Products() for text in words.values_list("text", flat=True)}
    contained = _Contained(expected)
    for ids in listed_ids(_fetch, shop):
        _add_texts(shop, ids, contained, expected, rest=0)
    texts, wrong = sorted(expected), []
    for start in range(0, len(texts), BATCH_WORDS):
        for row in words.filter(text__in=texts[start : start + BATCH_WORDS]):
            has, should = _products(row), expected.pop(row.text)
            if has != should:
                wrong.append((row.text, has, should))
    # After the texts, so that none is newer.
    changed = _changed(TextChange.objects.filter(shop=shop))
    if not WordCount.objects.filter(shop=shop, token=count.token, done_at=count.done_at).exists():
        return
    for text, has, should in wrong:
        if has.without(changed) != should.without(changed):
            yield text, len(has.anywhere), len(should.anywhere)


def _products(word: FrequentWord) -> "_Products":
    return _Products(*(BitMap64.deserialize(bytes(each)) for each in (word.products, word.in_markup or NONE)))


def _changed(changes: Iterable[TextChange]) -> BitMap64:
    ids = BitMap64()
    for change in changes:
        ids.add_range(change.first_product, change.last_product + 1)
    return ids


def _needles(shop: Shop) -> set[str]:
    """The frequent words of the shop, and their stems with a space before and after, as searches look for them."""
    seen: Counter[str] = Counter()
    for text in _sample(shop):
        seen.update(set(_WORD.findall(text)))
    words = [word for word, count in seen.most_common(MAX_WORDS) if count >= MIN_TEXTS]
    stems = {stem_of(word, language) for word in words for language in shop.languages}
    return {*words, *(f" {stem} " for stem in stems if len(stem) <= MAX_WORD_LENGTH)}


def _sample(shop: Shop) -> Iterator[str]:
    size = sum(len(ids) for ids in listed_ids(_fetch, shop))
    step = max(1, size // SAMPLE_TEXTS)
    for ids in listed_ids(_fetch, shop):
        chosen = ids[::step]
        for start in range(0, len(chosen), BATCH_TEXTS):
            yield from (text for _, text in _texts(shop, chosen[start : start + BATCH_TEXTS]))


def _texts(shop: Shop, ids: Sequence[int]) -> list[tuple]:
    """The ids and texts of those of these products that are listed."""
    among = ", ".join(str(int(id)) for id in ids)
    return _fetch(f"{_TEXTS} AND s.product_id IN ({among})", {"shop": shop.pk}) if ids else []


def _add_texts(
    shop: Shop, ids: Sequence[int], contained: "_Contained", bitmaps: dict[str, "_Products"], rest: float
) -> None:
    for start in range(0, len(ids), BATCH_TEXTS):
        began = monotonic()
        contained.add(_texts(shop, ids[start : start + BATCH_TEXTS]), bitmaps)
        sleep(rest * (monotonic() - began))


@dataclass(slots=True)
class _Products:
    """The products whose texts contain a word, and those of them that contain it in markup alone."""

    anywhere: BitMap64 = field(default_factory=BitMap64)
    in_markup: BitMap64 = field(default_factory=BitMap64)

    def __or__(self, others: Self) -> "_Products":
        return _Products(self.anywhere | others.anywhere, self.in_markup | others.in_markup)

    def without(self, products: BitMap64) -> "_Products":
        return _Products(self.anywhere - products, self.in_markup - products)


class _Contained:
    """Finds which of some frequent words a text contains: those that one of its words contains, and the stems, which
    are words of the text themselves."""

    def __init__(self, needles: Iterable[str]) -> None:
        self.words = {needle for needle in needles if not needle.startswith(" ")}
        self.stems = {needle.strip(): needle for needle in needles if needle.startswith(" ")}
        self.lengths = sorted({len(word) for word in self.words})
        self._known: dict[str, tuple[str, ...]] = {}

    def add(self, texts: Iterable[tuple[int, str]], bitmaps: dict[str, _Products]) -> None:
        """Add the products to the bitmaps of the words that their texts contain. Each product is added once."""
        visible, in_markup = defaultdict(list), defaultdict(list)
        for id, text in texts:
            read, _, markup = text.partition(MARKUP)
            for word in set(read.split()):
                visible[word].append(id)
            for word in set(markup.split()):
                in_markup[word].append(id)
        hidden: dict[str, set[int]] = defaultdict(set)
        for word, ids in in_markup.items():
            for needle in self._of(word):
                hidden[needle].update(ids)
        for word, ids in visible.items():
            for needle in self._of(word):
                bitmaps[needle].anywhere.update(ids)
        for needle, found in hidden.items():
            found.difference_update(bitmaps[needle].anywhere)
            bitmaps[needle].in_markup.update(found)
            bitmaps[needle].anywhere.update(found)

    def _of(self, word: str) -> tuple[str, ...]:
        if len(word) > LONG_WORD:
            # Such as a picture within a description: it has far more parts than there are frequent words.
            return tuple(needle for needle in self.words if needle in word)
        found = self._known.get(word)
        if found is None:
            parts = {
                word[at : at + length]
                for length in self.lengths
                if length <= len(word)
                for at in range(len(word) - length + 1)
            }
            found = (*(parts & self.words), *([self.stems[word]] if word in self.stems else []))
            if len(self._known) < MAX_REMEMBERED:
                self._known[word] = found
        return found


def _fetch(statement: str, params: dict, *, prepared: bool = False) -> list[tuple]:
    return fetch(connection, statement, params, prepared=prepared)
