"""Builds the text that `q` searches, and the words of a search. No database access.

A text has four sections in the order of relevance: the name; the SKUs of the product and its variants; brand, tags,
attributes, and names and values of variants; the description as it is read, without markup. All are folded
(`folding.py`), white space is one space, and each section begins and ends with a space. A section ends with words that
it does not have itself: the stems of its words, ` blue mugs mug `, so that a text contains ` mug ` if one of its words
has the stem `mug`; of names and the third section also pairs of short words, so that `t shirt` has ` tshirt `. After
them follow, in the same way, the section's texts in each further language of the shop, with the stems of that language.

MARKUP and the words behind it follow where that is not all that the product's fields contain: tags, and words with
entities. The API finds them too, the shop's pages do not.
"""

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import Stemmer

from storefront.catalogue import rules
from storefront.catalogue.folding import (
    casefolded,
    folded,
    folded_word,
    has_nothing_to_fold,
    joined,
    runs,
    unaccented,
    unjoined,
)
from storefront.catalogue.translating import ATTRIBUTE, VARIANT, Texts, key
from storefront.kit.translations import Translations
from storefront.shops.languages import STEMMERS

# White space, so that no search word contains one.
SECTION_ENDS = ("\x1c", "\x1d", "\x1e")
_ENDS = (*SECTION_ENDS, "")
MARKUP = "\x1f"
# Words that have a stem, and words that spelling is corrected to.
_WORD = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{rules.MARKS}]){{2,39}}")
# Same matches in an ASCII text, three times as fast.
_ASCII_WORD = re.compile("[a-zA-Z]{3,40}")
# No `<` of a sum or a heart.
_TAG = re.compile(r"<[a-zA-Z/!?][^<>]*>")
# Tags that no space stands for, as in H<sub>2</sub>O.
_INLINE_TAG = re.compile(r"</?(?:a|b|em|font|i|mark|s|small|span|strong|su[bp]|u|wbr)(?:\s[^<>]*)?/?>", re.IGNORECASE)
# Bounded, since Python refuses numbers of thousands of digits.
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
# Where people also write a space in a word: not between two digits.
_PARTS = re.compile(r"(?<!\d)-+|-+(?!\d)|(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")
# How shoppers write words: apostrophes that belong to the word; punctuation that does not, but for inches; and
# what separates words without being one.
_POSSESSIVE = re.compile(r"(?<=[^'-])'(?=.*[^'-])|s'$")
_AROUND = re.compile(r"""^[("“„«]+|(?:[).,;:!?“”»]|(?<!\d)")+$""")
_SEPARATOR = re.compile("[-'/|—]+")
# Digits from which on a number is the same without its hyphens, as an ISBN is.
MIN_DIGITS = 8
# Parts of a word at most, and letters of the first from which on it can be the end of another word.
MAX_PARTS, MIN_PART = 4, 3
# Texts without white space whose stems are remembered, of each language. Each takes about 200 bytes.
_MAX_KNOWN = 50_000


@dataclass(frozen=True, slots=True)
class SearchWord:
    """A word of a search. `stem` is None if the word has none, or is its own. `text` begins with a space if only the
    beginnings of words match it. `others` are further ways in which a text can have it."""

    text: str
    stem: str | None = None
    others: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts any of which a product's text contains if it matches the word."""
        return (self.text, *((f" {self.stem} ",) if self.stem else ()), *self.others)


class TranslatedWord(NamedTuple):
    """A word of a product's texts in a further language of the shop."""

    word: str
    language: str


# A word that spelling can be corrected to.
Spelling = str | TranslatedWord


class SearchText(NamedTuple):
    """A product's text, and its words that spelling can be corrected to, with their accents: all but those of the
    description and SKUs."""

    text: str
    words: frozenset[Spelling]


