from datetime import datetime
from decimal import Decimal

import structlog
from django.db import transaction
from django.views.decorators.debug import sensitive_variables

from storefront.carts import actions as carts
from storefront.carts.models import Cart, CartLine
from storefront.carts.rules import line_stock_uses
from storefront.catalogue.models import Product, Variant
from storefront.checkout import queries
from storefront.checkout.gateways import GATEWAYS, Authorisation, Card, Gateway, RefundDeclined, Repayment
from storefront.checkout.models import Checkout
from storefront.checkout.queries import Quote
from storefront.kit.refusals import Refusal
from storefront.orders import actions as orders
from storefront.orders import refunds
from storefront.orders.models import Order, Payment, Refund
from storefront.orders.rules import Address, Promise, Sale, SaleLine
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)


class NothingToBuy(Refusal):
    code = "empty_cart"
    message = "Your basket is empty."


class PricesChanged(Refusal):
    """What the shopper agreed to is not what the basket comes to now."""

    code = "prices_changed"
    message = "Something in your order changed while you were here. Please look at it again before you place it."


class NotReady(Refusal):
    """An address or a way of delivery is missing, or does not fit any more."""

    code = "checkout_not_ready"
    message = "Please choose how your order is delivered."


def save_details(
    *,
    shop: Shop,
    cart: Cart,
    email: str,
    phone: str,
    shipping_address: Address | None,
    billing_address: Address | None,
    now: datetime,
) -> Checkout:
    """Keep who buys and where it goes, on the cart's one open checkout.

    `billing_address` is None where it is the shipping address.
    """
    details = {
        "email": email,
        "phone": phone,
        "shipping_address": shipping_address,
        "billing_address": billing_address,
        "updated_at": now,
    }
    checkout, _ = Checkout.objects.update_or_create(
        defaults=details, create_defaults=details | {"created_at": now}, shop=shop, cart=cart, order=None
    )
    return checkout


def choose_delivery(*, shop: Shop, cart: Cart, checkout: Checkout, rate_id: int | None, now: datetime) -> None:
    """Keep the way of delivery. Raises NotReady when it is not one of those on offer for this address."""
    offered = queries.quote(shop, cart, checkout, now).deliveries
    if rate_id not in [way.rate_id for way in offered]:
        raise NotReady
    Checkout.objects.filter(shop=shop, pk=checkout.pk, order=None).update(shipping_rate=rate_id, updated_at=now)


@sensitive_variables("card")
def pay_and_place(
    *,
    shop: Shop,
    checkout: Checkout,
    gateway: Gateway | None,
    card: Card | None,
    agreed_total: Decimal,
    shopper_note: str,
    now: datetime,
) -> Order:
    """The shopper's order: paid for as far as its gateway can, and placed once, however often this is asked.

    The money is promised before the sale and taken after it, both outside its transaction, which waits for nobody.
    Raises PaymentDeclined, InsufficientStock, PricesChanged, NotReady or NothingToBuy; then nothing is sold and nothing
    stays promised.
    """
    if checkout.order is not None:
        return checkout.order
    _check_before_charging(shop, checkout, agreed_total, now)
    authorisation = None
    if gateway and agreed_total:
        authorisation = gateway.authorise(shop=shop, amount=agreed_total, card=card)
    try:
        order, is_new = place_order(
            shop=shop,
            checkout=checkout,
            authorisation=authorisation,
            agreed_total=agreed_total,
            shopper_note=shopper_note,
            now=now,
        )
    except Refusal:
        # Anything else, such as a connection lost while committing, leaves open whether the order stands: then the
        # worker settles its payment, or the promise lapses by itself.
        _let_go(gateway, authorisation)
        raise
    if not is_new:
        _let_go(gateway, authorisation)
        return order
    for payment in order.payments.filter(status=Payment.Status.AUTHORISED):
        settle(shop=shop, payment=payment, now=now)
    return order


@transaction.atomic
def place_order(
    *,
    shop: Shop,
    checkout: Checkout,
    authorisation: Authorisation | None,
    agreed_total: Decimal,
    shopper_note: str,
    now: datetime,
) -> tuple[Order, bool]:
    """Turn the checkout into its one order and empty the cart; the order, and whether this call placed it.

    Raises InsufficientStock, PricesChanged, NotReady or NothingToBuy; then nothing has changed.
    """
    # The second of two clicks waits here for the first one's commit, and finds its order.
    checkout = Checkout.objects.select_for_update().select_related(None).get(shop=shop, pk=checkout.pk)
    if checkout.order_id is not None:
        return Order.objects.get(shop=shop, pk=checkout.order_id), False
    # Nothing may be added to the cart between pricing and emptying it.
    cart = Cart.objects.select_for_update().filter(shop=shop, checkouts=checkout).first()
    if cart is None:
        raise NothingToBuy
    if carts.reprice_cart(shop=shop, cart=cart, now=now):
        raise PricesChanged
    quote = _agreed_quote(shop, cart, checkout, agreed_total, now)
    sale = _sale(shop, cart, checkout, quote, shopper_note)
    carts.empty_cart(shop=shop, cart=cart, now=now)
    order = orders.place_order(shop=shop, sale=sale, promise=_promise(authorisation), now=now)
    checkout.order, checkout.shopper_note, checkout.updated_at = order, shopper_note, now
    checkout.payment_method = order.payment_method
    checkout.save(update_fields=["order", "shopper_note", "payment_method", "updated_at"])
    return order, True


