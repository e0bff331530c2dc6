"""Sweeps of the worker for checkouts. Each is safe to run twice, and in two workers at once."""

from datetime import datetime, timedelta

import structlog
from django.conf import settings

from storefront.checkout.actions import report_abandoned_checkout
from storefront.checkout.models import Checkout
from storefront.pods.moves import NOT_MOVING

# How long checkouts are kept after their last change, whether abandoned or ordered.
KEPT_FOR = timedelta(days=14)

log = structlog.get_logger(__name__)


def delete_abandoned_checkouts(*, now: datetime, limit: int) -> int:
    """Delete up to `limit` checkouts that have not changed for `KEPT_FOR`. Returns how many were deleted."""
    old = (
        Checkout.objects.filter(NOT_MOVING, updated_at__lt=now - KEPT_FOR)
        .order_by("updated_at")
        .values_list("pk", flat=True)
    )
    return Checkout.objects.filter(pk__in=list(old[:limit])).delete()[0]


def report_abandoned_checkouts(*, now: datetime, limit: int) -> int:
    """Report up to `limit` checkouts with an email address that were left without an order for ABANDONED_MINUTES, each
    once (R-HOOK-25). Returns how many were found. One whose basket has no items is marked and not reported."""
    since = now - timedelta(minutes=settings.ABANDONED_MINUTES)
    left = Checkout.objects.filter(order=None, abandoned_at=None, updated_at__lte=since).exclude(email="")
    # What the index goes by.
    left = left.filter(NOT_MOVING, created_at__lte=since)
    ids = list(left.order_by("updated_at").values_list("pk", flat=True)[:limit])
    found = 0
    for pk in ids:
        try:
            found += report_abandoned_checkout(checkout_id=pk, unchanged_since=since, now=now)
        except Exception as error:
            # A checkout that cannot be quoted must not block the others.
            log.error("abandoned_checkout_not_reported", checkout=pk, exc_info=error)
    return found