def search_words(
    q: str, *languages: str, for_shoppers: bool = False, in_old_texts: bool = False
) -> tuple[SearchWord, ...]:
    """The words of a search (R-CAT-20). A product matches if its text contains each of them, or ` stem `. `languages`:
    that of the page or call, then that of the shop if it is another one; words are stemmed in each.
    `for_shoppers`: a word with an apostrophe, such as `men's`, does not match the end of another, such as `women's`;
    and punctuation around words does not count, nor what stands between them alone, such as the dash of `Mug – Blue`.
    `in_old_texts`: words also match texts of releases that folded case alone."""
    found, written = [], dict.fromkeys(q.split())
    for given in _as_shoppers_mean(written) if for_shoppers else written:
        text = folded_word(given)
        if not text:
            continue
        word = joined(casefolded(given))
        stems = [unaccented(stem_of(word, each)) for each in languages] if _WORD.fullmatch(word) else [text]
        whole = for_shoppers and _POSSESSIVE.search(unaccented(given))
        stem, *further = dict.fromkeys(stems)
        others = {f" {each} " for each in further if each != text}
        for each in languages:
            others.update(_in_parts(given, each))
        if in_old_texts:
            others.add(casefolded(given))
        if sum(map(str.isdigit, text)) >= MIN_DIGITS:
            others.add(text.replace("-", ""))
        found.append(
            SearchWord(f" {text}" if whole else text, None if stem == text else stem, tuple(sorted(others - {text})))
        )
    # Invisible characters alone are no text that a product has.
    return tuple(dict.fromkeys(found)) or tuple(map(SearchWord, written))


def _as_shoppers_mean(words: Iterable[str]) -> Iterable[str]:
    bare = {_AROUND.sub("", word) or word: None for word in words}
    return [word for word in bare if not _SEPARATOR.fullmatch(unaccented(word))] or bare


def _in_parts(given: str, language: str) -> Iterable[str]:
    """How a text has a word of a search if it has spaces for its hyphens, or between its numbers and letters: `long
    sleev` for `long-sleeves`, ` 12 pack` for `12pack`. The pairs of short words, which texts have, are left out."""
    parts = list(filter(None, map(folded_word, _PARTS.split(unaccented(casefolded(given))))))
    if not 1 < len(parts) <= MAX_PARTS or _pairs(parts):
        return
    stem = unaccented(stem_of(parts[-1], language)) if _WORD.fullmatch(parts[-1]) else parts[-1]
    before = " " if len(parts[0]) < MIN_PART else ""
    yield before + " ".join([*parts[:-1], stem if parts[-1].startswith(stem) else parts[-1]])


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
    translations: Translations | None = None,
    further: Sequence[str] = (),
) -> SearchText:
    """The product's text in a shop of this language with these further ones. `variants` are (name, SKU, option values)
    of those that are sold, `translations` those of the product."""
    variants = list(variants)
    skus, others = [sku], [brand or "", *_texts(tags), *_attribute_texts(attributes)]
    for variant, variant_sku, option_values in variants:
        skus.append(variant_sku)
        others += [variant, *_texts(option_values.values())]
    read = _read(description)
    named, other = _spaced(name), _joined(others)
    sections = [
        _section(named, language, with_pairs=True),
        _numbers(_joined(skus)),
        _section(other, language, with_pairs=True),
        _section(_spaced(read), language),
    ]
    words: frozenset[Spelling] = _spellings(f"{named} {other}")
    for each in further:
        if texts := (translations or {}).get(each):
            words |= _add_translated(sections, texts, each, attributes, variants)
    text = "".join([f" {section} {end}" for section, end in zip(sections, _ENDS, strict=True)])
    values = [name, *skus, *others, read]
    written = [value for value in values if "&" in value and _decoded(value) != value]
    if read != description:
        written.append(description)
    if written and (markup := sorted(set(folded(" ".join(written)).split()).difference(text.split()))):
        text += f"{MARKUP} {' '.join(markup)} "
    return SearchText(text, words)


def _add_translated(
    sections: list[str], texts: Texts, language: str, attributes: Any, variants: Iterable[tuple[str, str, Mapping]]
) -> frozenset[Spelling]:
    """Add the texts of one further language to the sections of a product. Returns its words for spelling."""
    others = []
    for attribute in attributes or ():
        if isinstance(attribute, Mapping):
            axis = str(attribute.get("name"))
            others.append(texts.get(key(ATTRIBUTE, axis), ""))
            others += [texts.get(key(ATTRIBUTE, axis, value), "") for value in _texts(attribute.get("values"))]
    for variant, _, option_values in variants:
        others.append(texts.get(key(VARIANT, variant), ""))
        others += [texts.get(key(ATTRIBUTE, axis, value), "") for axis, value in option_values.items()]
    named, other = _spaced(texts.get("name", "")), _joined(others)
    added = (
        _section(named, language, with_pairs=True),
        "",
        _section(other, language, with_pairs=True),
        _section(_spaced(_read(texts.get("description", ""))), language),
    )
    for number, section in enumerate(added):
        if section:
            sections[number] = f"{sections[number]} {section}".lstrip()
    return frozenset(TranslatedWord(word, language) for word in _spellings(f"{named} {other}"))


