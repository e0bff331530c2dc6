"""Rules of the catalogue that need neither database nor clock: slugs, LIKE patterns, the shape of JSON values."""

import re
import unicodedata
from collections.abc import Container, Mapping, Sized
from datetime import datetime
from typing import Any

import orjson
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.catalogue.models import Product, Variant
from storefront.kit.ids import MAX_ID as MAX_ID
from storefront.kit.ids import as_id as as_id

MAX_SLUG_LENGTH = 255
# Maximum bytes of a JSON column.
MAX_JSON_BYTES = 100_000
# Maximum entries of a product's lists, and of an option's values.
MAX_ENTRIES = {
    "categories": 1000,
    "media": 500,
    "variants": 2000,
    "options": 100,
    "values": 1000,
    "bundle_items": 200,
}
# Maximum levels of a category's path.
MAX_LEVELS = 30

# A slug is one segment of a path. Letters of all scripts are allowed: imported shops have them.
_SLUG = re.compile(r"[^\s/\\?#%\x00-\x1f\x7f]+\Z")
# Marks on letters, which `re` takes for no part of a word: Hindi and Tamil write vowels with them. Marks on symbols, as
# in emoji, are not among them.
MARKS = "".join(
    mark
    for mark in map(chr, (*range(0x300, 0x20D0), *range(0x2100, 0xFE00), *range(0xFE10, 0x10000)))
    if unicodedata.category(mark)[0] == "M"
)
_NOT_IN_SLUGS, _BETWEEN_WORDS = re.compile(rf"[^\w\s{MARKS}-]"), re.compile(r"[-\s]+")
# Latin letters that Unicode does not take apart into a letter of ASCII and a mark.
LATIN = {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ŧ": "t", "ŋ": "n"}
_IN_ASCII = str.maketrans(
    LATIN | {letter.upper(): text for letter, text in LATIN.items()} | {"ß": "ss", "ẞ": "ss", "ı": "i"}
)
_LIKE_MARKS = re.compile(r"[%_\\]")


def slug_of(name: str, *, fallback: str = "item") -> str:
    """A slug made from a name, never empty, never digits alone. In ASCII if that loses no letter (`ss` for `ß`, `o` for
    `ø`), else in the name's own script."""
    if not name.isascii():
        name = name.translate(_IN_ASCII)
        if any(letter.isalnum() and not letter.isascii() for letter in unicodedata.normalize("NFKD", name)):
            kept = _NOT_IN_SLUGS.sub("", unicodedata.normalize("NFKC", name).lower())
            return _or_fallback(_BETWEEN_WORDS.sub("-", kept), fallback)
    return _or_fallback(slugify(name), fallback)


def _or_fallback(slug: str, fallback: str) -> str:
    slug = slug[:200].strip("-_") or fallback
    # Digits alone would be read as an id (R-CAT-27).
    return f"{fallback}-{slug}" if slug.isdigit() else slug


def is_slug(text: str) -> bool:
    """Returns True if the text can be a slug in a URL."""
    return len(text) <= MAX_SLUG_LENGTH and text not in (".", "..") and _SLUG.match(text) is not None


def sort_name(name: str) -> str:
    """The name for sorting, without case and accents, so that É sorts beside e on every database."""
    if name.isascii():
        # Same result for ASCII, ten times as fast.
        return name.lower()[:500]
    plain = "".join(mark for mark in unicodedata.normalize("NFKD", name) if not unicodedata.combining(mark))
    return plain.casefold()[:500]


def like_pattern(word: str) -> str:
    r"""A LIKE pattern for "contains this word", with `\` as the escape character."""
    return "%" + _LIKE_MARKS.sub(r"\\\g<0>", word) + "%"


def published_on(product: Product, now: datetime) -> datetime | None:
    """The time of first publication, past or future. Does not change after that; None while the product is not
    active."""
    if product.published_on is not None and product.published_on <= now:
        return product.published_on
    if product.status != Product.Status.ACTIVE:
        return None
    return max(now, product.publish_at or now)


def json_errors(values: dict[str, Any]) -> dict[str, list[str]]:
    """Problems of the JSON fields among these values, by field."""
    found = {}
    for field, value in values.items():
        if problem := json_problem(field, value):
            found[field] = [f"{problem[0].upper()}{problem[1:]}."]
    return found


def json_problem(field: str, value: Any) -> str:
    """The problem of a JSON field, as a phrase that follows its name; empty if there is none."""
    if field not in _JSON_SHAPES:
        return ""
    fits, expected = _JSON_SHAPES[field]
    if not fits(value):
        return str(expected)
    if value and len(orjson.dumps(value)) > MAX_JSON_BYTES:
        return _("expected at most %(count)s bytes of JSON") % {"count": f"{MAX_JSON_BYTES:,}"}
    return ""


def too_many_entries(count: int, most: int) -> str:
    """The phrase for the error message about a list with more entries than are allowed."""
    return _("has %(count)s entries; at most %(most)s are allowed") % {"count": f"{count:,}", "most": f"{most:,}"}


def too_many(lists: Mapping[str, Sized | None]) -> dict[str, str]:
    """The lists with more than MAX_ENTRIES, by name, each with a phrase for the error message."""
    return {
        name: too_many_entries(len(entries), MAX_ENTRIES[name])
        for name, entries in lists.items()
        if entries is not None and len(entries) > MAX_ENTRIES[name]
    }


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _is_text_by_name(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for pair in value.items() for text in pair)


def _is_translations(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and all(_is_text_by_name(texts) for texts in value.values()))


def _is_attributes(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict)
        and isinstance(item.get("name"), str)
        and _is_texts(item.get("values", []))
        # Other members are allowed if they are neither objects nor lists.
        and not any(isinstance(other, dict | list) for name, other in item.items() if name != "values")
        for item in value
    )


