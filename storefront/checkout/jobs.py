"""What the worker does for checkouts, a call each; every one harmless to run twice or by two workers at once."""

from datetime import datetime, timedelta

from storefront.checkout.actions import pay_back, settle
from storefront.checkout.models import Checkout
from storefront.orders.models import Payment, Refund

# Addresses that nobody ordered with are kept no longer than this; nor is the way back from a checkout to its order.
KEPT = timedelta(days=14)
# A payment this young is being settled by the request that made it.
YOUNG = timedelta(minutes=2)


def delete_abandoned_checkouts(*, now: datetime, limit: int) -> int:
    """Remove at most `limit` checkouts that nobody has touched for `KEPT`; how many were removed."""
    old = Checkout.objects.filter(updated_at__lt=now - KEPT).order_by("updated_at").values_list("pk", flat=True)
    return Checkout.objects.filter(pk__in=list(old[:limit])).delete()[0]


def settle_payments(*, now: datetime, limit: int) -> int:
    """Take or let go of money that gateways still hold for orders, as after a crash or a cancellation; how many."""
    held = Payment.objects.filter(status=Payment.Status.AUTHORISED, created_at__lt=now - YOUNG)
    waiting = held.select_related("order", "shop").order_by("pk")[:limit]
    return sum(settle(shop=payment.shop, payment=payment, now=now) for payment in waiting)


def pay_back_refunds(*, now: datetime, limit: int) -> int:
    """Have gateways carry out the refunds that are due, among them those that a worker left when it was killed; how
    many came to an end."""
    due = Refund.objects.filter(status=Refund.Status.PENDING, due_at__lte=now)
    waiting = due.select_related("shop", "order", "payment").order_by("due_at", "pk")[:limit]
    return sum(pay_back(shop=refund.shop, refund=refund, now=now) for refund in waiting)
