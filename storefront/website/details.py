"""A product as its page shows it: prices, stock, pictures, options, and the variant that is chosen."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from storefront.catalogue.dated.past_prices import lowest_before
from storefront.customers.models import Customer
from storefront.kit.format import format_money
from storefront.kit.money import ZERO
from storefront.pricing.queries import GroupTerms, group_terms
from storefront.shops import mail
from storefront.shops.models import Shop
from storefront.stock_alerts.actions import can_wait_for
from storefront.website import offers, pictures, queries
from storefront.website.choices import Choice, choose, fixed_values
from storefront.website.offers import Availability, Price
from storefront.website.pictures import Picture

Record = dict[str, Any]

# Availability of a combination that no variant has.
NOT_MADE = Availability(False, gettext_lazy("Not available in this combination"))


@dataclass(frozen=True, slots=True)
class DamagedPieces:
    """Damaged pieces that can be bought: the price of one, and how many are left."""

    price: Decimal
    left: int


@dataclass(frozen=True, slots=True)
class Shown:
    """The details of the chosen variant, or of the product if it has none.

    `lowest_before` is the lowest price in the 30 days before a reduction, if there was another price then. `sku` is
    empty without an SKU, or if the chosen combination does not exist.
    """

    price: Price
    lowest_before: Decimal | None
    availability: Availability
    sku: str


@dataclass(frozen=True, slots=True)
class ProductDetail:
    """A product for its page. `price` and `availability` cover all its variants; `shown` are the details of the chosen
    one."""

    record: Record
    price: Price
    availability: Availability
    shown: Shown
    choice: Choice
    variants: list[Record]
    pictures: list[Picture]
    options: list[Record]
    bundle_items: list[Record]
    damaged: DamagedPieces | None
    chosen: dict[str, str]

    @property
    def is_offered(self) -> bool:
        """Returns True if there is something to choose or to buy: variants of a sold-out product can still be
        viewed."""
        return self.availability.can_sell or self.damaged is not None or bool(self.choice.axes)

    @property
    def is_sold_out(self) -> bool:
        """Returns True if the chosen product or variant exists and is sold out."""
        return not self.shown.availability.can_sell and not self.choice.problem

    @property
    def offers_alert(self) -> bool:
        """Returns True if a shopper can request a stock alert, for the chosen variant or another one."""
        is_stocked = not (self.record["is_gift_card"] or self.record["billing_interval"])
        can_wait = mail.is_sent() and can_wait_for(self.record["type"]) and is_stocked
        any_gone = any(not variant["sells"] for variant in self.variants)
        return can_wait and (any_gone if self.choice.axes else self.is_sold_out)

    @property
    def takes_text(self) -> bool:
        """Returns True if the shopper types something with this: an option's text, a gift card's recipient."""
        return takes_text(self.record)

    @property
    def has_sku(self) -> bool:
        return bool(self.shown.sku or self.record["sku"]) or any(variant["sku"] for variant in self.variants)


def takes_text(record: Record) -> bool:
    return record["is_gift_card"] or any(option["type"] == "text" for option in record["options"])


def product_detail(
    shop: Shop, record: Record, given: Mapping[str, str], customer: Customer | None, now: datetime, language: str = ""
) -> ProductDetail:
    """The page's view of a product record. `given`: what the visitor has already chosen, by form field."""
    terms = group_terms(shop, customer.pk if customer else None, [record["id"]])
    record = offers.at_group_prices(record, terms)
    ranges = queries.variant_ranges(shop, [record["id"]], terms, now=now) if record["type"] == "variable" else {}
    limits, bundle_items = queries.bundle(shop, record["id"], now, language) if record["type"] == "bundle" else ({}, [])
    if record["type"] == "digital":
        limits = queries.undelivered(shop, [record["id"]])
    options = queries.required_options(shop, [record["id"]], terms) if record["options"] else {}
    required = options.get(record["id"], (ZERO, False))
    variants = [variant for variant in record["variants"] if variant["is_active"]]
    choice = choose(shop, record, variants, given) if record["type"] == "variable" else Choice([], None)
    first_picture = record["media"][0]["url"] if record["media"] else None
    record = record | {"media": _media_in_order(record, choice.variant)}
    picture_numbers: dict[str | None, int] = {}
    for number, media in enumerate(record["media"]):
        picture_numbers.setdefault(media["url"], number)
    # The picture of a variant without one of its own.
    picture_numbers.setdefault(None, picture_numbers.get(first_picture, 0))
    price = replace(offers.price(record, ranges.get(record["id"]), *required), is_net=terms.is_net)
    reduced = [variant for variant in variants if Decimal(variant["compare_price"]) > Decimal(variant["price"])]
    # Past prices are not recorded for customer groups.
    lowest = lowest_before(shop, record["id"], now) if (price.old or reduced) and terms.is_plain else {}
    lowest = {variant: amount + required[0] for variant, amount in lowest.items()}
    availability = offers.product_availability(record, ranges.get(record["id"]), limits, shop, now)
    shown = Shown(price, lowest.get(None) if price.old and not variants else None, availability, record["sku"])
    if choice.problem:
        shown = Shown(price, None, NOT_MADE, "")
    elif choice.variant:
        shown = _shown(shop, record, choice.variant, lowest, required, now, is_net=terms.is_net)
    return ProductDetail(
        record=record,
        price=price,
        availability=availability,
        shown=shown,
        choice=choice,
        variants=[
            _variant(shop, record, variant, picture_numbers, lowest.get(variant["id"]), *required, now)
            for variant in variants
        ],
        pictures=_pictures(shop, record),
        options=[option | {"field": f"option-{option['id']}"} for option in record["options"]],
        bundle_items=bundle_items,
        damaged=_damaged(record, terms),
        chosen=dict(given),
    )


