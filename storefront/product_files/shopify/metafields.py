"""Shopify's metafields of products, which are attributes here.

A column's header is `Label (product.metafields.namespace.key)`, or `Metafield: namespace.key [type]` in files of
Matrixify. The label is the attribute's name; its member `metafield` keeps the key. An attribute without that member has
a key of our own namespace, so that a file that was written here brings it back as it was.
"""

import json
import re
from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

import orjson
from django.utils.translation import gettext as _

from storefront.catalogue import parsing, rules
from storefront.catalogue.parsing import InvalidValue, quoted
from storefront.kit.files.spreadsheets import unescape_formulas
from storefront.product_files.csv_reading import clean_value
from storefront.product_files.parsed_products import ParsedMetafield

Attributes = list[dict[str, Any]]

COLUMN = "metafield "
_OURS = "storefront."
# Namespaces of apps whose values are not for shoppers.
_INTERNAL = ("mm-google-shopping.",)
_MATRIXIFY = re.compile(r"(variant )?metafield: ([^\[\]]+?)(?: \[([a-z_.]+)\])?\Z", re.IGNORECASE)
_TEXTS = {"", "string", "single_line_text_field", "multi_line_text_field", "date", "date_time", "url", "color", "id"}
_NUMBERS = {"integer", "number_integer", "number_decimal"}
_MEASURES = {"dimension": "unit", "weight": "unit", "volume": "unit", "money": "currency_code"}
_LIST = "list."
REFERENCE = "gid://"
_BETWEEN = "; "


@dataclass(frozen=True, slots=True)
class Metafield:
    """A column of a metafield: its key with the namespace, its label, and its type as far as the header states it."""

    key: str
    name: str
    type: str = ""
    is_variants: bool = False

    @property
    def column(self) -> str:
        return f"{COLUMN}{self.key} {self.name}"

    @property
    def is_imported(self) -> bool:
        """Metafields of variants, references, formatted texts and JSON have no place among attributes."""
        types = _TEXTS | _NUMBERS | _MEASURES.keys() | {"boolean"}
        return not self.is_variants and self.type.removeprefix(_LIST) in types and not self.key.startswith(_INTERNAL)


@lru_cache(maxsize=10_000)
def metafield_of(header: str) -> Metafield | None:
    """The metafield that this header is of, if it is of any."""
    label, bracket, place = header.removesuffix(")").rpartition("(")
    owner, dot, key = place.partition(".metafields.")
    if bracket and dot and header.endswith(")") and "." in key and owner.lower() in ("product", "variant"):
        (label,) = unescape_formulas([label.strip()])
        return Metafield(key, label or _label(key), is_variants=owner.lower() == "variant")
    if (found := _MATRIXIFY.match(header)) and "." in found[2]:
        return Metafield(found[2], _label(found[2]), (found[3] or "").lower(), bool(found[1]))
    return None


def _label(key: str) -> str:
    words = re.sub(r"[_-]+", " ", key.partition(".")[2]).strip()
    return words[:1].upper() + words[1:] or key


def renamed(found: Iterable[Metafield]) -> list[Metafield]:
    """The metafields, with the key in the names of those whose label another one had before."""
    taken: set[str] = set()
    made: list[Metafield] = []
    for each in found:
        made.append(replace(each, name=_free_name(each.name, each.key, taken)))
        taken.add(each.name.casefold())
    return made


def _free_name(name: str, key: str, taken: Container[str]) -> str:
    """Names of our own files are those of attributes that stood side by side."""
    return f"{name} ({key})" if name.casefold() in taken and not key.startswith(_OURS) else name


def key_of(attribute: dict[str, Any]) -> str:
    """The key of the attribute's metafield."""
    stated = attribute.get("metafield")
    return stated if isinstance(stated, str) and "." in stated else own_key(attribute["name"])


def own_key(name: str) -> str:
    return _OURS + rules.slug_of(name, fallback="attribute")


def header_of(attribute: dict[str, Any]) -> str:
    return f"{attribute['name']} (product.metafields.{key_of(attribute)})"


