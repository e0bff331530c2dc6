"""Groups the rows of a Shopify file by handle, whatever its case, so that no product lacks one of its rows.

Where a row that cannot be read has a handle, its product is refused. Where it has none that is certain, it may be part
of the product above it or of the one below: both are refused, and no other product of the file loses a variant or a
picture, since rows of one product can stand anywhere in a file.
"""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from storefront.product_files.csv_reading import BrokenRow, Row
from storefront.product_files.parsed_products import Failure, Problem
from storefront.product_files.row_store import RowStore


class Handles:
    """Adds the rows of one file to the store, in their order. `position` is that of the column of handles, `header` its
    header. `has_unknown_rows` is True if the product of a row is not known."""

    def __init__(self, store: RowStore, position: int, header: str) -> None:
        self.store, self.position, self.header = store, position, header
        self.has_unknown_rows = False
        self._handle = ""
        # The last row that cannot be read, if it may be part of the product of the next row with a handle.
        self._unknown: BrokenRow | None = None

    def add(self, row: Row) -> Iterator[Failure]:
        """Add a row; one without a handle belongs to the row above. Yields a Failure if there is none."""
        stated = row.values[self.position]
        if stated and self._unknown:
            self.store.refuse(stated.casefold(), [_may_be_part(self._unknown, stated)])
            self._unknown = None
        self._handle = stated or self._handle
        if self._handle:
            self.store.add(self._handle.casefold(), row.line, row.values)
        else:
            yield Failure([Problem(row.line, self.header, _("is empty, and there is no product in the rows above"))])

    def add_broken(self, row: BrokenRow) -> Iterator[Failure]:
        """Refuse the products that the row is part of, or may be."""
        stated = row.cell(self.position)
        # A comma too many shifts the cells behind it.
        if row.begins_row and stated and (self.position == 0 or stated.casefold() == self._handle.casefold()):
            self._handle, self._unknown = stated, None
            self.store.refuse(stated.casefold(), row.problems)
            return
        yield Failure(row.problems)
        self.has_unknown_rows, self._unknown = True, row
        if self._handle:
            self.store.refuse(self._handle.casefold(), [_may_be_part(row, self._handle)])


def _may_be_part(row: BrokenRow, handle: str) -> Problem:
    return Problem(
        row.line,
        "",
        _("cannot be read and may be part of the product %(value)s, which is not imported") % {"value": handle[:100]},
    )
