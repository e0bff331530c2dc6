import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.db import transaction
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

from storefront.carts import actions as carts
from storefront.carts import merging
from storefront.carts.models import Cart, CartLine
from storefront.carts.rules import TotalTooLarge, line_stock_uses
from storefront.catalogue.models import Product, Variant
from storefront.checkout import queries
from storefront.checkout.models import Checkout
from storefront.checkout.order_summary import OrderSummary, summarise
from storefront.checkout.queries import Quote
from storefront.kit.money import MAX_AMOUNT
from storefront.kit.refusals import Refusal
from storefront.orders.models import Order
from storefront.orders.rules import Address, Sale, SaleLine
from storefront.payments import drafts
from storefront.payments.asking import ask, begin, continue_payment, due_call, end_payment
from storefront.payments.frozen import thaw_sale
from storefront.payments.methods import paid_with
from storefront.payments.models import Payment
from storefront.payments.placing import place_order
from storefront.payments.providers.base import Provider, Step
from storefront.payments.providers.gift_card import GIFT_CARD
from storefront.payments.rules import YOUNG, Call, State
from storefront.payments.saved_methods import NOTHING_KEPT, Keeping
from storefront.pricing.models import PickupPlace
from storefront.pricing.redeeming import uses_of
from storefront.pricing.shipping import ShippingOption
from storefront.shops.models import Shop
from storefront.shops.spoken import spoken_language
from storefront.webhooks.actions import record_event

# What an order's line has of the cart's line under the same name.
_COPIED = (
    *("product_id", "variant_id", "qty", "is_digital", "is_bundle", "is_damaged", "bundle_items"),
    *("options", "custom_fields", "gift_card", "available_from"),
)


class NothingToBuy(Refusal):
    code = "empty_cart"
    message = _("Your basket is empty.")


class NotAsShown(Refusal):
    """The order differs from what the payment page showed."""

    code = "not_as_shown"
    message = _("Your order has changed. Please review it before you place it.")


class NotReady(Refusal):
    """An address or a delivery method is missing, or no longer available."""

    code = "checkout_not_ready"
    message = _("Please choose a delivery method.")


class PaymentUnderWay(Refusal):
    """Another press of the pay button for the same basket came in between."""

    status, code = 409, "payment_under_way"
    message = _("A payment for this basket is under way in another window. Please finish it there, or try again.")


def save_details(
    *,
    shop: Shop,
    cart: Cart,
    owner: UUID,
    email: str,
    phone: str,
    shipping_address: Address | None,
    billing_address: Address | None,
    pickup_place: PickupPlace | None = None,
    vat_id: str = "",
    vat_check: dict[str, Any] | None = None,
    now: datetime,
) -> Checkout:
    """Save contact and addresses in the one open checkout of this owner and cart, created if there is none.

    `billing_address` is None if it is the same as the shipping address. With a pick-up place, there is no shipping
    address. `vat_check` is the outcome of checking the VAT ID (`vat_ids.check_vat_id`).
    """
    details = {
        "email": email,
        "phone": phone,
        "shipping_address": shipping_address,
        "billing_address": billing_address,
        "pickup_place": pickup_place,
        "vat_id": vat_id,
        "vat_check": vat_check,
        "language": spoken_language(shop),
        "updated_at": now,
    }
    checkout, _ = Checkout.objects.update_or_create(
        defaults=details, create_defaults=details | {"created_at": now}, shop=shop, cart=cart, owner=owner, order=None
    )
    return checkout


def choose_delivery(
    *, shop: Shop, checkout: Checkout, offered: list[ShippingOption], rate_id: int | None, now: datetime
) -> None:
    """Save one of the delivery methods that the checkout's quote offers. Raises NotReady if it is none of them."""
    if rate_id not in [delivery.rate_id for delivery in offered]:
        raise NotReady
    Checkout.objects.filter(shop=shop, pk=checkout.pk, order=None).update(shipping_rate=rate_id, updated_at=now)


@dataclass(frozen=True)
class Pressed:
    """The outcome of pressing the pay button: an order, or a payment with the shopper's next step, if that is known."""

    order: Order | None = None
    payment: Payment | None = None
    step: Step | None = None


@sensitive_variables("given")
def press_pay(
    *,
    shop: Shop,
    checkout: Checkout,
    quote: Quote,
    provider: Provider | None,
    given: Mapping[str, Any],
    agreed: OrderSummary,
    shopper_note: str,
    place: str = "",
    keeping: Keeping = NOTHING_KEPT,
    now: datetime,
) -> Pressed:
    """Freeze the order, take its stock, and start its payment. Pressing again with the same content continues the first
    payment.

    `agreed` is what the payment page showed; an order that differs is refused: at once if `quote` does, which the
    caller has just read, and again under the locks of the freezing. `given` is what was entered in the
    provider's own form. `place` is a digest of the shopper's network address. Raises InsufficientStock, DiscountUsedUp,
    GiftCardChanged, TooManyUnpaid, NotAsShown, NotReady, NothingToBuy, TotalTooLarge, PaymentDeclined or
    MethodUnavailable; then nothing was charged, and no stock is held.
    """
    if checkout.order is not None:
        return Pressed(order=checkout.order)
    cart = checkout.cart
    if cart is None:
        raise NothingToBuy
    _check_agreed(shop, checkout, quote, agreed)
    provider = provider if agreed.amount else None
    digest = _digest(agreed, provider, keeping, shopper_note)
    earlier = _end_earlier(shop, cart, checkout, digest, now)
    if earlier is not None:
        return Pressed(order=earlier.order, payment=earlier)
    frozen = freeze(shop, checkout, provider, agreed, digest, shopper_note, place, keeping, now, quote.language)
    if frozen.order is not None or frozen.payment is None:
        return frozen
    return _start(shop, frozen.payment, given, now)