def without_variations(attributes: Attributes) -> Attributes:
    """The attributes that are metafields: variants are chosen by the others, which are options."""
    return [each for each in attributes if not each.get("variation")]


def cell_of(values: list[str]) -> str:
    """The values as one cell; as a list of JSON where the plain one would be read as other values."""
    text = _BETWEEN.join(values)
    return text if text and clean_value(text) == text and values_of(text) == values else orjson.dumps(values).decode()


def values_of(cell: str, type: str = "") -> list[str] | None:
    """The values in a cell; None if they refer to something in the other shop, or are data of an app and no text.
    Raises InvalidValue."""
    items = _items(cell, type)
    if not type and any(isinstance(item, dict) or _is_object(item) for item in items):
        return None
    kind = type.removeprefix(_LIST)
    values = [parsing.check_text(_value(item, kind)) for item in items]
    return None if any(value.startswith(REFERENCE) for value in values) else values


def _items(cell: str, type: str) -> list[Any]:
    if cell.startswith("["):
        # Numbers keep their digits.
        with suppress(ValueError, RecursionError):
            found = json.loads(cell, parse_float=str, parse_int=str)
            if isinstance(found, list) and not any(isinstance(item, list) or item is None for item in found):
                return found
    if type and not type.startswith(_LIST):
        return [cell]
    return [item.strip() for item in cell.split(_BETWEEN) if item.strip()]


def _is_object(text: Any) -> bool:
    if not (isinstance(text, str) and text.startswith("{") and text.endswith("}")):
        return False
    with suppress(ValueError, RecursionError):
        return isinstance(json.loads(text), dict)
    return False


def _value(item: Any, kind: str) -> str:
    if kind in _MEASURES:
        return _measure(item, _MEASURES[kind])
    if isinstance(item, dict):
        return orjson.dumps(item).decode()
    text = str(item).lower() if isinstance(item, bool) else str(item)
    if kind == "boolean" and text.lower() not in ("true", "false"):
        raise InvalidValue(_("expected true or false, found %(text)s") % {"text": quoted(text)})
    if kind in _NUMBERS:
        try:
            Decimal(text)
        except InvalidOperation:
            raise InvalidValue(_("expected a number, found %(text)s") % {"text": quoted(text)}) from None
    return text


def _measure(item: Any, unit: str) -> str:
    """A number with its unit, which is JSON in some files: `{"value": 10, "unit": "cm"}` is `10 cm`."""
    if isinstance(item, str) and item.startswith("{"):
        with suppress(ValueError, RecursionError):
            item = json.loads(item, parse_float=str, parse_int=str)
    if isinstance(item, dict):
        return f"{item.get('value', item.get('amount', ''))} {item.get(unit, '')}".strip()
    return str(item)


def merged(stored: Attributes, found: Sequence[ParsedMetafield]) -> Attributes:
    """The stored attributes with those of a file's columns: each takes the place of the one with its key, or is new.
    A blank one is removed; what the file has no column for stays. No two get the same name."""
    keys = {each.key for each in found}
    waiting = [each for each in found if each.values is not None]
    made: Attributes = []
    taken = {each["name"].casefold() for each in stored if each.get("variation") or key_of(each) not in keys}
    for attribute in stored:
        key = key_of(attribute)
        if attribute.get("variation") or key not in keys:
            made.append(attribute)
        elif same := _of_key(waiting, key, attribute["name"]):
            waiting.remove(same)
            made.append(attribute | _attribute(same, taken))
    return [*made, *(_attribute(each, taken) for each in waiting)]


def _of_key(waiting: Iterable[ParsedMetafield], key: str, name: str) -> ParsedMetafield | None:
    same = [each for each in waiting if each.key == key]
    return next((each for each in same if each.name == name), same[0] if same else None)


def _attribute(found: ParsedMetafield, taken: set[str]) -> dict[str, Any]:
    name = _free_name(found.name, found.key, taken)
    taken.add(name.casefold())
    own = {} if found.key.startswith(_OURS) else {"metafield": found.key}
    return {"name": name, "values": found.values, **own}
