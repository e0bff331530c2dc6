"""Adding lines to a cart: checks the requested lines against their products, and merges them into the cart's lines.

Reads the catalogue, and stores nothing: `actions` does.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from storefront.carts import gift_card_lines, rules
from storefront.carts.models import Cart, CartLine
from storefront.carts.purchasable import Levels, Purchasable, Sold, load_purchasables, offered_variants
from storefront.catalogue.stock import InsufficientStock
from storefront.kit import money
from storefront.kit.refusals import InvalidFields, Refusal, problem
from storefront.pricing import queries as pricing
from storefront.pricing.queries import GroupTerms
from storefront.pricing.rules import unit_price
from storefront.shops.models import Shop


# Programs rely on the codes of the refusals here, in `rules.py` and in `catalogue/stock.py` (R-ERR-9).
class ProductUnavailable(Refusal):
    """The product is unknown, a draft, unpublished or deleted, or its variant is inactive (R-CART-25)."""

    code, message, field = "product_unavailable", gettext_lazy("This product is not available."), "product_id"


class SubscriptionNotSold(Refusal):
    """The product has a `billing_interval`, or is a bundle with such an item: no shop can charge subscriptions
    (R-CART-51)."""

    code, field = "subscription_not_sold", "product_id"
    message = gettext_lazy("This product is a subscription, and subscriptions cannot be ordered yet.")


NO_FILE = gettext_lazy("This product is a download without a file, so it cannot be sold yet.")


class VariantRequired(Refusal):
    code, message, field = "variant_required", gettext_lazy("Please choose a variant of this product."), "variant_id"


class CartTooLarge(Refusal):
    code, field = "cart_too_large", "cart"
    message = format_lazy(gettext_lazy("A cart can have at most {most} lines."), most=rules.MAX_LINES)


@dataclass(frozen=True, slots=True)
class WantedLine:
    """A line that a caller requests, not checked. `options` is as in `rules.resolve_choices`."""

    product_id: int
    qty: int
    variant_id: int | None = None
    options: Mapping[str, Any] | None = None
    custom_fields: Sequence[Mapping[str, str]] = ()
    custom_price: Decimal | None = None
    is_damaged: bool = False
    gift_card: Mapping[str, Any] | None = None

    @property
    def sold(self) -> Sold:
        return self.product_id, self.variant_id


@dataclass(frozen=True, slots=True)
class CheckedLine:
    """A requested line, checked against its product, not yet against a cart."""

    wanted: WantedLine
    purchasable: Purchasable
    key: str
    choices: list[rules.Choice]
    custom_fields: list[dict[str, str]]
    gift_card: dict[str, str] | None


@dataclass(slots=True)
class Checked:
    """Requested lines by their position: those that can be sold, and the refusals of the others."""

    lines: dict[int, CheckedLine] = field(default_factory=dict)
    refused: dict[int, Refusal] = field(default_factory=dict)

    @property
    def purchasables(self) -> dict[Sold, Purchasable]:
        return {line.wanted.sold: line.purchasable for line in self.lines.values()}

    def raise_first(self) -> None:
        for refusal in self.refused.values():
            raise refusal


def check_qty(qty: int, *, least: int) -> None:
    """Raises InvalidFields for a quantity below `least` or above the limit (R-LIM-5)."""
    if not least <= qty <= rules.MAX_QTY:
        raise InvalidFields(
            errors={"qty": [_("Expected %(least)s to %(most)s.") % {"least": least, "most": rules.MAX_QTY}]}
        )


def check_lines(shop: Shop, wanted: Sequence[WantedLine], now: datetime) -> Checked:
    """Check the requested lines against their products in a fixed number of queries.

    Refusals are ProductUnavailable, SubscriptionNotSold, VariantRequired, OptionRequired, InvalidOption,
    InvalidCustomPrice and InvalidFields.
    """
    purchasables = load_purchasables(shop, {line.sold for line in wanted}, now)
    refusals = unsold(shop, {line.sold for line in wanted}, purchasables, now)
    checked = Checked()
    for index, line in enumerate(wanted):
        if line.sold in refusals:
            checked.refused[index] = refusals[line.sold]
            continue
        try:
            checked.lines[index] = _checked(shop, line, purchasables[line.sold], now)
        except Refusal as refusal:
            checked.refused[index] = refusal
    return checked


def load_for_sale(shop: Shop, product_id: int, variant_id: int | None, now: datetime) -> Purchasable:
    """Raises ProductUnavailable, SubscriptionNotSold and VariantRequired."""
    sold = product_id, variant_id
    found = load_purchasables(shop, [sold], now)
    for refusal in unsold(shop, {sold}, found, now).values():
        raise refusal
    return found[sold]


def unsold(
    shop: Shop, wanted: Collection[Sold], found: Mapping[Sold, Purchasable], now: datetime
) -> dict[Sold, Refusal]:
    """Return the refusals of those that cannot be sold, with the variants that can be. No query if all can be sold."""
    refused = [sold for sold in wanted if not (sold in found and found[sold].is_for_sale(now))]
    refused += [sold for sold in wanted if sold not in refused and found[sold].needs_variant]
    if not refused:
        return {}
    products = load_purchasables(shop, {(product_id, None) for product_id, _ in refused}, now)
    variants = offered_variants(shop, {product_id for product_id, _ in refused})
    refusals: dict[Sold, Refusal] = {}
    for product_id, variant_id in refused:
        product, allowed = products.get((product_id, None)), variants.get(product_id, [])
        is_published = product is not None and product.product.is_published(now)
        if product is not None and is_published and product.is_subscription:
            refusal: Refusal = SubscriptionNotSold()
        elif product is not None and is_published and product.lacks_file:
            refusal = ProductUnavailable(NO_FILE)
        elif product is None or not product.is_for_sale(now):
            refusal = ProductUnavailable()
        elif variant_id is None:
            text = str(VariantRequired.message)
            refusal = VariantRequired(problems=[problem("variant_id", VariantRequired.code, text, allowed=allowed)])
        else:
            text = _("The product has no variant %(id)s for sale.") % {"id": variant_id}
            problems = [problem("variant_id", ProductUnavailable.code, text, allowed=allowed)]
            refusal = ProductUnavailable(text, problems=problems)
        refusals[product_id, variant_id] = refusal
    return refusals


def checked_choices(
    purchasable: Purchasable,
    options: Mapping[str, Any] | None,
    custom_price: Decimal | None,
    currency: str,
    *,
    is_damaged: bool,
) -> list[rules.Choice]:
    """Check that the product allows the line's options, custom price and damage. Returns the chosen options. Raises
    OptionRequired, InvalidOption, InvalidCustomPrice and InvalidFields."""
    choices = rules.resolve_choices(purchasable.options, options)
    rules.check_custom_price(purchasable.product, purchasable.variant, choices, custom_price, currency)
    rules.check_damaged(purchasable.product, is_damaged)
    return choices


class FillingCart:
    """A cart's lines while others are added to them. `changed` are the lines to store, by key."""

    def __init__(self, shop: Shop, now: datetime, cart: Cart | None, lines: list[CartLine], added: Checked) -> None:
        self.shop, self.now, self.lines = shop, now, lines
        self.changed: dict[str, CartLine] = {}
        self._by_key = {line.key: line for line in lines}
        self._taken, self._subtotal = rules.stock_needed(lines), rules.subtotal(lines)
        self._text_bytes: int | None = None
        self._levels: Levels = {
            stock: level for line in added.lines.values() for stock, level in line.purchasable.levels.items()
        }
        products = {line.wanted.product_id for line in added.lines.values()}
        self._terms = pricing.group_terms(shop, cart.customer_id if cart else None, products)

    def add(self, checked: CheckedLine) -> CartLine:
        """Add the line, or raise the quantity of an equal one. Returns the cart's line at its current price.

        Raises CartTooLarge, InsufficientStock, TotalTooLarge, InvalidCustomPrice and InvalidFields; then the cart must
        not be stored.
        """
        qty, line = checked.wanted.qty, self._by_key.get(checked.key)
        if line is None:
            line = self._new_line(checked)
        else:
            self._taken.subtract(rules.stock_needed([line]))
            self._subtotal -= line.price_snapshot * line.qty
        snapshot(line, checked.purchasable, checked.choices, self._terms)
        self._taken.update(rules.stock_needed([line]))
        self._subtotal += line.price_snapshot * line.qty
        if line.key not in self._by_key:
            self._append(line)
        fits = rules.addable_qty(rules.line_stock_uses(line, 1), self._taken, self._levels)
        if fits is not None and qty > fits:
            raise _insufficient_stock(checked.purchasable.name, fits)
        if line.qty + qty > rules.MAX_QTY:
            message = _("A line can have a quantity of at most %(count)s.") % {"count": rules.MAX_QTY}
            raise InvalidFields(errors={"qty": [message]})
        if qty > rules.affordable_qty(line.price_snapshot, self._subtotal):
            raise rules.TotalTooLarge
        line.qty += qty
        self._subtotal += line.price_snapshot * qty
        self._taken.update({(use.kind, use.id): use.qty for use in rules.line_stock_uses(line, qty)})
        self.changed[line.key] = line
        return line

    def _new_line(self, checked: CheckedLine) -> CartLine:
        if len(self.lines) >= rules.MAX_LINES:
            raise CartTooLarge
        product, variant = checked.purchasable.product, checked.purchasable.variant
        return CartLine(
            shop=self.shop,
            key=checked.key,
            product=product,
            variant=variant,
            qty=0,
            is_digital=product.type == "digital",
            is_bundle=product.type == "bundle",
            custom_fields=checked.custom_fields,
            custom_price=checked.wanted.custom_price,
            is_damaged=checked.wanted.is_damaged,
            gift_card=checked.gift_card,
            created_at=self.now,
        )

    def _append(self, line: CartLine) -> None:
        if size := rules.text_bytes(line):
            if self._text_bytes is None:
                self._text_bytes = sum(map(rules.text_bytes, self.lines))
            if self._text_bytes + size > rules.MAX_CART_TEXT:
                raise CartTooLarge(rules.too_much_text())
            self._text_bytes += size
        self.lines.append(line)
        self._by_key[line.key] = line


