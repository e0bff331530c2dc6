"""The price of a variable product, by which lists are sorted: that of its cheapest active variant, and of sale periods
the one with the lowest sale price."""

from collections.abc import Iterable
from copy import copy
from typing import Any

from storefront.catalogue.dated import sale_periods
from storefront.kit.money import ZERO


def prices_of_cheapest(variants: Iterable[Any]) -> dict[str, Any] | None:
    """The regular price and the sale period of the product with these variants; None if no variant is active."""
    active = [copy(variant) for variant in variants if variant.is_active]
    if not active:
        return None
    for variant in active:
        sale_periods.lift(variant)
    price = min(variant.price for variant in active)
    on_sale = [variant for variant in active if variant.sale_price is not None]
    lowest = min(on_sale, key=lambda variant: variant.sale_price, default=None)
    period = lowest if lowest is not None and lowest.sale_price < price else None
    names = ("sale_price", "sale_from", "sale_until")
    return {"price": price} | {name: getattr(period, name) if period else None for name in names}


def follow(product: Any, variants: Iterable[Any]) -> None:
    """Set the regular price and the sale period of a product whose sale price does not hold, in memory."""
    before = product.price
    for name, value in (prices_of_cheapest(variants) or {}).items():
        setattr(product, name, value)
    if product.price < product.compare_price <= before:
        # Otherwise, an earlier compare price would show a reduction.
        product.compare_price = ZERO
