"""What the catalogue decides without database or clock: slugs, search words, what values may look like."""

import re
import unicodedata
from collections.abc import Container
from datetime import datetime
from typing import Any

from django.utils.text import slugify

from storefront.catalogue.models import Product
from storefront.kit.ids import LARGEST_ID as LARGEST_ID
from storefront.kit.ids import as_id as as_id

LONGEST_SLUG = 255

# A slug is one segment of a path. Letters of any script are welcome: imported shops have them.
_SLUG = re.compile(r"[^\s/\\?#%\x00-\x1f\x7f]+\Z")
_LIKE_MARKS = re.compile(r"[%_\\]")


def slug_of(name: str, *, fallback: str = "item") -> str:
    """A slug made of a name: ASCII where the name has any, never empty, never digits alone."""
    slug = slugify(name)[:200].strip("-_") or slugify(name, allow_unicode=True)[:200].strip("-_") or fallback
    # Digits alone would be taken for an id (decisions: Single read).
    return f"{fallback}-{slug}" if slug.isdigit() else slug


def is_slug(text: str) -> bool:
    """Whether the text can stand in a URL as a slug."""
    return len(text) <= LONGEST_SLUG and text not in (".", "..") and _SLUG.match(text) is not None


def sort_name(name: str) -> str:
    """The name as it sorts: without case and accents, so that É stands beside e on every database."""
    plain = "".join(mark for mark in unicodedata.normalize("NFKD", name) if not unicodedata.combining(mark))
    return plain.casefold()[:500]


def search_text(name: str, description: str, sku: str) -> str:
    """What `q` looks through, one a line; words have no white space, so none matches across lines."""
    return _folded("\n".join([name, description, sku]))


def search_words(q: str) -> tuple[str, ...]:
    """The words of a search, each of which must occur (decisions: List parameters)."""
    return tuple(dict.fromkeys(_folded(q).split()))


def like_pattern(word: str) -> str:
    r"""A LIKE pattern for "contains this word", with `\` as the escape character."""
    return "%" + _LIKE_MARKS.sub(r"\\\g<0>", word) + "%"


def published_on(product: Product, now: datetime) -> datetime | None:
    """When the product was first published, or will be; stays once it has been."""
    if product.published_on is not None and product.published_on <= now:
        return product.published_on
    if product.status != Product.Status.ACTIVE:
        return None
    return max(now, product.publish_at or now)


def json_errors(values: dict[str, Any]) -> dict[str, list[str]]:
    """What is wrong with the JSON members among these, by field."""
    return {
        field: [f"Expected {_JSON_SHAPES[field][1]}."]
        for field, value in values.items()
        if field in _JSON_SHAPES and not _JSON_SHAPES[field][0](value)
    }


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _is_text_by_name(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for pair in value.items() for text in pair)


def _is_translations(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and all(_is_text_by_name(texts) for texts in value.values()))


def _is_attributes(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict) and isinstance(item.get("name"), str) and _is_texts(item.get("values", []))
        for item in value
    )


_JSON_SHAPES = {
    "translations": (_is_translations, 'an object such as {"de": {"name": "Becher"}}, or null'),
    "tags": (_is_texts, 'a list of texts such as ["new"]'),
    "attributes": (_is_attributes, 'a list such as [{"name": "Colour", "values": ["Blue"], "variation": true}]'),
    "option_values": (_is_text_by_name, 'an object such as {"Colour": "Blue"}'),
}


def counts_stock(given: Container[str]) -> dict[str, bool]:
    """Whether new goods have their stock counted, where nobody said: only if somebody said how much there is.

    A product that is made of a name and a price can then be bought.
    """
    return {} if "track_inventory" in given else {"track_inventory": "stock_qty" in given}


def full_name(product: str, variant: str | None) -> str:
    """What goods are called where they stand alone: `Mug – Blue`."""
    if not variant:
        return product
    return variant if variant.startswith(product) else f"{product} – {variant}"