def current_price(
    line: CartLine, purchasable: Purchasable, choices: Sequence[rules.Choice], terms: GroupTerms
) -> Decimal:
    """The current price of one piece of the line, with its options. Raises InvalidCustomPrice."""
    price = unit_price(
        purchasable.product,
        purchasable.variant,
        [choice.price for choice in choices],
        currency=terms.currency,
        group_price=terms.price(line.product_id, line.variant_id),
        group_percent=terms.percent_off(line.product_id),
        custom_price=line.custom_price,
        is_damaged=line.is_damaged,
    )
    if price > money.MAX_AMOUNT:
        raise rules.InvalidCustomPrice(_("The price is too high."), errors={"custom_price": [_("Too high.")]})
    return price


def snapshot(line: CartLine, purchasable: Purchasable, choices: Sequence[rules.Choice], terms: GroupTerms) -> None:
    """Copy price, name, picture and the like from the catalogue to the line. Raises InvalidCustomPrice."""
    line.price_snapshot = current_price(line, purchasable, choices, terms)
    line.name_snapshot = purchasable.name
    line.image_snapshot = purchasable.image
    line.bundle_items = purchasable.bundle_items
    line.options = [choice.stored() for choice in choices]
    line.gift_card = (line.gift_card or gift_card_lines.PLAIN) if purchasable.product.is_gift_card else None
    line.available_from = purchasable.product.available_from if purchasable.product.is_preorder else None


