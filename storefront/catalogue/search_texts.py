"""The text that `q` searches, and the words of a search. Neither needs the database.

A text has four sections in the order of relevance: the name; the SKUs of the product and its variants; brand, tags,
attributes, and names and values of variants; the description. Case is folded, white space is one space, and each
section begins and ends with a space. A section ends with the stems of its words that are not words of it themselves:
` blue mugs mug `. So a text contains ` mug ` if one of its words has the stem `mug`.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import snowballstemmer

from storefront.shops.languages import STEMMERS

# White space, so that no search word contains one.
SECTION_ENDS = ("\x1c", "\x1d", "\x1e")
# Words that have a stem, and words that spelling is corrected to.
_WORD = re.compile(r"[^\W\d_]{3,40}")
_TAG = re.compile(r"<[^<>]*>")
# Stemming a word takes 15 microseconds. A word and its stem take about 250 bytes.
_STEMS = 60_000


@dataclass(frozen=True, slots=True)
class SearchWord:
    """A word of a search. `stem` is None if the word has none, or is its own."""

    text: str
    stem: str | None = None


@dataclass(frozen=True, slots=True)
class SearchText:
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
    name, others_text = _spaced([name]), _spaced(others)
    named, described = _words(name), _words(others_text)
    # The text of HTML, since tags are not words of it.
    prose = _spaced([description])
    sections = (
        _with_stems(name, named, language),
        _spaced(skus),
        _with_stems(others_text, described, language),
        _with_stems(prose, _words(_TAG.sub(" ", prose)), language),
    )
    text = "".join(f" {section} {end}" for section, end in zip(sections, (*SECTION_ENDS, ""), strict=True))
    return SearchText(text, frozenset(named | described))


@lru_cache(_STEMS)
def stem_of(word: str, language: str) -> str:
    """The stem of a folded word; the word itself in a language without a stemmer."""
    stemmer = STEMMERS.get(language)
    # A stemmer of its own for each word: it has a state, and several threads stem at once.
    return snowballstemmer.stemmer(stemmer).stemWord(word) if stemmer else word


def _with_stems(section: str, words: set[str], language: str) -> str:
    missing = {stem_of(word, language) for word in words}.difference(section.split(" "))
    return " ".join([section, *sorted(missing)]) if missing else section


def _words(section: str) -> set[str]:
    return set(_WORD.findall(section))


def _spaced(values: Iterable[str]) -> str:
    """The values in one line, each once, in an order that does not depend on how they were read."""
    return " ".join(" ".join(sorted({_folded(value) for value in values if value})).split())


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
    return unicodedata.normalize("NFC", text).casefold()