_TEXT_BY_NAME = {"type": "object", "additionalProperties": {"type": "string"}}
_TEXTS = {"type": "array", "items": {"type": "string"}}
# The shapes of JSON fields in the API's description.
JSON_SCHEMAS: dict[str, dict[str, Any]] = {
    "translations": {"type": "object", "additionalProperties": _TEXT_BY_NAME},
    "tags": _TEXTS,
    "attributes": {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "values": _TEXTS, "variation": {"type": "boolean"}},
        },
    },
    "option_values": _TEXT_BY_NAME,
}
_JSON_SHAPES = {
    "translations": (_is_translations, _lazy('expected an object such as {"de": {"name": "Becher"}}, or null')),
    "tags": (_is_texts, _lazy('expected a list of texts such as ["new"]')),
    "attributes": (
        _is_attributes,
        _lazy('expected a list such as [{"name": "Colour", "values": ["Blue"], "variation": true}]'),
    ),
    "option_values": (_is_text_by_name, _lazy('expected an object such as {"Colour": "Blue"}')),
}


def stock_tracking_default(given: Container[str]) -> dict[str, bool]:
    """The default of `track_inventory` for a new product or variant: true only if `stock_qty` is given.

    So a product that is created with a name and a price can be bought.
    """
    return {} if "track_inventory" in given else {"track_inventory": "stock_qty" in given}


def full_name(product: str, variant: str | None) -> str:
    """The name of a product or variant outside its product's page: `Mug – Blue`."""
    if not variant:
        return product
    return variant if variant.startswith(product) else f"{product} – {variant}"


def falls_below_zero(row: Product | Variant, before: int) -> bool:
    """Returns True if the row's stock falls below zero, compared with `before`, although it is tracked and not
    backordered.

    A stock that is below zero already can stay so: the pieces are owed, also when backorders have ended."""
    return row.stock_qty < min(before, 0) and row.track_inventory and not row.allow_backorders


def bundle_item_problem(product: Product) -> str:
    """The reason why a bundle cannot contain this product, as a sentence; empty if it can."""
    if product.is_gift_card:
        return _("A bundle cannot contain a gift card.")
    return _("A bundle cannot contain another bundle.") if product.type == Product.Type.BUNDLE else ""
