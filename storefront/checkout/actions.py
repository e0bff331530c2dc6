from dataclasses import replace
from datetime import datetime
from uuid import UUID

import structlog
from django.db import transaction
from django.views.decorators.debug import sensitive_variables

from storefront.carts import actions as carts
from storefront.carts import merging
from storefront.carts.models import Cart, CartLine
from storefront.carts.rules import line_stock_uses
from storefront.catalogue.models import Product, Variant
from storefront.checkout import queries
from storefront.checkout.gateways import GATEWAYS, Authorisation, Card, Gateway, RefundDeclined, RefundRequest
from storefront.checkout.models import Checkout
from storefront.checkout.order_summary import OrderSummary, summarise
from storefront.checkout.queries import Quote
from storefront.kit.refusals import Refusal
from storefront.orders import actions as orders
from storefront.orders import refunds
from storefront.orders.models import Order, Payment, Refund
from storefront.orders.rules import Address, Promise, Sale, SaleLine
from storefront.shops.models import Shop
from storefront.webhooks.actions import record_event

log = structlog.get_logger(__name__)


class NothingToBuy(Refusal):
    code = "empty_cart"
    message = "Your basket is empty."


class NotAsShown(Refusal):
    """The order differs from what the payment page showed."""

    code = "not_as_shown"
    message = "Your order has changed. Please review it before you place it."


class NotReady(Refusal):
    """An address or a delivery method is missing, or no longer available."""

    code = "checkout_not_ready"
    message = "Please choose a delivery method."


def save_details(
    *,
    shop: Shop,
    cart: Cart,
    owner: UUID,
    email: str,
    phone: str,
    shipping_address: Address | None,
    billing_address: Address | None,
    now: datetime,
) -> Checkout:
    """Save contact and addresses in the one open checkout of this owner and cart, created if there is none.

    `billing_address` is None if it is the same as the shipping address.
    """
    details = {
        "email": email,
        "phone": phone,
        "shipping_address": shipping_address,
        "billing_address": billing_address,
        "updated_at": now,
    }
    checkout, _ = Checkout.objects.update_or_create(
        defaults=details, create_defaults=details | {"created_at": now}, shop=shop, cart=cart, owner=owner, order=None
    )
    return checkout


def choose_delivery(*, shop: Shop, cart: Cart, checkout: Checkout, rate_id: int | None, now: datetime) -> None:
    """Save the delivery method. Raises NotReady if it is not available for the checkout's address."""
    offered = queries.quote(shop, cart, checkout, now).deliveries
    if rate_id not in [delivery.rate_id for delivery in offered]:
        raise NotReady
    Checkout.objects.filter(shop=shop, pk=checkout.pk, order=None).update(shipping_rate=rate_id, updated_at=now)


@sensitive_variables("card")
def pay_and_place(
    *,
    shop: Shop,
    checkout: Checkout,
    gateway: Gateway | None,
    card: Card | None,
    agreed: OrderSummary,
    shopper_note: str,
    place: str = "",
    now: datetime,
) -> Order:
    """Authorise the payment, place the order, capture the payment. Idempotent: a placed checkout returns its order.

    `agreed` is what the payment page showed; an order that differs is refused. `place` is a digest of the shopper's
    network address. Authorisation comes before the transaction that places the order and capture after it, since
    neither may run inside one. Raises PaymentDeclined, InsufficientStock, TooManyUnpaid, NotAsShown, NotReady or
    NothingToBuy; then no order is placed, and the authorisation is voided.
    """
    if checkout.order is not None:
        return checkout.order
    _check_before_charging(shop, checkout, agreed, now)
    authorisation = None
    if gateway and agreed.amount:
        authorisation = gateway.authorise(shop=shop, amount=agreed.amount, card=card)
    try:
        order, is_new = place_order(
            shop=shop,
            checkout=checkout,
            authorisation=authorisation,
            agreed=agreed,
            shopper_note=shopper_note,
            place=place,
            now=now,
        )
    except Refusal:
        # Only for refusals: after another error, such as a connection lost during the commit, the order may exist. Then
        # the worker settles its payment, or the authorisation expires.
        _void(gateway, authorisation)
        raise
    if not is_new:
        _void(gateway, authorisation)
        return order
    for payment in order.payments.filter(status=Payment.Status.AUTHORISED):
        settle_payment(shop=shop, payment=payment, now=now)
    return order


