"""The nearest spelling of a search that finds nothing.

Words to correct to come from the shop's products (`SearchWord`). A correction is told only if a product that the shop
lists matches it, so that words of drafts and of hidden products stay unknown.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from heapq import nsmallest
from itertools import product

from django.db.models import Q
from django.db.models.functions import Length
from rapidfuzz import process
from rapidfuzz.distance import OSA, JaroWinkler

from storefront.catalogue.models import SearchWord
from storefront.catalogue.search_texts import search_words
from storefront.listing import queries
from storefront.listing.queries import ProductFilters
from storefront.shops.models import Shop

# Searches with more words are not corrected. Of a word, the nearest few are tried, and of a search a few corrections.
MOST_WORDS, MOST_NEAR, MOST_TRIED = 4, 3, 4
# Words with fewer letters are too near to too many others.
SHORTEST = 3
# From this number of letters on, two mistakes are corrected, else one.
TWO_MISTAKES = 6
# How many words with the same beginning or end are compared at most.
MOST_COMPARED = 20_000


def nearest_spelling(shop: Shop, q: str, *, now: datetime) -> str | None:
    """The words that `q` probably means, such as `blue blanket` for `blue blankit`. None if there are none, or if the
    shop lists a product that matches `q` as it is."""
    words = [word.text for word in search_words(q, shop.language)]
    if not 0 < len(words) <= MOST_WORDS or "\0" in q or _finds(shop, q, now):
        return None
    near = [_nearest(shop, word) for word in words]
    corrections = nsmallest(MOST_TRIED + 1, product(*near), key=lambda chosen: sum(cost for cost, _ in chosen))
    for chosen in corrections:
        corrected = [word for _, word in chosen]
        if corrected != words and _finds(shop, " ".join(corrected), now):
            return " ".join(corrected)
    return None


def correct(shop: Shop, filters: ProductFilters, *, now: datetime) -> ProductFilters | None:
    """The same filters with the nearest spelling of their words; None if there is none."""
    spelling = nearest_spelling(shop, filters.q, now=now)
    return None if spelling is None else replace(filters, q=spelling)


def _finds(shop: Shop, q: str, now: datetime) -> bool:
    return queries.product_page(shop, ProductFilters(q=q), page=1, per_page=1, now=now).total > 0


def _nearest(shop: Shop, word: str) -> list[tuple[float, str]]:
    """The nearest words of the shop's products, each with how far it is: the number of mistakes, and below one how much
    the beginnings differ. The word itself is among them, so that other words of the search can be the wrong ones."""
    mistakes = 2 if len(word) >= TWO_MISTAKES else 1
    known = _similar(shop, word, mistakes) if len(word) >= SHORTEST else ()
    found = process.extract(word, known, scorer=OSA.distance, score_cutoff=mistakes, limit=None)
    costs = ((distance + JaroWinkler.distance(word, other), other) for other, distance, _ in found if other != word)
    # As far as a mistake more than any: it is tried as long as another word is corrected, and alone it finds nothing.
    own = 0.0 if word in known else mistakes + 2.0
    return [(own, word), *nsmallest(MOST_NEAR, costs)]


def _similar(shop: Shop, word: str, mistakes: int) -> Iterable[str]:
    lengths = (len(word) - mistakes, len(word) + mistakes)
    found = SearchWord.objects.filter(Q(head=word[:2]) | Q(tail=word[-2:]), shop=shop)
    found = found.annotate(letters=Length("word")).filter(letters__range=lengths)
    return list(found.values_list("word", flat=True)[:MOST_COMPARED])
