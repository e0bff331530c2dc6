"""Columns with a product's texts in further languages, such as `name:de`, which files of every CSV format can have.

A blank cell removes the text. Texts of other languages, and of columns that the file does not have, stay.
"""

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from storefront.catalogue import parsing, rules
from storefront.catalogue.models import Product
from storefront.product_files import parsers
from storefront.product_files.parsed_products import ParsedProduct
from storefront.product_files.parsers import LIMITS
from storefront.product_files.rows import ColumnIndex, RowReader
from storefront.shops.languages import CHOICES, OTHER

PARSERS: dict[str, parsing.Parse] = {
    "name": parsers.decoded(LIMITS[Product]["name"]),
    "slug": lambda value: parsers.slug(value) if value else "",
    "description": parsing.html,
    "short_description": parsing.html,
    "meta_title": parsers.text(LIMITS[Product]["meta_title"]),
    "meta_description": parsing.html,
}
CODES = {code for code, _name in CHOICES} - {OTHER}
_HEADER = re.compile(rf"({'|'.join(PARSERS)}):([a-z]+)")

NOT_HELD = "Translations of choices, details and pictures, or into languages that the shop does not have"

Texts = Mapping[str, Mapping[str, str]]


def column_of(header: str) -> str | None:
    """The column of a header such as `name:de`: the header in lower case; None for another."""
    plain = header.strip().lower()
    found = _HEADER.fullmatch(plain)
    return plain if found and found[2] in CODES else None


def headers(codes: list[str]) -> list[str]:
    """The headers of all texts in these languages."""
    return [f"{name}:{code}" for code in codes for name in PARSERS]


def cells(product: Product, codes: list[str]) -> dict[str, str]:
    """The product's texts in these languages, by header."""
    stored = product.translations or {}
    return {f"{name}:{code}": (stored.get(code) or {}).get(name, "") for code in codes for name in PARSERS}


def holds(product: Product, codes: list[str]) -> bool:
    """Returns True if the columns of these languages have all of the product's translations."""
    stored = product.translations or {}
    return all(code in codes and PARSERS.keys() >= texts.keys() for code, texts in stored.items())


class TranslatedColumns:
    """The columns of one file."""

    def __init__(self, columns: ColumnIndex) -> None:
        found = [name for name in columns.header if column_of(name) == name]
        self.names = [(column, *column.split(":")) for column in found]

    def read(self, row: RowReader, parsed: ParsedProduct) -> None:
        texts: dict[str, dict[str, str]] = {}
        for column, name, code in self.names:
            texts.setdefault(code, {})[name] = row.read(column, PARSERS[name], "")
        if texts:
            state(parsed, texts)
            for problem in rules.json_errors({"translations": texts}).get("translations", ()):
                row.refuse(self.names[0][0], _("and the other translations: %(problem)s") % {"problem": problem})


def state(parsed: ParsedProduct, texts: Texts) -> None:
    """Make these texts some that the file states of the product, beside others."""
    stated: dict[str, Any] = dict(parsed.fields.get("translations") or {})
    for code, fields in texts.items():
        stated[code] = {**stated.get(code, {}), **fields}
    parsed.fields["translations"], parsed.merges_translations = stated, True
