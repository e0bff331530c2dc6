"""What a page says about buying a product: its price and whether it can be had. Pure, over catalogue
records."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from storefront.kit.money import ZERO
from storefront.pricing.queries import NO_TERMS, GroupTerms

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Price:
    """`old` is set only where it is above the price, `highest` where a span is shown; `is_from` when other choices
    cost more and only the lowest price is named."""

    amount: Decimal
    old: Decimal | None = None
    highest: Decimal | None = None
    is_from: bool = False


@dataclass(frozen=True, slots=True)
class Availability:
    """`text` is empty where there is nothing to say; `kind` is the badge's."""

    can_sell: bool
    text: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class VariantRange:
    """The active variants of one product together."""

    lowest: Decimal
    highest: Decimal
    compare_of_lowest: Decimal
    can_sell: bool
    only_backorder: bool


IN_STOCK = Availability(True)
SOLD_OUT = Availability(False, "Sold out")
BACKORDER = Availability(True, "On backorder", "warn")
PREORDER = Availability(True, "Pre-order", "good")


def for_group(row: Record, terms: GroupTerms) -> Record:
    """The product record at the prices of the visitor's customer group (contract: a group price is the price)."""
    if terms is NO_TERMS:
        return row
    priced = row | {"price": str(terms.price_of(Decimal(row["price"]), row["id"]))}
    if "variants" in row:
        priced["variants"] = [
            variant | {"price": str(terms.price_of(Decimal(variant["price"]), row["id"], variant["id"]))}
            for variant in row["variants"]
        ]
    return priced


def price(row: Record, choices: VariantRange | None = None, required: Decimal = ZERO, spread: bool = False) -> Price:
    """The price to show for a product record.

    `choices` are the prices of a variable product's variants; `required` is the least that its required options add,
    and `spread` whether another choice among them adds more.
    """
    if choices is None:
        return price_of(Decimal(row["price"]), Decimal(row["compare_price"]), required, is_from=spread)
    lowest = price_of(choices.lowest, choices.compare_of_lowest, required, is_from=spread)
    if choices.highest == choices.lowest:
        return lowest
    if spread or row["show_lowest_price"]:
        return replace(lowest, is_from=True)
    return Price(lowest.amount, highest=choices.highest + required)


def price_of(amount: Decimal, compare: Decimal, required: Decimal = ZERO, *, is_from: bool = False) -> Price:
    """One price beside the former one, which counts only where it was higher."""
    return Price(amount + required, compare + required if compare > amount else None, is_from=is_from)


def availability(row: Record, *, threshold: int | None = None) -> Availability:
    """Whether a product or variant record's own stock sells. `threshold` is the product's, for a variant."""
    if not row.get("is_active", True):
        return SOLD_OUT
    if not row["track_inventory"]:
        return IN_STOCK
    if row["allow_backorders"]:
        return IN_STOCK if row["stock_qty"] > 0 else BACKORDER
    return _of_level(row["stock_qty"], row["low_stock_threshold"] if threshold is None else threshold)


def availability_of(row: Record, choices: VariantRange | None, limits: Mapping[int, int | None]) -> Availability:
    """Whether a product can be had in any form. `limits` says for bundles how many their parts allow."""
    if row["type"] == "variable":
        found = _of_variants(choices)
    elif row["id"] in limits:
        found = _of_bundle(limits[row["id"]], row["low_stock_threshold"])
    else:
        found = availability(row)
    return PREORDER if row["is_preorder"] and found.can_sell else found


def _of_variants(choices: VariantRange | None) -> Availability:
    if choices is None or not choices.can_sell:
        return SOLD_OUT
    return BACKORDER if choices.only_backorder else IN_STOCK


def _of_bundle(limit: int | None, threshold: int) -> Availability:
    if limit is None:
        return IN_STOCK
    return _of_level(limit, threshold)


def _of_level(stock: int, threshold: int) -> Availability:
    if stock <= 0:
        return SOLD_OUT
    return Availability(True, f"Only {stock} left", "warn") if stock <= threshold else IN_STOCK
