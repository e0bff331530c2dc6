"""The stock levels of a file: whole, and below zero only where the shop allows it.

Whether the product can be backordered may be known to the shop alone, so a negative level is settled when the row is.
"""

from collections.abc import Callable
from decimal import ROUND_FLOOR, Decimal
from typing import Any

from django.utils.translation import gettext as _

from storefront.product_files.parsed_products import ParsedProduct


def read_level(parsed: ParsedProduct, fields: dict[str, Any], column: str, line: int) -> None:
    """Round the stock level down to a whole number. Adds a warning for that, and one for a new product or variant that
    gets none, since it cannot be backordered."""
    qty = fields.get("stock_qty")
    if not isinstance(qty, Decimal):
        return
    whole = int(qty.to_integral_value(rounding=ROUND_FLOOR))
    if whole != qty:
        parsed.warn(column, _("stock %(qty)s was imported as %(whole)s") % {"qty": qty, "whole": whole}, line)
    fields["stock_qty"] = whole
    settle_level(fields, None, lambda reason: parsed.warn_if_new(column, reason, line))


def settle_level(fields: dict[str, Any], row: Any = None, warn: Callable[[str], None] | None = None) -> dict[str, Any]:
    """The fields with the stock level that this row of the shop, or a new one, can have: not below zero unless it can
    be backordered or is not tracked. Pieces that are owed already stay so. `warn` is called with the reason."""
    level = fields.get("stock_qty") or 0
    if level >= 0:
        return fields
    lowest = 0 if row is None else min(row.stock_qty, 0)
    is_tracked = fields.get("track_inventory", row is None or row.track_inventory)
    is_allowed = fields.get("allow_backorders", row is not None and row.allow_backorders)
    if level >= lowest or not is_tracked or is_allowed:
        return fields
    if warn:
        warn(
            _("stock %(level)s was imported as %(lowest)s, because backorders are not allowed")
            % {"level": level, "lowest": lowest}
        )
    return fields | {"stock_qty": lowest}