def _checked(shop: Shop, wanted: WantedLine, purchasable: Purchasable, now: datetime) -> CheckedLine:
    check_qty(wanted.qty, least=1)
    choices = checked_choices(
        purchasable, wanted.options, wanted.custom_price, shop.currency, is_damaged=wanted.is_damaged
    )
    fields = rules.custom_fields(wanted.custom_fields)
    if money.problem_of(wanted.custom_price or money.ZERO, shop.currency):
        text = _("The price must be a whole number: %(currency)s has no decimals.") % {"currency": shop.currency}
        raise rules.InvalidCustomPrice(text, errors={"custom_price": [text]})
    gift_card = gift_card_lines.checked(purchasable.product, wanted.gift_card, shop.local_time(now).date())
    key = rules.line_key(
        wanted.product_id,
        wanted.variant_id,
        choices=choices,
        custom_fields=fields,
        custom_price=wanted.custom_price,
        is_damaged=wanted.is_damaged,
        gift_card=gift_card if gift_card != gift_card_lines.PLAIN else None,
    )
    return CheckedLine(wanted, purchasable, key, choices, fields, gift_card)


def _insufficient_stock(name: str, available: int) -> InsufficientStock:
    message = _("Not enough stock of %(name)s. No more are available.")
    if available:
        message = _("Not enough stock of %(name)s. Only %(available)s more available.")
    return InsufficientStock(message % {"name": name, "available": available}, available=available)
