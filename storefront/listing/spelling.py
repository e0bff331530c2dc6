"""The nearest spelling of a search that finds nothing.

Words to correct to come from the shop's products (`SearchWord`). A correction is offered only if a product that the
shop lists matches it, so that words of drafts and of hidden products stay unknown. Words of the language of the page or
call come before those of the shop's other languages.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from heapq import nsmallest
from itertools import product

from django.db.models import Q
from django.db.models.functions import Length
from rapidfuzz import process
from rapidfuzz.distance import OSA, JaroWinkler

from storefront.catalogue.folding import unaccented
from storefront.catalogue.models import SearchWord
from storefront.catalogue.search_texts import search_words
from storefront.listing import queries
from storefront.listing.queries import ProductFilters, languages_of_search
from storefront.shops.models import Shop

# Searches with more words are not corrected. Of a word, the nearest few are tried, and of a search a few corrections.
MAX_WORDS, MAX_NEAREST, MAX_CORRECTIONS = 4, 3, 4
# Words with fewer letters are too near to too many others.
MIN_LETTERS = 3
# From this number of letters on, two mistakes are corrected, else one.
TWO_MISTAKES = 6
# How many words with the same beginning or end are compared at most.
MAX_COMPARED = 20_000


def nearest_spelling(shop: Shop, filters: ProductFilters, *, now: datetime) -> str | None:
    """The words that those of `filters` probably mean, such as `blue blanket` for `blue blankit`, if a list with these
    filters is empty. None if nothing is near, or if it is the other filters that leave nothing."""
    languages = languages_of_search(shop, filters.language)
    words = [word.text.strip() for word in search_words(filters.q, *languages, for_shoppers=filters.for_shoppers)]
    if not 0 < len(words) <= MAX_WORDS or "\0" in filters.q:
        return None
    by_words = ProductFilters(q=filters.q, for_shoppers=filters.for_shoppers, language=filters.language)
    if replace(filters, sort=None, members=None, with_subcategories=False) != by_words and _finds(shop, by_words, now):
        return None
    known = _similar(shop, words, filters.language or "")
    near = [_nearest(word, known) for word in words]
    corrections = nsmallest(MAX_CORRECTIONS + 1, product(*near), key=lambda chosen: sum(cost for cost, _ in chosen))
    for chosen in corrections:
        corrected = [word for _, word in chosen]
        if corrected != words and _finds(shop, replace(by_words, q=" ".join(corrected)), now):
            return " ".join(corrected)
    return None


def _finds(shop: Shop, filters: ProductFilters, now: datetime) -> bool:
    return queries.product_page(shop, filters, page=1, per_page=1, now=now).total > 0


def _nearest(word: str, known: Sequence[tuple[str, bool]]) -> list[tuple[float, str]]:
    """The nearest of the known words, each with how far it is: the number of mistakes, and below one how much the
    beginnings differ, both without accents; a word of another language is one farther. The word itself is among them,
    so that other words of the search can be the wrong ones."""
    mistakes = _mistakes(word)
    plain = [unaccented(each) for each, _ in known]
    found = process.extract(word, plain, scorer=OSA.distance, score_cutoff=mistakes, limit=None)
    costs = (
        (distance + JaroWinkler.distance(word, other) + known[at][1], known[at][0])
        for other, distance, at in found
        if other != word
    )
    # An unknown one is farther than any: it is tried as long as another word is corrected, and alone it finds nothing.
    own = 0.0 if word in plain else mistakes + 2.0
    return [(own, word), *nsmallest(MAX_NEAREST, costs)]


def _mistakes(word: str) -> int:
    """How many mistakes in a word are corrected."""
    return 0 if len(word) < MIN_LETTERS else 1 if len(word) < TWO_MISTAKES else 2


def _similar(shop: Shop, words: Iterable[str], language: str) -> Sequence[tuple[str, bool]]:
    """The words of the shop's products that begin or end like one of these, and are about as long, each with True if it
    is none of this language."""
    like = Q()
    for word in words:
        if mistakes := _mistakes(word):
            length = Q(letters__range=(len(word) - mistakes, len(word) + mistakes))
            like |= (Q(head=word[:2]) | Q(tail=word[-2:])) & length
    if not like:
        return []
    found = SearchWord.objects.annotate(letters=Length("word")).filter(like, shop=shop)
    # Each word once: of its languages, this one.
    foreign: dict[str, bool] = {}
    for word, own in found.values_list("word", "language")[:MAX_COMPARED]:
        foreign[word] = foreign.get(word, True) and own != language
    return list(foreign.items())
