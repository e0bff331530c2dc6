"""Orders, placed as the checkout does."""

from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction

from storefront.catalogue.models import Product, Variant
from storefront.catalogue.stock import StockUse
from storefront.orders import actions
from storefront.orders.models import Order
from storefront.orders.rules import Sale, SaleLine
from storefront.payments.models import Payment
from storefront.payments.providers.base import Report, Standing
from storefront.payments.rules import State
from storefront.payments.settling import settle
from storefront.shops.models import Shop
from tests.addresses import ADDRESS
from tests.shops.factories import NOW


def sale_line(item: Product | Variant, qty: int = 1, **given) -> SaleLine:
    product = item.product if isinstance(item, Variant) else item
    kind = "variant" if isinstance(item, Variant) else "product"
    return SaleLine(
        **{
            "product_id": product.pk,
            "variant_id": item.pk if isinstance(item, Variant) else None,
            "sku": item.sku,
            "name": item.name,
            "image": None,
            "qty": qty,
            "unit_price": item.price,
            "line_total": item.price * qty,
            "uses": (StockUse(kind, item.pk, qty),),
        }
        | given
    )


def sale(*lines: SaleLine, **given) -> Sale:
    subtotal = sum((line.line_total for line in lines), Decimal("0.00"))
    amounts = {"subtotal": subtotal, "total": subtotal} | {
        name: Decimal("0.00") for name in ("discount", "shipping", "tax")
    }
    amounts |= {"currency": "EUR", "prices_include_tax": True}
    parties = {"email": "ada@example.com", "billing_address": ADDRESS, "shipping_address": ADDRESS}
    return Sale(**{"lines": list(lines), **parties, **amounts} | given)


@dataclass(frozen=True)
class Promise:
    """How an order is paid for. `is_held`: the provider holds the money under `reference`."""

    gateway: str
    amount: Decimal
    reference: str = ""
    is_held: bool = False


@transaction.atomic
def make_order(shop: Shop, *lines: SaleLine, promise: Promise | None = None, now=NOW, **given) -> Order:
    what = sale(*lines, currency=shop.currency, prices_include_tax=shop.prices_include_tax, **given)
    promise = promise or Promise("manual", what.total)
    taken = actions.take_stock_of(shop, what.lines, now)
    order = actions.create_order(shop=shop, sale=what, taken=taken, payment_method=promise.gateway, now=now)
    add_payment(order, promise, now)
    actions.announce_order(shop=shop, order=order, sale=what, now=now)
    return order


def add_payment(order: Order, promise: Promise, now=NOW) -> Payment:
    """A payment of the order as it is once the provider has promised or authorised it."""
    payment = Payment.objects.create(
        shop=order.shop,
        order=order,
        gateway=promise.gateway,
        state=State.STARTED,
        status=Payment.Status.PENDING,
        amount=promise.amount,
        currency=order.currency,
        created_at=now,
        updated_at=now,
    )
    standing = Standing.AUTHORISED if promise.is_held else Standing.PROMISED
    report = Report(standing, reference=promise.reference)
    return settle(shop=order.shop, payment=payment, report=report, source="call", now=now)


def capture(payment: Payment, now=NOW) -> Payment:
    """The provider has taken the money."""
    report = Report(Standing.PAID, captured=payment.amount)
    return settle(shop=payment.shop, payment=payment, report=report, source="call", now=now)
