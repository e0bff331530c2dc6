"""The price and the availability that pages show for a product. Pure functions of catalogue records."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from storefront.kit.format import format_day
from storefront.kit.money import ZERO
from storefront.pricing.queries import GroupTerms
from storefront.shops.models import Shop

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Price:
    """A price to show.

    `old` is the former price if it was higher; `highest` is the end of a price range. `is_from`: other choices cost
    more, and only the lowest price is shown. `is_net`: without tax.
    """

    amount: Decimal
    old: Decimal | None = None
    highest: Decimal | None = None
    is_from: bool = False
    is_net: bool = False


@dataclass(frozen=True, slots=True)
class Availability:
    """`text` is empty for a product that is simply in stock; `kind` is the badge's CSS modifier."""

    can_sell: bool
    words: str | Promise = ""
    kind: str = ""
    is_preorder: bool = False

    @property
    def text(self) -> str:
        """The words in the language of the page."""
        return str(self.words)


@dataclass(frozen=True, slots=True)
class VariantRange:
    """Prices and stock of a product's active variants, summarised."""

    lowest: Decimal
    highest: Decimal
    compare_of_lowest: Decimal
    can_sell: bool
    only_backorder: bool


IN_STOCK = Availability(True)
SOLD_OUT = Availability(False, gettext_lazy("Sold out"))
BACKORDER = Availability(True, gettext_lazy("On backorder"), "warn")
SUBSCRIPTION = Availability(False, gettext_lazy("Subscription, not available yet"))


def at_group_prices(row: Record, terms: GroupTerms) -> Record:
    """The product record with the prices of the visitor's customer group (R-CART-30)."""
    priced = row | _priced(row, terms, row["id"])
    if "variants" in row:
        priced["variants"] = [
            variant | _priced(variant, terms, row["id"], variant["id"]) for variant in row["variants"]
        ]
    if terms.is_net and "options" in row:
        priced["options"] = [
            option | {"values": [value | _option_price(value, terms, row["id"]) for value in option["values"]]}
            for option in row["options"]
        ]
    return priced


def _priced(row: Record, terms: GroupTerms, product_id: int, variant_id: int | None = None) -> Record:
    """Price and crossed-out price of a product or variant."""
    price = terms.price_of(Decimal(row["price"]), product_id, variant_id)
    old = terms.shown(Decimal(row["compare_price"]), product_id)
    return {"price": str(price), "compare_price": str(old)}


def _option_price(value: Record, terms: GroupTerms, product_id: int) -> Record:
    return {"price": str(terms.shown(Decimal(value["price"]), product_id))}


def price(row: Record, variants: VariantRange | None = None, required: Decimal = ZERO, varies: bool = False) -> Price:
    """Choose the price to show for a product record.

    `variants` summarises a variable product's variants. `required` is the least that required options add to the price;
    `varies` is true if other choices among them add more.
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


def product_availability(
    row: Record, variants: VariantRange | None, limits: Mapping[int, int | None], shop: Shop, now: datetime
) -> Availability:
    """The availability of a product of any type. `limits` has the maximum quantity of each bundle by its items' stock,
    and 0 for a download without a file."""
    if row["billing_interval"]:
        return SUBSCRIPTION
    if row["type"] == "variable":
        availability = SOLD_OUT
        if variants is not None and variants.can_sell:
            availability = BACKORDER if variants.only_backorder else IN_STOCK
    elif row["id"] in limits:
        limit = limits[row["id"]]
        availability = IN_STOCK if limit is None else _at_stock_level(limit, row["low_stock_threshold"])
    else:
        availability = stock_availability(row)
    return preorder(row, shop, now) or availability if availability.can_sell else availability


def preorder(row: Record, shop: Shop, now: datetime) -> Availability | None:
    """The availability of a pre-order that can be sold; None for another product, and from its date on."""
    day = datetime.fromisoformat(row["available_from"]) if row["available_from"] else None
    if not row["is_preorder"] or (day is not None and day <= now):
        return None
    text = _("Pre-order")
    if day:
        text = _("Pre-order, sent from %(day)s") % {"day": format_day(day, shop.timezone)}
    return Availability(True, text, "good", is_preorder=True)


def _at_stock_level(stock: int, threshold: int) -> Availability:
    if stock <= 0:
        return SOLD_OUT
    if stock > threshold:
        return IN_STOCK
    return Availability(True, ngettext("Only %(count)s left", "Only %(count)s left", stock) % {"count": stock}, "warn")
