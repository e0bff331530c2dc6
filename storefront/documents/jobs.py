"""The worker's sweep for documents."""

from datetime import datetime, timedelta

import structlog
from django.db import InterfaceError, OperationalError

from storefront.documents.issuing import issue_documents
from storefront.documents.models import DueOrder
from storefront.pods.moves import NOT_MOVING

log = structlog.get_logger(__name__)

# Wait before retrying an order whose documents could not be issued.
AGAIN = timedelta(minutes=5)


def issue_due_documents(*, now: datetime, limit: int) -> int:
    """Issue the missing documents of orders that were paid, refunded or cancelled. Returns how many orders were
    examined. Safe to run twice, and in two workers at once."""
    due = DueOrder.objects.filter(NOT_MOVING, due_at__lte=now).order_by("due_at", "pk").select_related("shop", "order")
    return sum(_issue(row, now) for row in due[:limit])


def _issue(row: DueOrder, now: datetime) -> bool:
    try:
        issue_documents(shop=row.shop, order=row.order, now=now)
    except (OperationalError, InterfaceError):
        # The database is unavailable, or ended a deadlock by this transaction. The sweep runs again.
        raise
    except Exception:
        # One order must not block the others.
        log.exception("documents_not_issued", order=row.order_id)
        DueOrder.objects.filter(pk=row.pk).update(due_at=now + AGAIN)
        return False
    return True
