"""Rows of a WooCommerce file that are translations of other rows, as the plugin WPML exports them.

Each row has its language and, if it is a translation, the language that it was translated from; the rows of one product
and its translations have the same translation group. WPML's documentation names these custom fields.
"""

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from storefront.catalogue import parsing
from storefront.catalogue.translating import ATTRIBUTE, key
from storefront.product_files import parsers
from storefront.product_files.csv_reading import Row, Table
from storefront.product_files.parsed_products import Failure, ParsedProduct
from storefront.product_files.row_store import temporary_database
from storefront.product_files.rows import ColumnIndex, RowReader
from storefront.product_files.translated_columns import CODES, PARSERS, state
from storefront.product_files.woocommerce.keys import is_translation, is_variation
from storefront.product_files.woocommerce.parsers import paragraphs, texts

COLUMNS = {"wpml language", "wpml source", "wpml group"}
_TEXTS: dict[str, tuple[str, parsing.Parse]] = {
    "name": ("name", PARSERS["name"]),
    "slug": ("slug", PARSERS["slug"]),
    "description": ("description", paragraphs),
    "short description": ("short_description", paragraphs),
}
Attributes = list[tuple[str, list[str]]]


class TranslatedRows:
    """The texts of a file's translations, on disk, by translation group. `numbers` are those of its attributes."""

    def __init__(self, columns: ColumnIndex, numbers: list[int]) -> None:
        self.columns, self.numbers = columns, numbers
        self._database: sqlite3.Connection | None = None

    def read(self, table: Table) -> Iterator[Failure]:
        """Read the translations of the whole file; a Failure for each that cannot be read."""
        if not self.columns.index.keys() >= COLUMNS:
            return
        self._database = temporary_database("CREATE TABLE text (name TEXT NOT NULL, code TEXT, content TEXT NOT NULL);")
        for found in table.rows():
            row = RowReader(self.columns, found.line, found.values) if isinstance(found, Row) else None
            if row and is_translation(row) and not is_variation(row):
                code, content = self._read(row)
                if row.problems:
                    yield Failure(row.problems)
                else:
                    values = (row["wpml group"], code, json.dumps(content))
                    self._database.execute("INSERT INTO text VALUES (?, ?, ?)", values)
        self._database.execute("CREATE INDEX text_name ON text (name)")

    def _read(self, row: RowReader) -> tuple[str, dict[str, Any]]:
        code = row["wpml language"].lower().split("-")[0]
        if code not in CODES:
            row.refuse("wpml language", _("is not a language that a shop can have"))
        if not row["wpml group"]:
            row.refuse("wpml group", _("is empty"))
        read = {name: row.read(column, parse) for column, (name, parse) in _TEXTS.items() if column in self.columns}
        names = [row.read(f"attribute {number} name", parsers.decoded(200), "") for number in self.numbers]
        values = [row.read(f"attribute {number} values", texts, []) for number in self.numbers]
        return code, {"texts": read, "attributes": [*zip(names, values, strict=True)]}

    def add_to(self, parsed: ParsedProduct, row: RowReader) -> None:
        """Add the texts of the translations of this product's row. Attributes are in the same columns in all rows."""
        if self._database is None or not row["wpml group"]:
            return
        statement = "SELECT code, content FROM text WHERE name = ? ORDER BY rowid"
        for code, content in self._database.execute(statement, (row["wpml group"],)):
            found = json.loads(content)
            own: Attributes = [
                (row[f"attribute {number} name"], row.read(f"attribute {number} values", texts, []))
                for number in self.numbers
            ]
            state(parsed, {code: found["texts"] | _of_attributes(own, found["attributes"])})

    def close(self) -> None:
        if self._database is not None:
            self._database.close()


def _of_attributes(own: Attributes, others: Attributes) -> dict[str, str]:
    """The texts of attributes, and of their values where both rows have equally many."""
    found = {}
    for (name, values), (text, others_values) in zip(own, others, strict=True):
        if name and text:
            found[key(ATTRIBUTE, name)] = text
            pairs = zip(values, others_values, strict=True) if len(values) == len(others_values) else ()
            found |= {key(ATTRIBUTE, name, value): other for value, other in pairs}
    return found
