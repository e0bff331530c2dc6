"""Sweeps of the worker for payments. Each is safe to run twice, and in two workers at once."""

from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef

from storefront.payments.asking import ask, claim
from storefront.payments.models import OrderDraft, Payment, Refund
from storefront.payments.refunds import carry_out_refund
from storefront.payments.rules import UNDECIDED
from storefront.payments.settling import end_if_over

# How long drafts are kept that have become an order, or ended.
KEPT_FOR = timedelta(days=14)


def ask_providers(*, now: datetime, limit: int) -> int:
    """Make the calls that are due: look at payments without an outcome, capture or release money that is held. Returns
    how many were answered."""
    due = Payment.objects.filter(due_at__lte=now).order_by("due_at", "pk").select_related("shop", "draft", "order")
    return sum(_ask(payment, now) for payment in due[:limit])


def end_expired_drafts(*, now: datetime, limit: int) -> int:
    """End the drafts whose time is over and whose payments have no outcome to wait for: those were cancelled by
    `ask_providers`, or took only part of the total, which goes back. Returns how many were ended."""
    expired = OrderDraft.objects.filter(state=OrderDraft.State.OPEN, expires_at__lte=now).order_by("expires_at", "pk")
    undecided = Payment.objects.filter(draft=OuterRef("pk"), state__in=UNDECIDED)
    over = list(expired.exclude(Exists(undecided)).select_related("shop")[:limit])
    for draft in over:
        end_if_over(shop=draft.shop, draft=draft, now=now)
    return len(over)


def delete_old_drafts(*, now: datetime, limit: int) -> int:
    """Delete up to `limit` drafts that were placed or ended `KEPT_FOR` ago: they have addresses, and the order has what
    is needed of them. Returns how many were deleted. Their payments stay."""
    over = OrderDraft.objects.exclude(state=OrderDraft.State.OPEN).filter(created_at__lt=now - KEPT_FOR)
    ids = list(over.order_by("created_at").values_list("pk", flat=True)[:limit])
    OrderDraft.objects.filter(pk__in=ids).delete()
    return len(ids)


def pay_back_refunds(*, now: datetime, limit: int) -> int:
    """Have providers carry out the refunds that are due, including those of a worker that was killed. Returns how many
    were completed or failed."""
    pending = Refund.objects.filter(status=Refund.Status.PENDING, due_at__lte=now)
    due = pending.select_related("shop", "order", "payment__draft").order_by("due_at", "pk")[:limit]
    return sum(carry_out_refund(shop=refund.shop, refund=refund, now=now) for refund in due)


def _ask(payment: Payment, now: datetime) -> bool:
    if not claim(shop=payment.shop, payment=payment, now=now):
        return False
    return ask(shop=payment.shop, payment=payment, now=now) is not None
