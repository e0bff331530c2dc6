"""Builds the text that `q` searches, and the words of a search. No database access.

A text has four sections in the order of relevance: the name; the SKUs of the product and its variants; brand, tags,
attributes, and names and values of variants; the description. Case is folded, white space is one space, and each
section begins and ends with a space. A section ends with the stems of its words that are not words of it themselves:
` blue mugs mug `. So a text contains ` mug ` if one of its words has the stem `mug`.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import Stemmer

from storefront.catalogue import rules
from storefront.shops.languages import STEMMERS

# White space, so that no search word contains one.
SECTION_ENDS = ("\x1c", "\x1d", "\x1e")
_ENDS = (*SECTION_ENDS, "")
# Words that have a stem, and words that spelling is corrected to.
_WORD = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{rules.MARKS}]){{2,39}}")
# Same matches in an ASCII text, three times as fast.
_ASCII_WORD = re.compile("[a-zA-Z]{3,40}")
_TAG = re.compile(r"<[^<>]*>")
# Texts without white space whose stems are remembered, of each language. Each takes about 200 bytes.
_MAX_KNOWN = 50_000


@dataclass(frozen=True, slots=True)
class SearchWord:
    """A word of a search. `stem` is None if the word has none, or is its own."""

    text: str
    stem: str | None = None


class SearchText(NamedTuple):
    """A product's text, and its words that spelling can be corrected to: all but those of the description and SKUs."""

    text: str
    words: frozenset[str]


def search_words(q: str, language: str) -> tuple[SearchWord, ...]:
    """The words of a search (R-CAT-20). A product matches if its text contains each of them, or ` stem `."""
    found = []
    for text in dict.fromkeys(_folded(q).split()):
        stem = stem_of(text, language) if _WORD.fullmatch(text) else text
        found.append(SearchWord(text, None if stem == text else stem))
    return tuple(found)


def search_text(
    *,
    language: str,
    name: str,
    sku: str = "",
    description: str = "",
    brand: str | None = None,
    tags: Any = (),
    attributes: Any = (),
    variants: Iterable[tuple[str, str, Mapping[str, Any]]] = (),
) -> SearchText:
    """The product's text in a shop of this language. `variants` are (name, SKU, option values) of those that are
    sold."""
    skus, others = [sku], [brand or "", *_texts(tags), *_attribute_texts(attributes)]
    for variant, variant_sku, option_values in variants:
        skus.append(variant_sku)
        others += [variant, *_texts(option_values.values())]
    named, other, prose = _spaced(name), _joined(others), _spaced(description)
    # HTML tags are not words of the text.
    read = _TAG.sub(" ", prose) if "<" in prose else prose
    sections = (
        _with_stems(named, named, language),
        _joined(skus),
        _with_stems(other, other, language),
        _with_stems(prose, read, language),
    )
    text = "".join([f" {section} {end}" for section, end in zip(sections, _ENDS, strict=True)])
    return SearchText(text, frozenset(_words(f"{named} {other}")))


def _words(text: str) -> list[str]:
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def stem_of(word: str, language: str) -> str:
    """The stem of a folded word; the word itself in a language without a stemmer."""
    stemmer = STEMMERS.get(language)
    # A stemmer of its own for each word: it has a state, and several threads stem at once.
    return Stemmer.Stemmer(stemmer, maxCacheSize=0).stemWord(word) if stemmer else word


def _with_stems(section: str, read: str, language: str) -> str:
    """The section with the stems of the words in `read`, which is the section without HTML tags."""
    known, tokens = _stems_of_language(language), set(section.split(" "))
    # Without a loop: this is a sixth of the time that reading a product takes.
    missing = set().union(*map(known.__getitem__, tokens if read is section else set(read.split()))) - tokens
    return " ".join([section, *sorted(missing)]) if missing else section


def _stems(token: str, language: str) -> tuple[str, ...]:
    """The stems of the words in a text without white space, but for the text itself."""
    found = {stem_of(word, language) for word in _words(token)}
    return tuple(found - {token})


class _KnownStems(dict[str, tuple[str, ...]]):
    """The stems of texts that were read before, since finding and stemming the words takes several times as long."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self.language = language

    def __missing__(self, token: str) -> tuple[str, ...]:
        stems = _stems(token, self.language)
        # There are many numbers, and they have no stems.
        if stems or token.isalpha():
            self[token] = stems
        return stems


_known_stems = cache(_KnownStems)


def _stems_of_language(language: str) -> _KnownStems:
    known = _known_stems(language)
    if len(known) > _MAX_KNOWN:
        # Cleared as a whole: a larger shop needs most of them again anyway, in any order.
        known.clear()
    return known


def _joined(values: list[str]) -> str:
    """The values in one line, each once, in an order that does not depend on how they were read."""
    found = {_spaced(value) for value in values if value}
    return " ".join(sorted(found)) if len(found) > 1 else "".join(found)


def _spaced(text: str) -> str:
    return " ".join(_folded(text).split())


def _texts(values: Any) -> list[str]:
    return [value for value in values or () if isinstance(value, str)]


def _attribute_texts(attributes: Any) -> list[str]:
    return [
        text
        for attribute in attributes or ()
        if isinstance(attribute, Mapping)
        for text in _texts([attribute.get("name"), *(attribute.get("values") or ())])
    ]


def _folded(text: str) -> str:
    # Same result for ASCII, three times as fast.
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).casefold()