def settle(*, shop: Shop, payment: Payment, now: datetime) -> bool:
    """Have the gateway take what it holds for an order, or let go of it where the order was cancelled.

    False when that did not work; the payment then stays as it is, and the worker tries again.
    """
    gateway = GATEWAYS.get(payment.gateway)
    if gateway is None:
        return False
    held = Authorisation(payment.gateway, payment.amount, payment.currency, payment.reference, is_held=True)
    is_cancelled = Order.objects.filter(shop=shop, pk=payment.order_id, status=Order.Status.CANCELLED).exists()
    try:
        if is_cancelled:
            gateway.void(held)
        else:
            gateway.capture(held)
    except Exception as error:
        # The sale stands whatever a gateway's network does.
        log.warning("payment_not_settled", payment=payment.pk, gateway=gateway.name, error=type(error).__name__)
        return False
    record = orders.record_void if is_cancelled else orders.record_capture
    return record(shop=shop, payment=payment, now=now)


def pay_back(*, shop: Shop, refund: Refund, now: datetime) -> bool:
    """Have the gateway give back what a refund owes.

    False when that did not work, or another worker sees to it; the refund then waits, and the worker tries again.
    """
    if not refunds.claim_refund(shop=shop, refund=refund, now=now):
        return False
    payment = refund.payment
    gateway = GATEWAYS.get(payment.gateway)
    if gateway is None:
        why = "This way to pay is no longer there. The shop has to give the money back itself."
        return refunds.record_refund_failed(shop=shop, refund=refund, why=why, now=now)
    try:
        reference = gateway.refund(Repayment(str(refund.key), payment.reference, refund.amount, refund.currency))
    except RefundDeclined as declined:
        return refunds.record_refund_failed(shop=shop, refund=refund, why=declined.text, now=now)
    except Exception as error:
        # Whether the money went is not known: the same key is asked again, never another one.
        log.warning("refund_not_settled", refund=refund.pk, gateway=gateway.name, error=type(error).__name__)
        return False
    return refunds.record_refunded(shop=shop, refund=refund, reference=reference, now=now)


def _check_before_charging(shop: Shop, checkout: Checkout, agreed_total: Decimal, now: datetime) -> None:
    """What can be refused without asking a gateway is refused here; the sale itself checks again under locks."""
    cart = checkout.cart
    if cart is None:
        raise NothingToBuy
    _agreed_quote(shop, cart, checkout, agreed_total, now)


def _agreed_quote(shop: Shop, cart: Cart, checkout: Checkout, agreed_total: Decimal, now: datetime) -> Quote:
    quote = queries.quote(shop, cart, checkout, now)
    if not quote.lines:
        raise NothingToBuy
    if not quote.is_deliverable or queries.tax_address(checkout, needs_delivery=quote.needs_delivery) is None:
        raise NotReady
    if quote.totals.total != agreed_total:
        raise PricesChanged
    return quote


def _let_go(gateway: Gateway | None, authorisation: Authorisation | None) -> None:
    if gateway is None or authorisation is None:
        return
    try:
        gateway.void(authorisation)
    except Exception as error:
        # A promise that nobody takes lapses by itself; the shopper must hear of the refusal, not of this.
        log.warning("payment_not_voided", gateway=gateway.name, error=type(error).__name__)


def _promise(authorisation: Authorisation | None) -> Promise | None:
    if authorisation is None:
        return None
    return Promise(authorisation.gateway, authorisation.amount, authorisation.reference, authorisation.is_held)


def _sale(shop: Shop, cart: Cart, checkout: Checkout, quote: Quote, shopper_note: str) -> Sale:
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
    skus, sent = _skus_and_sent(shop, quote.lines)
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
            requires_shipping=not line.is_digital and line.product_id in sent,
            bundle_items=line.bundle_items,
            options=line.options,
            custom_fields=line.custom_fields,
            uses=tuple(line_stock_uses(line)),
        )
        for line, tax in zip(quote.lines, quote.totals.line_taxes, strict=True)
    ]


def _skus_and_sent(shop: Shop, lines: list[CartLine]) -> tuple[dict[tuple[int, int | None], str], set[int]]:
    """SKUs by product and variant, a variant without one having its product's; and which products are sent."""
    products = Product.objects.filter(shop=shop, pk__in={line.product_id for line in lines})
    rows = {pk: (sku, sent) for pk, sku, sent in products.values_list("pk", "sku", "requires_shipping")}
    variants = dict(
        Variant.objects.filter(shop=shop, pk__in={line.variant_id for line in lines}).values_list("pk", "sku")
    )
    skus = {
        (line.product_id, line.variant_id): variants.get(line.variant_id or 0) or rows[line.product_id][0]
        for line in lines
    }
    return skus, {pk for pk, (_, sent) in rows.items() if sent}
