"""What the worker does for apps, a call each; every one harmless to run twice or by two workers at once."""

from datetime import datetime, timedelta

from django.db.models import F, Q, Window
from django.db.models.functions import RowNumber

from storefront.apps.models import ExtensionCall

# How long a call is kept for merchants to look at, and of one extension at most how many.
KEPT, MOST_KEPT = timedelta(days=7), 1000


def delete_old_extension_calls(*, now: datetime, limit: int) -> int:
    """Remove at most `limit` calls that are older than a week or beyond an extension's last thousand; how many."""
    age = Window(RowNumber(), partition_by=F("extension_id"), order_by=[F("called_at").desc(), F("pk").desc()])
    numbered = ExtensionCall.objects.annotate(age=age)
    old = numbered.filter(Q(called_at__lt=now - KEPT) | Q(age__gt=MOST_KEPT)).values_list("pk", flat=True)
    return ExtensionCall.objects.filter(pk__in=list(old[:limit])).delete()[0]
