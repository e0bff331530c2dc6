"""How an extension fares, from the calls that are kept of it."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from storefront.apps.jobs import MOST_KEPT
from storefront.apps.models import Extension, ExtensionCall
from storefront.shops.models import Shop


@dataclass(frozen=True)
class Figures:
    """Of the calls that are kept: how many there are, how many of them timed out or failed, and within how many
    milliseconds half of them and 95 of 100 were over; None where there are none."""

    calls: int
    timed_out: int
    failed: int
    p50: int | None
    p95: int | None


def figures(shop: Shop, extension: Extension) -> Figures:
    kept = ExtensionCall.objects.filter(shop=shop, extension=extension).order_by("-called_at", "-pk")
    calls = list(kept.values_list("outcome", "duration_ms")[:MOST_KEPT])
    outcomes = Counter(outcome for outcome, _ in calls)
    durations = sorted(duration for _, duration in calls)
    return Figures(
        calls=len(calls),
        timed_out=outcomes[ExtensionCall.Outcome.TIMED_OUT],
        failed=outcomes[ExtensionCall.Outcome.FAILED],
        p50=percentile(durations, 50),
        p95=percentile(durations, 95),
    )


def percentile(ordered: list[int], percent: int) -> int | None:
    """The smallest of these values that so many percent of them do not exceed."""
    return ordered[ceil(len(ordered) * percent / 100) - 1] if ordered else None


def last_call(shop: Shop, extension: Extension) -> ExtensionCall | None:
    return ExtensionCall.objects.filter(shop=shop, extension=extension).order_by("-called_at", "-pk").first()


def health(extension: Extension, now: datetime) -> str:
    """In a few words, whether it is asked, and if not, why."""
    if not extension.is_active:
        return "Off"
    if extension.asked_again_at and now < extension.asked_again_at:
        return "Resting"
    return "Failing" if extension.failures_in_a_row else "Well"