@transaction.atomic
def freeze(
    shop: Shop,
    checkout: Checkout,
    provider: Provider | None,
    agreed: OrderSummary,
    digest: str,
    shopper_note: str,
    place: str,
    keeping: Keeping,
    now: datetime,
    language: str = "",
) -> Pressed:
    """Freeze the checkout as a draft with a payment to be started, or place its order if it is free. A checkout that
    was pressed with the same digest before returns what that one made. The order has names in this language.

    Raises what `press_pay` raises before it asks a provider; then nothing has changed.
    """
    # The second of two concurrent clicks waits here for the first one's commit, and finds its draft or its order.
    checkout = Checkout.objects.select_for_update(of=("self",)).select_related("order").get(shop=shop, pk=checkout.pk)
    if checkout.order is not None:
        return Pressed(order=checkout.order)
    # Lock the cart, so that nothing is added between pricing and freezing it.
    cart = Cart.objects.select_for_update(of=("self",)).filter(shop=shop, checkouts=checkout).first()
    if cart is None:
        raise NothingToBuy
    existing = drafts.open_draft(shop, cart)
    if existing is not None:
        if existing.digest != digest or existing.owner != checkout.owner:
            raise PaymentUnderWay
        return Pressed(payment=drafts.payment_of(existing))
    # Lines that are short are refused below, when their stock is taken.
    repriced = carts.reprice_cart(shop=shop, cart=cart, now=now)
    if any(not each.is_short or each.is_price_changed for each in repriced.checks):
        raise NotAsShown
    quote = queries.quote(shop, cart, checkout, now, language, lines=repriced.lines)
    _check_agreed(shop, checkout, quote, agreed)
    basket, arrivals = merging.ordered_lines(shop=shop, cart=cart)
    quote = replace(quote, totals=paid_with(provider, quote.totals, shop.currency))
    sale = _sale(shop, cart, checkout, quote, shopper_note, place)
    if arrivals:
        # The link that was followed last.
        sale = replace(sale, checkout_link=arrivals[-1].checkout_link, attribution=arrivals[-1].attribution())
    press = drafts.Press(cart=cart, owner=checkout.owner, digest=digest, sale=sale, basket=basket, keeping=keeping)
    draft = drafts.freeze_order(shop=shop, press=press, provider=provider, now=now)
    Checkout.objects.filter(shop=shop, pk=checkout.pk).update(draft=draft, updated_at=now)
    if provider is None:
        return Pressed(order=place_order(shop=shop, draft=draft, sale=thaw_sale(draft.sale), payments=[], now=now))
    return Pressed(payment=drafts.payment_of(draft))


@transaction.atomic
def report_abandoned_checkout(*, checkout_id: int, unchanged_since: datetime, now: datetime) -> bool:
    """Mark the checkout as abandoned, and record the event if its basket has items. False if it was changed, ordered or
    reported meanwhile. An order can still follow."""
    # An order that is being placed holds the lock: then the checkout is not abandoned.
    rows = Checkout.objects.select_for_update(skip_locked=True, of=("self",)).filter(pk=checkout_id)
    left = rows.filter(order=None, abandoned_at=None, updated_at__lte=unchanged_since)
    checkout = left.select_related("shop", "cart").first()
    if checkout is None:
        return False
    checkout.abandoned_at = now
    checkout.save(update_fields=["abandoned_at"])
    shop, cart = checkout.shop, checkout.cart
    quote = queries.quote(shop, cart, checkout, now) if cart and cart.is_live(now) else None
    if cart and quote and quote.lines:
        data = queries.abandoned_record(shop, cart, checkout, quote)
        record_event(shop=shop, topic="checkout.abandoned", data=data, now=now)
    return True


def _start(shop: Shop, payment: Payment, given: Mapping[str, Any], now: datetime) -> Pressed:
    """Start a payment, or continue one that an earlier press of the same has started."""
    if payment.state == State.STARTED:
        payment, step = begin(shop=shop, payment=payment, given=given, now=now)
    else:
        payment, step = continue_payment(shop=shop, payment=payment, now=now)
    if due_call(payment, now) == Call.CAPTURE:
        # Without an answer here, the order stays placed, and the worker captures the payment.
        payment = ask(shop=shop, payment=payment, source="call", now=now) or payment
    return Pressed(order=payment.order, payment=payment, step=step)


