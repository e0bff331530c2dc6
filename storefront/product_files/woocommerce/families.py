"""Groups the rows of variable products with those of their variations, so that no product is imported without one of
its rows.

A row of an unknown type is refused with the family of its parent. A row that cannot be read is refused with every
family that one of its cells names; it may also be a variation of the product above it or below, so these are refused
unless its type is that of a product without variations.
"""

from django.utils.translation import gettext as _

from storefront.product_files.csv_reading import BrokenRow
from storefront.product_files.parsed_products import Problem
from storefront.product_files.row_store import RowStore
from storefront.product_files.rows import ColumnIndex, RowReader
from storefront.product_files.woocommerce.keys import parent_reference

_SINGLE = ("simple", "grouped", "external")


class Families:
    """Adds the rows of one file to the store, in their order."""

    def __init__(self, store: RowStore, columns: ColumnIndex) -> None:
        self.store, self.columns = store, columns
        # The family of the row above; empty if that is a product without variations.
        self._above = ""
        # The rows above that may be variations of the next family.
        self._unknown: Problem | None = None

    def pass_single(self) -> None:
        """Take note of a product without variations."""
        self._above, self._unknown = "", None

    def add_variation(self, row: RowReader) -> None:
        self._add(parent_reference(row["parent"]), row)

    def add_parent(self, row: RowReader) -> None:
        self._add(self._named(row), row)

    def refuse(self, row: RowReader) -> None:
        """Refuse the row, and the family that it is part of."""
        group = parent_reference(row["parent"]) if row["parent"] else self._named(row)
        self.store.refuse(group, row.problems)

    def refuse_unknown(self, row: BrokenRow) -> None:
        """Refuse each family that the row is part of, or may be. The caller reports the row itself."""
        reason = _("cannot be read and may be part of this product, which is not imported")
        problem = Problem(row.line, "", reason)
        names = [parent_reference(cell) for cell in row.cells if cell]
        if id := row.cell(self.columns.index.get("id")):
            names.append(f"id:{id}")
        self.store.refuse_if_any(dict.fromkeys(names), problem)
        if row.begins_row and any(word in row.cell(self.columns.index.get("type")).lower() for word in _SINGLE):
            return
        if self._above:
            self.store.refuse(self._above, [problem])
        self._unknown = problem

    def _add(self, group: str, row: RowReader) -> None:
        self.store.add(group, row.line, row.values)
        if self._unknown:
            self.store.refuse(group, [self._unknown])
        self._above, self._unknown = group, None

    def _named(self, row: RowReader) -> str:
        """The name of a parent's family, with its ID and its SKU as aliases."""
        group = f"row:{row.line}"
        if row["id"]:
            self.store.alias(f"id:{row['id']}", group)
        if row["sku"]:
            # A row that repeats another one is no second product.
            self.store.claim(f"sku:{row['sku']}", group, row["id"] or row["name"], row.line)
        return group
