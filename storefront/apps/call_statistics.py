"""Statistics of an extension's calls, from the rows that are stored."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from storefront.apps.jobs import MAX_CALLS_KEPT
from storefront.apps.models import Extension, ExtensionCall
from storefront.shops.models import Shop


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
