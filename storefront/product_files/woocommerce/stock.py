"""Reads the stock of a row: counted, or only in stock or not."""

from decimal import Decimal
from typing import Any

from storefront.product_files import parsers
from storefront.product_files.parsed_products import ParsedProduct
from storefront.product_files.rows import ColumnIndex, RowReader
from storefront.product_files.stock_levels import read_level


def read_stock(row: RowReader, fields: dict[str, Any]) -> None:
    """Read the columns of stock into these fields. Empty cells change nothing, but for the stock of a product that the
    row states to be in stock: that is not counted."""
    if backorders := row["backorders"]:
        fields["allow_backorders"] = backorders.lower() in ("1", "yes", "true", "notify")
    stock, stated = row["stock"], row["in stock"].lower()
    if stock and stock.lower() != "parent":
        fields["track_inventory"] = True
        fields["stock_qty"] = row.read("stock", parsers.stock)
    elif stated in ("0", "no", "false", "outofstock"):
        fields |= {"track_inventory": True, "stock_qty": Decimal(0)}
    elif stated:
        if "stock" in row.columns:
            # WooCommerce does not count this stock: it only states that the product is in stock.
            fields["track_inventory"] = False
        if stated in ("backorder", "onbackorder"):
            fields["allow_backorders"] = True


def read_variation_stock(
    parsed: ParsedProduct, row: RowReader, parent: RowReader | None, fields: dict[str, Any], columns: ColumnIndex
) -> None:
    """Read a variation's stock into these fields: that of its parent if it shares that."""
    read_stock(row, fields)
    if row["stock"].lower() == "parent" and parent:
        shared: dict[str, Any] = {}
        read_stock(parent, shared)
        fields |= shared
        reason = "shared its parent's stock; imported with the same stock of its own"
        parsed.warn(columns.header["stock"], reason, row.line)
    read_level(parsed, fields, columns.header.get("stock", "Stock"), row.line)
