"""Refunds that failed: declined by the provider, or accepted and failed later, as to a closed account."""

from datetime import datetime
from decimal import Decimal

import structlog

from storefront.kit.money import ZERO
from storefront.orders.queries import refund_record
from storefront.payments.line_refunds import release_lines
from storefront.payments.models import Payment, Refund
from storefront.payments.providers.base import Report
from storefront.payments.rules import clean
from storefront.shops.models import Shop
from storefront.webhooks.actions import record_event

log = structlog.get_logger(__name__)

NO_REASON = "The provider could not give the money back."


def take_back(*, shop: Shop, payment: Payment, report: Report, now: datetime) -> Decimal:
    """Record as failed those of the locked payment's refunds that the report names. Returns what they come to."""
    why = {each.key: each.why for each in report.failed_refunds if each.key}
    if not why:
        return ZERO
    refunds = Refund.objects.filter(shop=shop, payment=payment, key__in=why).exclude(status=Refund.Status.FAILED)
    released = ZERO
    for refund in refunds.select_for_update(of=("self",), no_key=True):
        refund.status, refund.failure = Refund.Status.FAILED, clean(why[refund.key] or NO_REASON, 255)
        refund.updated_at = now
        refund.save(update_fields=["status", "failure", "updated_at"])
        released += refund.amount
        announce(shop=shop, refund=refund, now=now)
        release_lines(shop=shop, refund=refund, now=now)
    if released and payment.order is not None:
        payment.order.refresh_from_db(fields=["status", "fulfilment_status"])
    return released


def announce(*, shop: Shop, refund: Refund, now: datetime) -> None:
    """Tell apps that a refund failed, or the log where no order stands for it."""
    if refund.order_id is None:
        # No app hears of it: the merchant sees it with the payment.
        log.error("late_money_not_returned", payment=refund.payment_id, refund=refund.pk, reason=refund.failure)
    else:
        record_event(shop=shop, topic="refund.failed", data=refund_record(refund), now=now)
