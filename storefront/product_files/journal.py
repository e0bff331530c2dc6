"""Records what an import changes, in the transaction of each change, so that the import can be undone for some days
(`undoing.py`), also one that was killed.

A changed product is one row: the columns that differ, as [before, after], of the product and of its children, with the
children that were added or removed. The state after is read from the database and not derived from what was meant to be
written, so triggers and cascades are part of it. A new product, category or brand is a row with its id alone.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from storefront.catalogue.dated import sale_periods
from storefront.catalogue.models import BundleItem, Media, Option, OptionValue, Product, ProductCategory, Variant
from storefront.kit.bulk_insert import BulkTable, allocate_ids
from storefront.product_files.existing import ExistingProduct, existing_products
from storefront.product_files.models import ImportedChange, ProductImport

Kind = ImportedChange.Kind
# The tables of a product, each child below what it refers to.
TABLES: dict[str, Any] = {
    "product": Product,
    "media": Media,
    "options": Option,
    "values": OptionValue,
    "variants": Variant,
    "categories": ProductCategory,
    "bundle_items": BundleItem,
}
# Products whose states before and after are in memory at the same time.
COMPARED_PRODUCTS = 200
# Columns that every write changes.
IGNORED = {"updated_at", "shop_id"}
# The rows of a product by table and id, each with its values by column.
State = dict[str, dict[int, dict[str, Any]]]
_COLUMNS = {
    name: [field.attname for field in model._meta.concrete_fields if field.attname not in IGNORED]
    for name, model in TABLES.items()
}


class Journal:
    """The journal of one import. Rows are collected, and written by `write` in the caller's transaction."""

    def __init__(self, product_import: ProductImport) -> None:
        self._shop = product_import.shop
        common = {"shop_id": product_import.shop_id, "product_import_id": product_import.pk}
        self._table = BulkTable(ImportedChange, common)
        # Created products: their only own value is the id, so that an import of new ones takes little longer.
        self._created_table = BulkTable(ImportedChange, common | {"kind": Kind.CREATED.value, "content": {}})
        self._rows: list[dict[str, Any]] = []
        self._created: list[int] = []
        self._before: dict[int, State] = {}

    def add(self, kind: Kind, ids: Iterable[int], content: Mapping[str, Any] | None = None) -> None:
        """Add a row for each of these ids."""
        self._rows += [{"kind": kind.value, "object_id": id, "content": content or {}} for id in ids]

    def add_created(self, ids: Iterable[int]) -> None:
        """Add a row for each of these new products."""
        self._created += ids

    def changing(self, before: State) -> bool:
        """Note a product that was changed, with its state before. Returns True once enough are noted to `compare`."""
        self._before |= dict.fromkeys(before["product"], before)
        return len(self._before) >= COMPARED_PRODUCTS

    def compare(self) -> None:
        """Add the differences of the noted products, which have been written."""
        after = existing_products(self._shop, list(self._before))
        for id, state in self._before.items():
            if content := differences(state, state_of(after[id])):
                self.add(Kind.UPDATED, [id], content)
        self._before.clear()

    def clear(self) -> None:
        """Forget the rows that were not written: after a rollback, what they describe did not happen."""
        self._rows.clear()
        self._created.clear()
        self._before.clear()

    def write(self) -> None:
        """Write the rows, in the transaction of the changes."""
        count = len(self._created)
        ids = allocate_ids(ImportedChange, count + len(self._rows))
        created = zip(ids[:count], self._created, strict=True)
        self._created_table.insert({"id": id, "object_id": product} for id, product in created)
        self._table.insert({"id": id, **row} for id, row in zip(ids[count:], self._rows, strict=True))
        self._rows.clear()
        self._created.clear()


def rows_of(existing: ExistingProduct) -> dict[str, list[Any]]:
    """The rows of the product by the names in TABLES."""
    return {
        "product": [existing.product],
        "media": existing.media,
        "options": existing.options,
        "values": [value for values in existing.option_values.values() for value in values],
        "variants": existing.variants,
        "categories": existing.category_links,
        "bundle_items": existing.bundle_items,
    }


def state_of(existing: ExistingProduct) -> State:
    """A copy of the product's values, which later changes of the rows leave as it is."""
    return {name: {row.pk: dict(vars(row)) for row in rows} for name, rows in rows_of(existing).items()}


def differences(before: State, after: State) -> dict[str, Any]:
    """The differences by table: `changed` columns by row, rows that were `added` or `removed` with all their values,
    and the ids of `all` rows after the change where the list itself changed."""
    found = {}
    for name in TABLES:
        was, became = before[name], after[name]
        common = was.keys() & became.keys()
        changed = {id: columns for id in sorted(common) if (columns := _changed(name, was[id], became[id]))}
        added = {id: _plain_row(name, became[id]) for id in sorted(became.keys() - was.keys())}
        removed = {id: _plain_row(name, was[id]) for id in sorted(was.keys() - became.keys())}
        parts: dict[str, Any] = {"changed": changed, "added": added, "removed": removed}
        if added or removed:
            parts["all"] = sorted(became)
        if parts := {part: _with_text_keys(rows) for part, rows in parts.items() if rows}:
            found[name] = parts
    return found


def _changed(table: str, before: dict[str, Any], after: dict[str, Any]) -> dict[str, list[Any]]:
    names = [name for name in _COLUMNS[table] if before[name] != after[name]]
    if set(names) & set(sale_periods.COLUMNS) and "sale_price" in before:
        # The prices of a row belong together: a sale that begins later changes several.
        names = list(dict.fromkeys([*names, *sale_periods.COLUMNS]))
    return {name: [plain(before[name]), plain(after[name])] for name in names}


def _plain_row(table: str, values: dict[str, Any]) -> dict[str, Any]:
    return {name: plain(values[name]) for name in _COLUMNS[table]}


def _with_text_keys(rows: Any) -> Any:
    return {str(id): values for id, values in rows.items()} if isinstance(rows, dict) else rows


def plain(value: Any) -> Any:
    """The value as JSON can hold it. A field's `to_python` reverses it."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    return value if value is None or isinstance(value, (bool, int, str, list, dict, float)) else str(value)
