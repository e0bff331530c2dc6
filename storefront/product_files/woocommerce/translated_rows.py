"""Rows of a WooCommerce file that are translations of other rows, as the plugins WPML and Polylang export them.

Each row has its language and, in WPML's files, the language that it was translated from; the rows of one product or
variation and its translations have the same translation group. WPML's documentation names these custom fields, Polylang
for WooCommerce the columns `Language` and `Translation group`.
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
from storefront.product_files.parsed_products import Failure, ParsedProduct, Problem
from storefront.product_files.row_store import temporary_database
from storefront.product_files.rows import ColumnIndex, RowReader
from storefront.product_files.translated_columns import CODES, PARSERS, state
from storefront.product_files.woocommerce.keys import is_translation, is_variation, language_code
from storefront.product_files.woocommerce.parsers import paragraphs, texts

# Language and group, by plugin.
COLUMNS = {"polylang": ("polylang language", "polylang group"), "wpml": ("wpml language", "wpml group")}
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
        named = [each for each in COLUMNS.values() if columns.index.keys() >= {*each}]
        self.language, self.group = named[0] if named else ("", "")
        self._database: sqlite3.Connection | None = None

    def read(self, table: Table) -> Iterator[Failure]:
        """Read the translations of the whole file; a Failure for each that cannot be read."""
        if not self.group:
            return
        self._database = temporary_database(
            "CREATE TABLE text (line INT, name TEXT NOT NULL, code TEXT, content TEXT NOT NULL, used INT DEFAULT 0);"
        )
        for found in table.rows():
            row = RowReader(self.columns, found.line, found.values) if isinstance(found, Row) else None
            if row and is_translation(row):
                code, content = self._read(row)
                if row.problems:
                    yield Failure(row.problems)
                else:
                    values = (row.line, row[self.group], code, json.dumps(content))
                    self._database.execute("INSERT INTO text (line, name, code, content) VALUES (?, ?, ?, ?)", values)
        self._database.execute("CREATE INDEX text_name ON text (name)")

    def _read(self, row: RowReader) -> tuple[str, dict[str, Any]]:
        code = language_code(row[self.language])
        if code not in CODES:
            row.refuse(self.language, _("is not a language that a shop can have"))
        if not row[self.group]:
            row.refuse(self.group, _("is empty"))
        # A variation's texts are those of the values that it is chosen by.
        columns = {} if is_variation(row) else _TEXTS
        read = {name: row.read(column, parse) for column, (name, parse) in columns.items() if column in self.columns}
        names = [row.read(f"attribute {number} name", parsers.decoded(200), "") for number in self.numbers]
        values = [row.read(f"attribute {number} values", texts, []) for number in self.numbers]
        return code, {"texts": read, "attributes": [*zip(names, values, strict=True)]}

    def add_to(self, parsed: ParsedProduct, row: RowReader) -> None:
        """Add the texts of the translations of a row of this product, its own or a variation's. Attributes are in the
        same columns in all rows."""
        if self._database is None or not row[self.group]:
            return
        self._database.execute("UPDATE text SET used = 1 WHERE name = ?", (row[self.group],))
        statement = "SELECT code, content FROM text WHERE name = ? ORDER BY rowid"
        for code, content in self._database.execute(statement, (row[self.group],)):
            found = json.loads(content)
            own: Attributes = [
                (row[f"attribute {number} name"], row.read(f"attribute {number} values", texts, []))
                for number in self.numbers
            ]
            state(parsed, {code: found["texts"] | _of_attributes(own, found["attributes"])})

    def unused(self) -> Iterator[Failure]:
        """A Failure for each translation of what is not in the file."""
        statement = "SELECT line, name FROM text WHERE NOT used ORDER BY line"
        for line, name in self._database.execute(statement) if self._database else ():
            reason = _("%(value)s has no row in the shop's main language in this file, whose texts these would be")
            yield Failure([Problem(line, self.columns.header[self.group], reason % {"value": parsing.quoted(name)})])

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
