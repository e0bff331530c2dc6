"""Background jobs for apps. Safe to run in two workers at once."""

from datetime import datetime, timedelta

from django.db.models import F, Q, Window
from django.db.models.functions import RowNumber

from storefront.apps.models import ExtensionCall

# How long an extension's calls are stored for the merchant, and how many of one extension at most.
CALLS_KEPT_FOR, MAX_CALLS_KEPT = timedelta(days=7), 1000


def delete_old_extension_calls(*, now: datetime, limit: int) -> int:
    """Delete up to `limit` calls older than a week or not among the last 1,000 of an extension. Returns how many."""
    age = Window(RowNumber(), partition_by=F("extension_id"), order_by=[F("called_at").desc(), F("pk").desc()])
    numbered = ExtensionCall.objects.annotate(age=age)
    old = numbered.filter(Q(called_at__lt=now - CALLS_KEPT_FOR) | Q(age__gt=MAX_CALLS_KEPT)).values_list(
        "pk", flat=True
    )
    return ExtensionCall.objects.filter(pk__in=list(old[:limit])).delete()[0]