@transaction.atomic
def place_order(
    *,
    shop: Shop,
    checkout: Checkout,
    authorisation: Authorisation | None,
    agreed: OrderSummary,
    shopper_note: str,
    place: str = "",
    now: datetime,
) -> tuple[Order, bool]:
    """Turn the checkout into its one order and empty the cart. Returns the order, and whether this call placed it.

    Items that checkout links brought are removed from the integrations' carts that they were copied from, and those
    carts record the order. The order gets what was given with the link that was followed last.

    Raises InsufficientStock, TooManyUnpaid, NotAsShown, NotReady or NothingToBuy; then nothing has changed.
    """
    # The second of two concurrent clicks waits here for the first one's commit, and finds its order.
    checkout = Checkout.objects.select_for_update().select_related(None).get(shop=shop, pk=checkout.pk)
    if checkout.order_id is not None:
        return Order.objects.get(shop=shop, pk=checkout.order_id), False
    # Lock the cart, so that nothing is added between pricing and emptying it.
    cart = Cart.objects.select_for_update().filter(shop=shop, checkouts=checkout).first()
    if cart is None:
        raise NothingToBuy
    if carts.reprice_cart(shop=shop, cart=cart, now=now):
        raise NotAsShown
    quote = _agreed_quote(shop, cart, checkout, agreed, now)
    arrivals = merging.remove_ordered_lines(shop=shop, cart=cart, now=now)
    sale = _sale(shop, cart, checkout, quote, shopper_note, place)
    if arrivals:
        # Of several links, the one that was followed last.
        sale = replace(sale, checkout_link=arrivals[-1].checkout_link, attribution=arrivals[-1].attribution())
    order = orders.place_order(shop=shop, sale=sale, promise=_promise(authorisation), now=now)
    sources = sorted(arrival.source_id for arrival in arrivals)
    merging.record_order(shop=shop, cart_ids=sources, order_id=order.pk, number=order.number, placed_at=order.placed_at)
    checkout.order, checkout.shopper_note, checkout.updated_at = order, shopper_note, now
    checkout.payment_method = order.payment_method
    checkout.save(update_fields=["order", "shopper_note", "payment_method", "updated_at"])
    return order, True


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


def settle_payment(*, shop: Shop, payment: Payment, now: datetime) -> bool:
    """Have the gateway capture an authorised payment, or void it if the order was cancelled.

    False if that failed: then the payment does not change, and the worker tries again.
    """
    gateway = GATEWAYS.get(payment.gateway)
    if gateway is None:
        return False
    authorisation = Authorisation(payment.gateway, payment.amount, payment.currency, payment.reference, is_held=True)
    is_cancelled = Order.objects.filter(shop=shop, pk=payment.order_id, status=Order.Status.CANCELLED).exists()
    try:
        if is_cancelled:
            gateway.void(authorisation)
        else:
            gateway.capture(authorisation)
    except Exception as error:
        # Not raised: the order exists, whatever happens at the gateway.
        log.warning("payment_not_settled", payment=payment.pk, gateway=gateway.name, error=type(error).__name__)
        return False
    record = orders.record_void if is_cancelled else orders.record_capture
    return record(shop=shop, payment=payment, now=now)


