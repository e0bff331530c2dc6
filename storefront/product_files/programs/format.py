"""A format whose rows are grouped into products: what the readers of other programs' exports share.

A row that cannot be read may belong to the product above or below it. Both are refused then, since a product without
one of its variants would be another product.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from django.utils.translation import gettext as _

from storefront.catalogue.parsing import quoted
from storefront.product_files.csv_reading import Row, Table, normalised_header
from storefront.product_files.parsed_products import Failure, Notice, ParsedProduct, Problem, ReadResult
from storefront.product_files.row_store import RowStore
from storefront.product_files.rows import ColumnIndex, RowReader, UncarriedColumns, unknown_column
from storefront.shops.models import Shop

# The group of a row that is a product by itself begins with this.
ALONE = "row:"
_NUMBER = re.compile(r"\d+")


class Anything(set[str]):
    """The harmless values of a column of which no value is missed, such as an id of the other program."""

    def __contains__(self, value: object) -> bool:
        return True


class ProductRows(ABC):
    """Reads the grouped rows of one file with the given columns."""

    # True if a row without a key of its own belongs to the product above.
    is_positional = False

    def __init__(self, columns: ColumnIndex, shop: Shop, now: datetime) -> None:
        self.columns, self.shop, self.now = columns, shop, now

    @abstractmethod
    def group(self, row: RowReader, above: str) -> str:
        """The name of the row's product; `above` is that of the row above. Empty, with a problem recorded, if it has
        none."""

    @abstractmethod
    def product(self, rows: list[RowReader]) -> ParsedProduct:
        """The product of these rows. Problems are recorded in the rows."""


class ItemRows(ProductRows):
    """Rows of which the column `item` states what they are. Those of a product follow it."""

    is_positional = True
    # The kinds of rows as the program writes them, the product first.
    KINDS: ClassVar[Sequence[str]]

    def group(self, row: RowReader, above: str) -> str:
        product, *others = [kind.lower() for kind in self.KINDS]
        kind = row["item"].lower() if "item" in self.columns else product
        if kind == product:
            return f"product {row.line}"
        if kind not in others:
            known = f"{', '.join(self.KINDS[:-1])} or {self.KINDS[-1]}"
            row.refuse(
                "item", _("expected %(known)s, found %(found)s") % {"known": known, "found": quoted(row["item"])}
            )
        elif above:
            return above
        else:
            row.refuse("item", _("there is no product in the rows above"))
        return ""


@dataclass(frozen=True)
class ProgramFormat:
    """A program's format. `#` in a header or a column stands for a number.

    `headers` has each column's spellings, `needed` the columns by which a file is recognised and without which no
    product could be created, `or_needed` others that do as well. `uncarried` has patterns of headers that are not
    imported, with values that lose nothing.
    """

    program: str
    EXPECTED: str
    headers: Mapping[str, Sequence[str]]
    needed: frozenset[str]
    rows: Callable[[ColumnIndex, Shop, datetime], ProductRows]
    NUMBERS: Collection[str] = ()
    uncarried: Sequence[tuple[str, set[str]]] = ()
    or_needed: frozenset[str] | None = None
    known: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        known = {normalised_header(each): column for column, headers in self.headers.items() for each in headers}
        object.__setattr__(self, "known", known)

    def column_of(self, header: str) -> str | None:
        plain = normalised_header(header)
        if found := self.known.get(plain):
            return found
        number = _NUMBER.search(plain)
        numbered = self.known.get(_NUMBER.sub("#", plain)) if number else None
        return numbered.replace("#", number[0]) if numbered and number else None

    def harmless_values(self, header: str) -> set[str] | None:
        plain = normalised_header(header)
        return next((values for pattern, values in self.uncarried if re.match(rf"(?:{pattern})\Z", plain)), None)

    def warnings(self, headers: Sequence[str]) -> Iterator[tuple[str, str]]:
        """(column, reason) for each header that is not known."""
        known = [each for spellings in self.headers.values() for each in spellings]
        for position, header in enumerate(headers):
            if self.column_of(header) is None and self.harmless_values(header) is None:
                yield unknown_column(position, header, known)

    def recognises(self, columns: Collection[str | None]) -> bool:
        found = set(columns)
        return self.needed <= found or (self.or_needed is not None and self.or_needed <= found)

    def refusal(self, headers: Sequence[str], columns: Collection[str], *, update: bool) -> str:
        """Empty: a file with the columns by which it is recognised can create products."""
        return ""

    def skus(self, table: Table, columns: ColumnIndex, *, of_variants: bool) -> Iterator[str]:
        """The SKU of every row that has one: rows of products are also those of their first variants."""
        for found in table.rows():
            if isinstance(found, Row) and (sku := RowReader(columns, found.line, found.values)["sku"]):
                yield sku

    def read(self, table: Table, columns: ColumnIndex, *, shop: Shop, now: datetime) -> Iterator[ReadResult]:
        """Every product of the file, in the order of their first rows."""
        reader, uncarried = self.rows(columns, shop, now), UncarriedColumns(table.headers, self.harmless_values)
        with RowStore() as store:
            groups = _Groups(reader, store)
            for found in table.rows():
                if not isinstance(found, Row):
                    groups.break_at(found)
                    yield found
                    continue
                if uncarried.pending:
                    yield from uncarried.notices(found)
                row = RowReader(columns, found.line, found.values)
                if not groups.add(row):
                    yield Failure(row.problems)
            for group in store.groups():
                yield group if isinstance(group, Failure) else groups.product(*group)


class _Groups:
    """The groups of a file's rows, and those that have a row beside them that could not be read."""

    def __init__(self, reader: ProductRows, store: RowStore) -> None:
        self.reader, self.store = reader, store
        self.above, self.broken_line = "", 0
        # By group, the line that could not be read.
        self.broken: dict[str, int] = {}

    def break_at(self, found: Failure | Notice) -> None:
        """Remember a row that could not be read."""
        if isinstance(found, Failure):
            self.broken_line = found.problems[0].line
            self._break(self.above)
            self.above = f"below {self.broken_line}" if self.reader.is_positional else self.above
            self.broken[self.above] = self.broken_line

    def add(self, row: RowReader) -> bool:
        """Add the row to its group. Returns False, with a problem recorded in the row, if it belongs to none."""
        group = self.reader.group(row, self.above)
        if self.broken_line and not self.reader.is_positional:
            self._break(group)
        self.broken_line = 0
        if not group:
            self.break_at(Failure(row.problems))
            return False
        self.above = group
        self.store.add(group, row.line, row.values)
        return True

    def _break(self, group: str) -> None:
        if group and not group.startswith(ALONE):
            self.broken[group] = self.broken_line

    def product(self, name: str, rows: list[tuple[int, list[str]]]) -> ReadResult:
        if line := self.broken.get(name):
            reason = _("line %(line)s, which may belong to it, cannot be read; the product is not imported") % {
                "line": line
            }
            return Failure([Problem(rows[0][0], "", reason)])
        read = [RowReader(self.reader.columns, line, values) for line, values in rows]
        parsed = self.reader.product(read)
        problems = [problem for row in read for problem in row.problems]
        return Failure(problems) if problems else parsed
