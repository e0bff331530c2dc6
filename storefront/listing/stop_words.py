"""Words of a language that say nothing about what a shopper looks for, such as `with` and `the`.

The lists of the Snowball project have words that can be a product's own, such as the English `down` of a down jacket.
So a search leaves them out only where it finds nothing with them.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from storefront.catalogue.folding import folded_word
from storefront.shops.languages import STEMMERS

_FOLDER = Path(__file__).parent / "stop_words"


def without_stop_words(q: str, languages: Iterable[str]) -> str:
    """The words of a search that are no stop words of these languages. `q` itself if none is left, or all are."""
    stop_words = frozenset().union(*map(_stop_words, languages))
    words = q.split()
    left = [word for word in words if folded_word(word) not in stop_words]
    return " ".join(left) if left and len(left) < len(words) else q


@cache
def _stop_words(language: str) -> frozenset[str]:
    """The language's stop words as words of a search are compared; none if it has no list."""
    path = _FOLDER / f"{language}.txt"
    # The code of a language, never a path.
    if language not in STEMMERS or not path.exists():
        return frozenset()
    return frozenset(map(folded_word, path.read_text(encoding="utf-8").split()))
