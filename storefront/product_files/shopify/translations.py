"""Shopify's CSV of translations, as its app Translate & Adapt exports it: one row a text and language.

Such a file only updates products that the shop has. Shopify's ids mean nothing here, so a product is found by its
handle or else its title, which are among the texts in the main language. Texts for one market alone, and those of what
is no product, are not imported.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from django.utils.translation import gettext as _

from storefront.catalogue.parsing import quoted
from storefront.product_files.csv_reading import Row, Table, normalised_header
from storefront.product_files.parsed_products import Failure, Keys, Notice, ParsedProduct, Problem, ReadResult
from storefront.product_files.row_store import RowStore
from storefront.product_files.rows import ColumnIndex, RowReader, unknown_column
from storefront.product_files.translated_columns import CODES, PARSERS, state
from storefront.shops.models import Shop

EXPECTED = "Type, Identification, Field, Locale, Market, Status, Default content, Translated content"
NUMBERS: tuple[str, ...] = ()
_COLUMNS = tuple(normalised_header(header) for header in EXPECTED.split(", "))
_NEEDED = {"type", "identification", "field", "locale", "default content", "translated content"}
_PRODUCT = "product"
_FIELDS = {
    "title": "name",
    "handle": "slug",
    "body_html": "description",
    "meta_title": "meta_title",
    "meta_description": "meta_description",
}
ONLY_UPDATES = "a file of translations creates no products"


def column_of(header: str) -> str | None:
    """The header's column; None if it is not known."""
    plain = normalised_header(header)
    return plain if plain in _COLUMNS else None


def harmless_values(header: str) -> set[str] | None:
    """Every known column is read, or tells nothing that would be lost."""
    return None


def warnings(headers: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(column, reason) for each header that is not known."""
    for position, header in enumerate(headers):
        if column_of(header) is None:
            yield unknown_column(position, header, EXPECTED.split(", "))


def recognises(columns: Collection[str | None]) -> bool:
    """Whether a file with these columns is one of translations."""
    return set(columns) >= _NEEDED


def refusal(headers: Sequence[str], columns: Collection[str], *, update: bool) -> str:
    """Why an import that only creates products takes no translations; empty for one that updates."""
    return "" if update else "The file has translations of products. Choose to update existing products."


def skus(table: Table, columns: ColumnIndex, *, of_variants: bool) -> Iterator[str]:
    """A file of translations has no SKUs."""
    return iter(())


def read(table: Table, columns: ColumnIndex, *, shop: Shop, now: datetime) -> Iterator[ReadResult]:
    """Every product of the file, with its texts in all languages."""
    reported: set[str] = set()
    with RowStore() as store:
        for found in table.rows():
            if not isinstance(found, Row):
                yield found
                continue
            row = RowReader(columns, found.line, found.values)
            if reason := _left_out(row):
                if reason not in reported:
                    reported.add(reason)
                    yield Notice(Problem(row.line, "", reason, "warning"))
                continue
            store.add(row["identification"].removeprefix("'"), found.line, found.values)
        for group in store.groups():
            yield group if isinstance(group, Failure) else _product([RowReader(columns, *each) for each in group[1]])


def _left_out(row: RowReader) -> str:
    """Why a row like this is not imported; empty if it is."""
    kind, name = row["type"].lower(), row["field"].lower()
    if kind != _PRODUCT:
        text = _("translations of the type %(value)s are not imported; this is the first row")
        return text % {"value": quoted(row["type"])}
    if name not in _FIELDS:
        text = _("translations of the field %(value)s are not imported; this is the first row")
        return text % {"value": quoted(row["field"])}
    if row["market"]:
        return _("translations for one market alone are not imported; this is the first row")
    return ""


def _product(rows: list[RowReader]) -> ReadResult:
    own = {row["field"].lower(): row["default content"] for row in rows}
    slug = rows[0].read_part("default content", PARSERS["slug"], own.get("handle", ""), "")
    name = rows[0].read_part("default content", PARSERS["name"], own.get("title", ""), "")
    parsed = ParsedProduct(rows[0].line, Keys(slug=slug, name=name), {}, slug, refusal_if_new=ONLY_UPDATES)
    if not (slug or name):
        rows[0].refuse("identification", _("has neither a handle nor a title in the main language"))
    for row in rows:
        code = row["locale"].lower().replace("_", "-").split("-")[0]
        if code not in CODES:
            text = _("%(value)s is not a language that a shop can have")
            row.refuse("locale", text % {"value": quoted(row["locale"])})
        elif row["translated content"]:
            field = _FIELDS[row["field"].lower()]
            state(parsed, {code: {field: row.read("translated content", PARSERS[field], "")}})
    problems = [problem for row in rows for problem in row.problems]
    return Failure(problems) if problems else parsed