def _end_earlier(shop: Shop, cart: Cart, checkout: Checkout, digest: str, now: datetime) -> Payment | None:
    """End the payment that another press for this basket has started. Returns the payment if it could not be ended: the
    provider was too late, or did not answer."""
    earlier = drafts.open_draft(shop, cart)
    if earlier is None or (earlier.digest == digest and earlier.owner == checkout.owner):
        return None
    for payment in earlier.payments.exclude(gateway=GIFT_CARD).select_related("draft", "order"):
        if payment.state == State.STARTED and now < payment.created_at + YOUNG:
            # Another request is waiting for its provider.
            if earlier.owner == checkout.owner:
                return payment
            raise PaymentUnderWay
        ended = end_payment(shop=shop, payment=payment, now=now)
        if ended is None or ended.state != State.CANCELLED:
            return ended or payment
    return None


def _digest(agreed: OrderSummary, provider: Provider | None, keeping: Keeping, shopper_note: str) -> str:
    """A digest that distinguishes one press of a checkout from another."""
    saved = keeping.saved.pk if keeping.saved else None
    pressed = [asdict(agreed), provider.name if provider else "", saved, keeping.saves, shopper_note]
    return hashlib.sha256(orjson.dumps(pressed)).hexdigest()


def _check_agreed(shop: Shop, checkout: Checkout, quote: Quote, agreed: OrderSummary) -> None:
    """Raise what refuses the quote of a pressed checkout."""
    if not quote.lines:
        raise NothingToBuy
    if not quote.is_deliverable or quote.address is None:
        raise NotReady
    if summarise(shop, checkout, quote) != agreed:
        raise NotAsShown
    if max(quote.totals.subtotal, quote.totals.total) > MAX_AMOUNT:
        # Prices were raised after the cart was filled, or delivery and taxes were added.
        raise TotalTooLarge(gettext("This is more than a single order can come to. Please order less at a time."))


def _sale(shop: Shop, cart: Cart, checkout: Checkout, quote: Quote, shopper_note: str, place: str) -> Sale:
    totals = quote.totals
    billing = queries.billing_address(checkout)
    if billing is None:
        raise NotReady
    return Sale(
        lines=_sale_lines(shop, quote),
        email=checkout.email,
        phone=checkout.phone,
        customer_id=cart.customer_id,
        shipping_address=checkout.shipping_address if quote.is_shipped else None,
        billing_address=billing,
        shipping_method=quote.delivery.name if quote.delivery else "",
        delivery_time=quote.delivery.time if quote.delivery else "",
        pickup_place=queries.pickup_record(quote.pickup) if quote.pickup else None,
        shopper_note=shopper_note,
        place=place,
        subtotal=totals.subtotal,
        discount=totals.discount,
        shipping=totals.shipping,
        tax=totals.tax,
        total=totals.total,
        currency=shop.currency,
        prices_include_tax=totals.prices_include_tax,
        tax_lines=[tax.record for tax in totals.tax_lines],
        vat_id=checkout.vat_id,
        vat_check=checkout.vat_check,
        language=spoken_language(shop),
        discount_lines=[
            {"name": line.name, "amount": f"{line.amount:.2f}", "code": line.code or None}
            for line in totals.discount_lines
        ],
        discount_uses=uses_of(totals.discount_lines),
        gift_cards=[
            {"card": card.id, "last_four": card.last_four, "amount": f"{card.amount:.2f}"}
            for card in totals.gift_cards
            if card.amount
        ],
    )


def _sale_lines(shop: Shop, quote: Quote) -> list[SaleLine]:
    skus, shipped = _skus_and_shipped(shop, quote.lines)
    return [
        SaleLine(
            **{name: getattr(line, name) for name in _COPIED},
            sku=skus[line.product_id, line.variant_id],
            name=line.name_snapshot,
            image=line.image_snapshot,
            unit_price=line.price_snapshot,
            line_total=line.price_snapshot * line.qty,
            tax=tax,
            discount=discount,
            tax_lines=[each.record for each in tax_lines],
            requires_shipping=not line.is_digital and line.product_id in shipped,
            uses=tuple(line_stock_uses(line)),
        )
        for line, tax, tax_lines, discount in zip(
            quote.lines,
            quote.totals.line_taxes,
            quote.totals.line_tax_lines,
            quote.totals.line_discounts,
            strict=True,
        )
    ]


def _skus_and_shipped(shop: Shop, lines: list[CartLine]) -> tuple[dict[tuple[int, int | None], str], set[int]]:
    """SKUs by product and variant id, and the ids of shipped products. A variant without an SKU has the SKU of its
    product."""
    products = Product.objects.filter(shop=shop, pk__in={line.product_id for line in lines})
    rows = {pk: (sku, is_shipped) for pk, sku, is_shipped in products.values_list("pk", "sku", "requires_shipping")}
    variants = dict(
        Variant.objects.filter(shop=shop, pk__in={line.variant_id for line in lines}).values_list("pk", "sku")
    )
    skus = {
        (line.product_id, line.variant_id): variants.get(line.variant_id or 0) or rows[line.product_id][0]
        for line in lines
    }
    return skus, {pk for pk, (_, is_shipped) in rows.items() if is_shipped}
