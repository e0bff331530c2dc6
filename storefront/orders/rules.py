"""The data of a sale before it becomes an order, and the rules for tags."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from storefront.catalogue.stock import StockUse
from storefront.kit.money import ZERO
from storefront.pricing.redeeming import DiscountUse

Address = dict[str, str]

MAX_TAGS, MAX_TAG_LENGTH = 20, 40


@dataclass(frozen=True)
class SaleLine:
    """A line at its selling price. `uses` is the stock that the whole line takes; `tax` and `discount` are its shares
    of the sale's."""

    product_id: int | None
    variant_id: int | None
    sku: str
    name: str
    image: str | None
    qty: int
    unit_price: Decimal
    line_total: Decimal
    tax: Decimal = ZERO
    tax_lines: list[dict[str, str]] = field(default_factory=list)
    discount: Decimal = ZERO
    is_digital: bool = False
    is_bundle: bool = False
    is_damaged: bool = False
    requires_shipping: bool = True
    bundle_items: list[dict[str, Any]] = field(default_factory=list)
    options: list[dict[str, Any]] = field(default_factory=list)
    custom_fields: list[dict[str, Any]] = field(default_factory=list)
    gift_card: dict[str, str] | None = None
    available_from: datetime | None = None
    uses: tuple[StockUse, ...] = ()


@dataclass(frozen=True)
class Sale:
    """Everything that an order copies. Amounts are in its `currency`; `shipping_address` is None if nothing is sent;
    `pickup_place` is the address where it is collected instead, with `hours`. `place` is a digest of the visitor's
    network address, for the limit of unpaid orders; empty for a sale without a visitor, which has no such limit.
    `checkout_link` is the public id of the link that brought items, and `attribution` the data sent with it
    (`carts.models.Attributed`). `discount_uses` are the counted discounts, and `redemption` is the number under which
    their uses were counted (`pricing.redeeming`). `gift_cards` is what gift cards pay, as in `Order`; so are
    `tax_lines`, `vat_id`, `vat_check` and `language`."""

    lines: list[SaleLine]
    email: str
    billing_address: Address
    shipping_address: Address | None
    subtotal: Decimal
    discount: Decimal
    shipping: Decimal
    tax: Decimal
    total: Decimal
    currency: str
    prices_include_tax: bool
    phone: str = ""
    customer_id: int | None = None
    shipping_method: str = ""
    delivery_time: str = ""
    pickup_place: Address | None = None
    shopper_note: str = ""
    place: str = ""
    checkout_link: UUID | None = None
    attribution: dict[str, Any] = field(default_factory=dict)
    tax_lines: list[dict[str, str]] = field(default_factory=list)
    discount_lines: list[dict[str, Any]] = field(default_factory=list)
    discount_uses: list[DiscountUse] = field(default_factory=list)
    redemption: UUID | None = None
    gift_cards: list[dict[str, Any]] = field(default_factory=list)
    vat_id: str = ""
    vat_check: dict[str, Any] | None = None
    language: str = ""

    @property
    def amount_due(self) -> Decimal:
        """The amount left to pay after gift cards."""
        return amount_due(self.total, self.gift_cards)


def amount_due(total: Decimal, gift_cards: Iterable[dict[str, Any]]) -> Decimal:
    return total - sum((Decimal(each["amount"]) for each in gift_cards), ZERO)


def check_tag(text: str) -> str:
    """The tag without surrounding white space. Raises ValueError for an invalid tag. Commas are invalid because they
    separate tags in forms."""
    tag = text.strip()
    if not 1 <= len(tag) <= MAX_TAG_LENGTH:
        raise ValueError(_("must have 1 to %(most)s characters") % {"most": MAX_TAG_LENGTH})
    if "," in tag or any(ord(character) < 32 or ord(character) == 127 for character in tag):
        raise ValueError(_("must not contain commas or control characters"))
    return tag
