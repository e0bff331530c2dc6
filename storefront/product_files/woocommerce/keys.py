"""The keys of a WooCommerce file: SKUs, references to parents, and the source of its IDs."""

from collections.abc import Iterator

from storefront.product_files.csv_reading import Row, Table
from storefront.product_files.rows import ColumnIndex, RowReader


def is_translation(row: RowReader) -> bool:
    """Returns True for a row that was translated from another (`translated_rows.py`): to WPML, which names the language
    that it was translated from; to Polylang, if it is not in the shop's main language."""
    if (language := row["polylang language"]) and "polylang group" in row.columns:
        return language_code(language) != row.columns.language
    return bool(row["wpml source"] and row["wpml language"] and row["wpml source"] != row["wpml language"])


def language_code(value: str) -> str:
    """`de` for `DE`, `de-at` and `de_AT`."""
    return value.lower().replace("_", "-").split("-")[0]


def is_variation(row: RowReader) -> bool:
    """Returns True for a variation's row, which in a file without types is one that names a parent."""
    return "variation" in row["type"].lower() or bool(row["parent"] and not row["type"])


def skus(table: Table, columns: ColumnIndex, *, of_variants: bool) -> Iterator[str]:
    """The SKU of every product's row that has one, or of every variation's. Translations repeat those of others."""
    for row in _rows(table, columns):
        if row["sku"] and is_variation(row) == of_variants and not is_translation(row):
            yield row["sku"]


def stated_source(table: Table, columns: ColumnIndex) -> str:
    """The source that the file states in its first row, as this service's exports do; empty without one."""
    if "source" not in columns:
        return ""
    return next((row["source"] for row in _rows(table, columns)), "")


def parent_reference(value: str) -> str:
    """The group of the variations that name this parent."""
    return f"id:{value[3:].strip()}" if value[:3].lower() == "id:" else f"sku:{value}"


def _rows(table: Table, columns: ColumnIndex) -> Iterator[RowReader]:
    return (RowReader(columns, found.line, found.values) for found in table.rows() if isinstance(found, Row))