def _media_in_order(record: Record, variant: Record | None) -> list[Record]:
    """The product's pictures, the chosen variant's first."""
    media: list[Record] = record["media"]
    if variant is None or not variant["image"]:
        return media
    return sorted(media, key=lambda each: each["url"] != variant["image"])


def _shown(
    shop: Shop,
    record: Record,
    variant: Record,
    lowest: Mapping[int | None, Decimal],
    required: tuple[Decimal, bool],
    now: datetime,
    *,
    is_net: bool,
) -> Shown:
    price = _variant_price(variant, *required)
    return Shown(
        replace(price, is_net=is_net),
        lowest.get(variant["id"]) if price.old else None,
        _variant_availability(shop, record, variant, now),
        variant["sku"] or record["sku"],
    )


def _damaged(record: Record, terms: GroupTerms) -> DamagedPieces | None:
    is_sold = not (record["is_gift_card"] or record["billing_interval"])
    if not is_sold or record["damaged_price"] is None or record["damaged_qty"] <= 0:
        return None
    return DamagedPieces(terms.shown(Decimal(record["damaged_price"]), record["id"]), record["damaged_qty"])


def _variant(
    shop: Shop,
    record: Record,
    variant: Record,
    picture_numbers: Mapping[str | None, int],
    lowest: Decimal | None,
    required: Decimal,
    varies: bool,
    now: datetime,
) -> Record:
    """A variant's data for the page's script: formatted texts, and its picture's index from `picture_numbers` (by URL).

    `price` and `total` include the least that required options add. `amount` does not, since the script adds the chosen
    options.
    """
    price = _variant_price(variant, required, varies)
    amount = format_money(price.amount, shop.currency)
    availability = _variant_availability(shop, record, variant, now)
    return {
        "id": variant["id"],
        "name": variant["name"],
        "sku": variant["sku"] or record["sku"],
        "values": fixed_values(variant),
        "amount": variant["price"],
        "total": str(price.amount),
        "old": format_money(price.old, shop.currency),
        "lowest": format_money(lowest, shop.currency) if price.old and lowest is not None else "",
        "price": _("From %(price)s") % {"price": amount} if varies else amount,
        "note": availability.text,
        "kind": availability.kind,
        "sells": availability.can_sell,
        "picture": picture_numbers.get(variant["image"]),
    }


def _variant_price(variant: Record, required: Decimal, varies: bool) -> Price:
    return offers.price_of(Decimal(variant["price"]), Decimal(variant["compare_price"]), required, is_from=varies)


def _variant_availability(shop: Shop, record: Record, variant: Record, now: datetime) -> Availability:
    if record["billing_interval"]:
        return offers.SUBSCRIPTION
    found = offers.stock_availability(variant, threshold=record["low_stock_threshold"])
    return offers.preorder(record, shop, now) or found if found.can_sell else found


def _pictures(shop: Shop, record: Record) -> list[Picture]:
    awaited = pictures.awaited_media(shop, record["media"])
    return [pictures.media_picture(shop, media, pictures.LARGE, record["name"], awaited) for media in record["media"]]
