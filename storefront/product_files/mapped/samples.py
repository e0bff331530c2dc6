"""The first rows of a table that needs a mapping: kept with its import, and read to show what a mapping makes of it."""

from collections.abc import Iterator
from copy import copy
from datetime import datetime
from itertools import islice
from typing import Any

from storefront.product_files.csv_reading import Row, Table
from storefront.product_files.mapped.mapping import Mapping
from storefront.product_files.opening import open_mapped
from storefront.product_files.parsed_products import Failure, Notice, ReadResult
from storefront.shops.models import Shop

MAX_ROWS = 50
# Columns that a page can map, and characters of a sample's header and of all its rows.
MAX_COLUMNS, MAX_HEADER_LENGTH, MAX_LENGTH = 200, 20_000, 200_000
PREVIEWED = 5


def sample_of(table: Table) -> dict[str, Any] | None:
    """The header and the first rows of the table; None if they are too large to map on a page."""
    if len(table.headers) > MAX_COLUMNS or sum(map(len, table.headers)) > MAX_HEADER_LENGTH:
        return None
    rows: list[tuple[int, list[str]]] = []
    size = 0
    for found in islice(copy(table).rows(), MAX_ROWS):
        if isinstance(found, Row):
            size += sum(map(len, found.values))
            if size > MAX_LENGTH:
                break
            rows.append((found.line, _storable(found.values)))
    return {"headers": _storable(table.headers), "rows": rows}


def _storable(values: list[str]) -> list[str]:
    """The texts without characters that no database's JSON can hold, which an import refuses with their line."""
    return [value.encode(errors="replace").decode().replace("\0", "?") for value in values]


def preview(sample: dict[str, Any], mapping: Mapping, *, shop: Shop, now: datetime) -> list[ReadResult]:
    """The first products of the sample as the mapping makes them, or why they fail. Raises UnreadableFile if the
    mapping does not fit."""
    opened = open_mapped(_Sample(sample), mapping, shop=shop, now=now)
    return list(islice((each for each in opened.results if not isinstance(each, Notice)), PREVIEWED))


class _Sample(Table):
    """The sample as a table."""

    def __init__(self, sample: dict[str, Any]) -> None:
        self.headers: list[str] = sample["headers"]
        self.stored: list[tuple[int, list[str]]] = sample["rows"]
        self.notes, self.comma_columns = [], []
        self.size, self.header_line, self._file = 0, 1, None

    def find_header(self, column_of: Any) -> None:
        """Nothing: the header is known."""

    def rows(self) -> Iterator[Row | Failure | Notice]:
        for line, values in self.stored:
            yield Row(line, self._with_points(list(values)))
