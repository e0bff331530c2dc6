"""An extension's stored calls: their statistics, and the deletion of old ones."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from django.db.models import F, Q, Window
from django.db.models.functions import RowNumber

from storefront.apps.models import Extension, ExtensionCall
from storefront.pods.moves import NOT_MOVING
from storefront.shops.models import Shop

# How long an extension's calls are stored for the merchant, and how many of one extension at most.
CALLS_KEPT_FOR, MAX_CALLS_KEPT = timedelta(days=7), 1000


@dataclass(frozen=True)
class CallStatistics:
    """Numbers of stored calls, and the percentiles of their durations in milliseconds; None without calls."""

    calls: int
    timed_out: int
    failed: int
    p50: int | None
    p95: int | None


def call_statistics(shop: Shop, extension: Extension) -> CallStatistics:
    """The statistics of the extension's latest calls, at most MAX_CALLS_KEPT."""
    latest = ExtensionCall.objects.filter(shop=shop, extension=extension).order_by("-called_at", "-pk")
    calls = list(latest.values_list("outcome", "duration_ms")[:MAX_CALLS_KEPT])
    outcomes = Counter(outcome for outcome, _ in calls)
    durations = sorted(duration for _, duration in calls)
    return CallStatistics(
        calls=len(calls),
        timed_out=outcomes[ExtensionCall.Outcome.TIMED_OUT],
        failed=outcomes[ExtensionCall.Outcome.FAILED],
        p50=percentile(durations, 50),
        p95=percentile(durations, 95),
    )


def percentile(ordered: list[int], percent: int) -> int | None:
    """The smallest value that at least `percent` percent of these sorted values do not exceed; None without values."""
    return ordered[ceil(len(ordered) * percent / 100) - 1] if ordered else None


def last_call(shop: Shop, extension: Extension) -> ExtensionCall | None:
    return ExtensionCall.objects.filter(shop=shop, extension=extension).order_by("-called_at", "-pk").first()


def health(extension: Extension, now: datetime) -> str:
    """The extension's state: Off, Suspended, Failing or Healthy."""
    if not extension.is_active:
        return "Off"
    if extension.asked_again_at and now < extension.asked_again_at:
        return "Suspended"
    return "Failing" if extension.failures_in_a_row else "Healthy"


def delete_old_extension_calls(*, now: datetime, limit: int) -> int:
    """Delete up to `limit` calls older than a week or not among the last 1,000 of an extension. Returns how many."""
    age = Window(RowNumber(), partition_by=F("extension_id"), order_by=[F("called_at").desc(), F("pk").desc()])
    numbered = ExtensionCall.objects.annotate(age=age)
    old = numbered.filter(NOT_MOVING, Q(called_at__lt=now - CALLS_KEPT_FOR) | Q(age__gt=MAX_CALLS_KEPT)).values_list(
        "pk", flat=True
    )
    return ExtensionCall.objects.filter(pk__in=list(old[:limit])).delete()[0]
