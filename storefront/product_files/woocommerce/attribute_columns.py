"""Which columns of attributes a WooCommerce file has. An attribute needs two: its name, and its values."""

from storefront.product_files.rows import ColumnIndex


def attribute_columns(columns: ColumnIndex, number: int) -> int:
    """How many of the two columns of this attribute the file has."""
    return sum(f"attribute {number} {part}" in columns for part in ("name", "values"))


def parts_alone(columns: ColumnIndex) -> set[str]:
    """The headers of names without a column of values, and of values without one of names, which are not imported."""
    numbered = (column.split(" ") for column in columns.header if column.startswith("attribute "))
    return {
        columns.header[f"attribute {number} {part}"]
        for _, number, part in numbered
        if part in ("name", "values", "default") and attribute_columns(columns, int(number)) < 2
    }
