"""The columns of attributes that a WooCommerce file has."""

from storefront.product_files.rows import ColumnIndex


def attribute_columns(columns: ColumnIndex, number: int) -> int:
    """How many of its two columns the attribute of this number has: its name and its values."""
    return sum(f"attribute {number} {part}" in columns for part in ("name", "values"))


def parts_alone(columns: ColumnIndex) -> set[str]:
    """The headers of attributes' names without a column of values, and of values without one of names, which are not
    imported."""
    numbered = (column.split(" ") for column in columns.header if column.startswith("attribute "))
    return {
        columns.header[f"attribute {number} {part}"]
        for _, number, part in numbered
        if part in ("name", "values", "default") and attribute_columns(columns, int(number)) < 2
    }