def _read(description: str) -> str:
    """The description as it is read, without markup."""
    return _TAG.sub(" ", _INLINE_TAG.sub("", description)) if "<" in description else description


def _decoded(text: str) -> str:
    return _ENTITY.sub(lambda found: html.unescape(found[0]), text) if "&" in text else text


def _words(text: str) -> list[str]:
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def _spellings(text: str) -> frozenset[str]:
    """The words of a casefolded text, also as if they had no hyphens and apostrophes."""
    words = _words(text)
    return frozenset(words if has_nothing_to_fold(text) else [*words, *_words(joined(text))])


def stem_of(word: str, language: str) -> str:
    """The stem of a folded word; the word itself in a language without a stemmer."""
    stemmer = STEMMERS.get(language)
    # A stemmer of its own for each word: it has a state, and several threads stem at once.
    return Stemmer.Stemmer(stemmer, maxCacheSize=0).stemWord(word) if stemmer else word


def _section(text: str, language: str, *, with_pairs: bool = False) -> str:
    """The casefolded text folded, and what else it is found by."""
    if not text:
        return text
    section = unjoined(unaccented(text))
    words = section.split(" ")
    tokens = set(words)
    stems = _stems_of_language(language).__getitem__
    # Without a loop: this is a sixth of the time that reading a product takes.
    missing = set().union(*map(stems, tokens if section is text else text.split(" ")))
    if with_pairs and (pairs := _pairs(words)):
        missing.update(pairs, *map(stems, pairs))
    missing -= tokens
    return " ".join([section, *sorted(missing)]) if missing else section


def _numbers(text: str) -> str:
    """Casefolded SKUs folded, and without their hyphens. They have no stems."""
    if has_nothing_to_fold(text):
        return text
    plain = unaccented(text)
    numbers = unjoined(plain)
    tokens = numbers.split()
    others = {token.replace("-", "") for token in tokens} | runs(plain)
    return " ".join([numbers, *sorted(others.difference(tokens, [""]))])


def _pairs(words: list[str]) -> set[str]:
    """Pairs of words that people also write as one: one of them is a letter, or both are short."""
    lengths = list(map(len, words))
    return {
        first + second
        for first, second, long, other in zip(words, words[1:], lengths, lengths[1:], strict=False)
        if (long == 1 or other == 1 or (long < 4 and other < 4)) and first.isalpha() and second.isalpha()
    }


def _stems(token: str, language: str) -> tuple[str, ...]:
    """What a text without white space is found by, but for the text itself, folded: stems with and without regard to
    accents, as searches may have none; hyphens and apostrophes that folding drops."""
    if has_nothing_to_fold(token):
        return tuple({stem_of(word, language) for word in _words(token)} - {token})
    words = {*_words(token), *_words(joined(token))}
    found = {unaccented(stem_of(word, language)) for word in words}
    if not token.isascii():
        found.update([unaccented(stem_of(unaccented(word), language)) for word in words])
    return tuple((found | runs(unaccented(token))) - {unjoined(unaccented(token))})


class _KnownStems(dict[str, tuple[str, ...]]):
    """The stems of texts that were read before, since finding and stemming the words takes several times as long."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self.language = language

    def __missing__(self, token: str) -> tuple[str, ...]:
        stems = _stems(token, self.language)
        # There are many long numbers, and they have no stems.
        if stems or token.isalpha() or len(token) < 4:
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
    """The values casefolded in one line, each once, in an order that does not depend on how they were read."""
    found = {_spaced(value) for value in values if value}
    return " ".join(sorted(found)) if len(found) > 1 else "".join(found)


def _spaced(text: str) -> str:
    return " ".join(casefolded(_decoded(text)).split())


def _texts(values: Any) -> list[str]:
    return [value for value in values or () if isinstance(value, str)]


def _attribute_texts(attributes: Any) -> list[str]:
    return [
        text
        for attribute in attributes or ()
        if isinstance(attribute, Mapping)
        for text in _texts([attribute.get("name"), *(attribute.get("values") or ())])
    ]
