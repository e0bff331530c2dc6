"""Titles, descriptions and such for search engines, from the custom fields of the plugins Yoast and Rank Math.

Their texts can have placeholders, such as `%%title%%` of Yoast and `%title%` of Rank Math. Placeholders for values of
the product or the shop are resolved; a text with another placeholder is not imported, with a warning.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from django.utils.html import strip_tags
from django.utils.translation import gettext as _

from storefront.catalogue import parsing
from storefront.catalogue.fields import url_parser
from storefront.catalogue.models import Product
from storefront.catalogue.parsing import InvalidValue
from storefront.product_files import parsers
from storefront.product_files.parsed_products import ParsedProduct
from storefront.product_files.parsers import LIMITS
from storefront.product_files.rows import ColumnIndex, RowReader

_PLACEHOLDERS = {
    "yoast": re.compile(r"%%([\w-]+(?:\([^()]*\))?)%%"),
    "rank math": re.compile(r"(?<![\w%])%([\w-]+(?:\([^()]*\))?)%(?![\w%])"),
}
_LIMITS = LIMITS[Product]


def _description(text: str) -> str | None:
    return parsing.html(text) or None


def _url(column: str) -> Callable[[str], str | None]:
    parse = url_parser(_LIMITS[column])
    return lambda text: parse(text) if text else None


# Each member of a product with its parser and its columns, of which the first one with a value counts.
MEMBERS: dict[str, tuple[Callable[[str], Any], tuple[str, ...]]] = {
    "meta_title": (parsers.text_or_none(_LIMITS["meta_title"]), ("yoast title", "rank math title")),
    "meta_description": (_description, ("yoast description", "rank math description")),
    "canonical_url": (_url("canonical_url"), ("yoast canonical", "rank math canonical")),
    "og_image_url": (_url("og_image_url"), ("yoast picture", "rank math picture")),
    # Yoast has 1 here; Rank Math a list of words for robots.
    "noindex": (lambda text: text == "1" or "noindex" in text, ("yoast noindex", "rank math robots")),
}


class SeoColumns:
    """The members that the columns of one file state."""

    def __init__(self, columns: ColumnIndex, shop_name: str) -> None:
        self.shop_name, self.columns = shop_name, columns
        found = (
            (member, parse, [name for name in names if name in columns]) for member, (parse, names) in MEMBERS.items()
        )
        self.members = [(member, parse, names) for member, parse, names in found if names]

    def read(self, row: RowReader, parsed: ParsedProduct) -> None:
        """Set the product's members, and warn about texts that cannot be used."""
        for member, parse, names in self.members:
            column = next((name for name in names if row[name]), names[0])
            header = self.columns.header[column]
            try:
                pattern = _PLACEHOLDERS["yoast" if column.startswith("yoast") else "rank math"]
                parsed.fields[member] = parse(_resolved(row[column], pattern, self._values(row, parsed)))
            except _UnknownPlaceholder as unknown:
                parsed.warn(
                    header,
                    _("has the placeholder %(unknown)s, which cannot be resolved; not imported") % {"unknown": unknown},
                    row.line,
                )
            except InvalidValue as unfit:
                parsed.warn(header, _("%(problem)s; not imported") % {"problem": unfit}, row.line)

    def _values(self, row: RowReader, parsed: ParsedProduct) -> Mapping[str, Callable[[], str]]:
        fields, brand = parsed.fields, parsed.related_names.get("brand")
        first = next(iter(parsed.categories or ()), None)
        values: dict[str, Callable[[], str]] = {
            "title": lambda: fields.get("name", ""),
            "sitename": lambda: self.shop_name,
            "sep": lambda: "-",
            # The page number, which a product's page does not have.
            "page": lambda: "",
            "wc_sku": lambda: fields.get("sku", ""),
            "wc_brand": lambda: brand or "",
            "wc_shortdesc": lambda: strip_tags(fields.get("short_description", "")),
            "category": lambda: first.names[-1] if first else "",
        }
        values["primary_category"] = values["category"]
        values["excerpt"] = values["excerpt_only"] = values["wc_shortdesc"]
        return values


class _UnknownPlaceholder(Exception):
    pass


def _resolved(text: str, pattern: re.Pattern[str], values: Mapping[str, Callable[[], str]]) -> str:
    if not pattern.search(text):
        return text

    def value(found: re.Match[str]) -> str:
        if found[1] not in values:
            raise _UnknownPlaceholder(found[0])
        return values[found[1]]()

    # A separator is left out if nothing follows it.
    return " ".join(pattern.sub(value, text).split()).strip("- ")