def carry_out_refund(*, shop: Shop, refund: Refund, now: datetime) -> bool:
    """Have the gateway carry out a pending refund, and record the result.

    False if that failed or another worker has claimed the refund: then it stays pending, and the worker tries again.
    """
    if not refunds.claim_refund(shop=shop, refund=refund, now=now):
        return False
    payment = refund.payment
    gateway = GATEWAYS.get(payment.gateway)
    if gateway is None:
        why = "This payment method is no longer available. The shop must refund the payment itself."
        return refunds.record_refund_failed(shop=shop, refund=refund, why=why, now=now)
    try:
        reference = gateway.refund(RefundRequest(str(refund.key), payment.reference, refund.amount, refund.currency))
    except RefundDeclined as declined:
        return refunds.record_refund_failed(shop=shop, refund=refund, why=declined.text, now=now)
    except Exception as error:
        # It is unknown whether the money was refunded, so the retry must use the same key.
        log.warning("refund_not_settled", refund=refund.pk, gateway=gateway.name, error=type(error).__name__)
        return False
    return refunds.record_refunded(shop=shop, refund=refund, reference=reference, now=now)


def _check_before_charging(shop: Shop, checkout: Checkout, agreed: OrderSummary, now: datetime) -> None:
    """Refuse what can be refused before a gateway is called. `place_order` checks again under locks."""
    cart = checkout.cart
    if cart is None:
        raise NothingToBuy
    _agreed_quote(shop, cart, checkout, agreed, now)


def _agreed_quote(shop: Shop, cart: Cart, checkout: Checkout, agreed: OrderSummary, now: datetime) -> Quote:
    quote = queries.quote(shop, cart, checkout, now)
    if not quote.lines:
        raise NothingToBuy
    if not quote.is_deliverable or queries.tax_address(checkout, needs_delivery=quote.needs_delivery) is None:
        raise NotReady
    if summarise(shop, checkout, quote) != agreed:
        raise NotAsShown
    return quote


def _void(gateway: Gateway | None, authorisation: Authorisation | None) -> None:
    if gateway is None or authorisation is None:
        return
    try:
        gateway.void(authorisation)
    except Exception as error:
        # Not raised: an authorisation that is not captured expires, and the shopper must see the refusal instead.
        log.warning("payment_not_voided", gateway=gateway.name, error=type(error).__name__)


def _promise(authorisation: Authorisation | None) -> Promise | None:
    if authorisation is None:
        return None
    return Promise(authorisation.gateway, authorisation.amount, authorisation.reference, authorisation.is_held)


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
        shipping_address=checkout.shipping_address if quote.needs_delivery else None,
        billing_address=billing,
        shipping_method=quote.delivery.name if quote.delivery else "",
        shopper_note=shopper_note,
        place=place,
        subtotal=totals.subtotal,
        discount=totals.discount,
        shipping=totals.shipping,
        tax=totals.tax,
        total=totals.total,
        tax_lines=[
            {"name": tax.name, "percent": f"{tax.percent.normalize():f}", "amount": f"{tax.amount:.2f}"}
            for tax in totals.tax_lines
        ],
        discount_lines=[{"name": line.name, "amount": f"{line.amount:.2f}"} for line in totals.discount_lines],
    )


def _sale_lines(shop: Shop, quote: Quote) -> list[SaleLine]:
    skus, shipped = _skus_and_shipped(shop, quote.lines)
    return [
        SaleLine(
            product_id=line.product_id,
            variant_id=line.variant_id,
            sku=skus[line.product_id, line.variant_id],
            name=line.name_snapshot,
            image=line.image_snapshot,
            qty=line.qty,
            unit_price=line.price_snapshot,
            line_total=line.price_snapshot * line.qty,
            tax=tax,
            is_digital=line.is_digital,
            is_bundle=line.is_bundle,
            is_damaged=line.is_damaged,
            requires_shipping=not line.is_digital and line.product_id in shipped,
            bundle_items=line.bundle_items,
            options=line.options,
            custom_fields=line.custom_fields,
            uses=tuple(line_stock_uses(line)),
        )
        for line, tax in zip(quote.lines, quote.totals.line_taxes, strict=True)
    ]


def _skus_and_shipped(shop: Shop, lines: list[CartLine]) -> tuple[dict[tuple[int, int | None], str], set[int]]:
    """SKUs by product and variant id, and the ids of shipped products. A variant without SKU has its product's."""
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
