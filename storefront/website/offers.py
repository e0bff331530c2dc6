"""The price and the availability that pages show for a product. Pure functions of catalogue records."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from storefront.kit.money import ZERO
from storefront.pricing.queries import NO_TERMS, GroupTerms

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Price:
    """A price to show.

    `old` is the former price if it was higher; `highest` is the end of a price range. `is_from`: other choices cost
    more, and only the lowest price is shown.
    """

    amount: Decimal
    old: Decimal | None = None
    highest: Decimal | None = None
    is_from: bool = False


@dataclass(frozen=True, slots=True)
class Availability:
    """`text` is empty for a product that is simply in stock; `kind` is the badge's CSS modifier."""

    can_sell: bool
    text: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class VariantRange:
    """Prices and stock of a product's active variants, summarised."""

    lowest: Decimal
    highest: Decimal
    compare_of_lowest: Decimal
    can_sell: bool
    only_backorder: bool


IN_STOCK = Availability(True)
SOLD_OUT = Availability(False, "Sold out")
BACKORDER = Availability(True, "On backorder", "warn")
PREORDER = Availability(True, "Pre-order", "good")


def at_group_prices(row: Record, terms: GroupTerms) -> Record:
    """The product record with the prices of the visitor's customer group (R-CART-30)."""
    if terms is NO_TERMS:
        return row
    priced = row | {"price": str(terms.price_of(Decimal(row["price"]), row["id"]))}
    if "variants" in row:
        priced["variants"] = [
            variant | {"price": str(terms.price_of(Decimal(variant["price"]), row["id"], variant["id"]))}
            for variant in row["variants"]
        ]
    return priced


def price(row: Record, variants: VariantRange | None = None, required: Decimal = ZERO, varies: bool = False) -> Price:
    """The price to show for a product record.

    `variants` summarises a variable product's variants. `required` is the least that required options add to the
    price; `varies` says whether other choices among them add more.
    """
    if variants is None:
        return price_of(Decimal(row["price"]), Decimal(row["compare_price"]), required, is_from=varies)
    lowest = price_of(variants.lowest, variants.compare_of_lowest, required, is_from=varies)
    if variants.highest == variants.lowest:
        return lowest
    if varies or row["show_lowest_price"]:
        return replace(lowest, is_from=True)
    return Price(lowest.amount, highest=variants.highest + required)


def price_of(amount: Decimal, compare: Decimal, required: Decimal = ZERO, *, is_from: bool = False) -> Price:
    """A price with the former one, which is shown only if it was higher."""
    return Price(amount + required, compare + required if compare > amount else None, is_from=is_from)


def stock_availability(row: Record, *, threshold: int | None = None) -> Availability:
    """The availability of a product or variant from its own stock. For a variant, pass the product's `threshold`."""
    if not row.get("is_active", True):
        return SOLD_OUT
    if not row["track_inventory"]:
        return IN_STOCK
    if row["allow_backorders"]:
        return IN_STOCK if row["stock_qty"] > 0 else BACKORDER
    return _at_stock_level(row["stock_qty"], row["low_stock_threshold"] if threshold is None else threshold)


def product_availability(row: Record, variants: VariantRange | None, limits: Mapping[int, int | None]) -> Availability:
    """The availability of a product of any type. `limits`: how many of each bundle its items' stock allows."""
    if row["type"] == "variable":
        availability = _variants_availability(variants)
    elif row["id"] in limits:
        availability = _bundle_availability(limits[row["id"]], row["low_stock_threshold"])
    else:
        availability = stock_availability(row)
    return PREORDER if row["is_preorder"] and availability.can_sell else availability


def _variants_availability(variants: VariantRange | None) -> Availability:
    if variants is None or not variants.can_sell:
        return SOLD_OUT
    return BACKORDER if variants.only_backorder else IN_STOCK


def _bundle_availability(limit: int | None, threshold: int) -> Availability:
    if limit is None:
        return IN_STOCK
    return _at_stock_level(limit, threshold)


def _at_stock_level(stock: int, threshold: int) -> Availability:
    if stock <= 0:
        return SOLD_OUT
    return Availability(True, f"Only {stock} left", "warn") if stock <= threshold else IN_STOCK
