"""Matrixify's export of Shopify products: Shopify's columns, and commands that say what is to be done with a product.

The commands are those of Matrixify's documentation. NEW only creates, UPDATE only updates, MERGE does both, and IGNORE
leaves the row out. A file never deletes: one with DELETE or REPLACE is refused as a whole, before anything is imported.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime

from django.utils.translation import gettext as _

from storefront.catalogue.models import Product
from storefront.product_files.csv_reading import Row, Table, UnreadableFile, normalised_header
from storefront.product_files.parsed_products import Failure, Notice, ParsedProduct, Problem, ReadResult
from storefront.product_files.programs.format import Anything
from storefront.product_files.rows import ColumnIndex
from storefront.product_files.shopify import reader as shopify
from storefront.shops.models import Shop

EXPECTED = "Handle, Command, Title, Variant Price"
NUMBERS = shopify.NUMBERS
_COMMANDS = ("", "new", "update", "merge", "ignore")
_DELETING = {"delete", "replace"}
_PARTS = {"tags command", "image command", "variant command"}
_HARMLESS = re.compile(
    r"(variant |variant inventory item )?id|row #|top row|(created|updated|published) at|published scope|url"
    r"|total inventory qty|image (type|width|height)|category: id|template suffix"
)


def column_of(header: str) -> str | None:
    return "command" if normalised_header(header) == "command" else shopify.column_of(header)


def harmless_values(header: str) -> set[str] | None:
    plain = normalised_header(header)
    if plain in _PARTS:
        return {"merge"}
    return Anything() if _HARMLESS.fullmatch(plain) else shopify.harmless_values(header)


def warnings(headers: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield from shopify.warnings(
        [each for each in headers if column_of(each) != "command" and harmless_values(each) is None]
    )


def recognises(columns: Collection[str | None]) -> bool:
    return "command" in columns and shopify.recognises(columns)


refusal, skus = shopify.refusal, shopify.skus


def read(table: Table, columns: ColumnIndex, *, shop: Shop, now: datetime) -> Iterator[ReadResult]:
    """Every product of the file, as its command has it."""
    _refuse_deletions(table)
    obeyed = _Obeyed(table, columns)
    for parsed in shopify.read(obeyed, columns, shop=shop, now=now):
        yield obeyed.obey(parsed) if isinstance(parsed, ParsedProduct) else parsed


def _refuse_deletions(table: Table) -> None:
    positions = [n for n, header in enumerate(table.headers) if normalised_header(header) in _PARTS | {"command"}]
    for row in copy(table).rows():
        if not isinstance(row, Row):
            continue
        for position in positions:
            if row.values[position].lower() in _DELETING:
                raise UnreadableFile(
                    _(
                        "Line %(line)s has %(column)s %(command)s. A file does not delete anything here; remove these "
                        "rows, and delete the products in the admin. Nothing was imported."
                    )
                    % {"line": row.line, "column": table.headers[position], "command": row.values[position]}
                )


class _Obeyed(Table):
    """The table without rows that are to be ignored, and the commands of the others by their lines. A row whose command
    is not known refuses all rows of its product."""

    def __init__(self, table: Table, columns: ColumnIndex) -> None:
        self.__dict__ |= vars(table)
        self.table, self.columns = table, columns
        self.commands: dict[int, str] = {}
        # The first line of each handle, and by it the problems with commands.
        self.first_lines: dict[str, int] = {}
        self.refused: dict[int, list[Problem]] = {}

    def rows(self) -> Iterator[Row | Failure | Notice]:
        position, header, handle = self.columns.index["command"], self.columns.header["command"], ""
        for row in self.table.rows():
            command = row.values[position].lower() if isinstance(row, Row) else ""
            if not isinstance(row, Row):
                yield row
                continue
            if command == "ignore":
                yield Notice(Problem(row.line, header, _("is IGNORE; the row is left out"), "warning"))
                continue
            handle = row.values[self.columns.index["handle"]] or handle
            first = self.first_lines.setdefault(handle, row.line)
            if command not in _COMMANDS:
                reason = _("expected NEW, UPDATE, MERGE or IGNORE, found %(value)s") % {"value": repr(command[:40])}
                self.refused.setdefault(first, []).append(Problem(row.line, header, reason))
            elif command not in ("", "merge"):
                self.commands[row.line] = command
            yield row

    def obey(self, parsed: ParsedProduct) -> ReadResult:
        """The product as its first row's command has it. Variants that the file lacks stay, also if it has none."""
        if problems := self.refused.get(parsed.line):
            return Failure(problems)
        if parsed.fields.get("type") == Product.Type.SIMPLE and parsed.if_variable is None:
            reason = _("the product has variants, of which the file has none; they stay, so the row cannot be imported")
            parsed.if_variable = replace(parsed, problems=[Problem(parsed.line, "", reason)])
        command = self.commands.get(parsed.line)
        for reading in filter(None, (parsed, parsed.if_variable)):
            reading.variants_complete = False
            if command == "update":
                reading.refusal_if_new = _("its Command is UPDATE, but the shop has no such product")
            elif command == "new":
                reading.reason_to_keep = _("its Command is NEW, and the shop has it already")
        return parsed
