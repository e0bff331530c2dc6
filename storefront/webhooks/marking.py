"""Writes down how tries went: each as a row, and what follows for the delivery and for its webhook."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import F

from storefront.webhooks import jobs
from storefront.webhooks.messages import Message
from storefront.webhooks.models import Attempt, Delivery, Registration
from storefront.webhooks.rules import GONE, LONGEST_FAILING, is_success, next_wait

# Of an answer, what is kept; in bytes.
KEPT = 1024


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one try went: answered with a status, or not for a reason."""

    message: Message
    started_at: datetime
    seconds: float
    status: int | None = None
    error: str = ""
    answer: bytes = b""
    retry_after: timedelta | None = None

    @property
    def arrived(self) -> bool:
        return is_success(self.status)

    @property
    def number(self) -> int:
        return self.message.tries + 1


@transaction.atomic
def mark(outcomes: Iterable[Outcome], *, lease: str, now: datetime) -> None:
    """Write down how these went. A delivery that this worker has no longer is left as it is."""
    outcomes = sorted(outcomes, key=lambda outcome: outcome.message.delivery_id)
    _mark_registrations(outcomes, now)
    ended, again = defaultdict(list), {}
    for outcome in outcomes:
        status, due_at = _fate(outcome, now)
        if due_at:
            again[outcome.message.delivery_id] = due_at
        else:
            ended[status].append(outcome.message.delivery_id)
    for status, ids in ended.items():
        rows = Delivery.objects.filter(pk__in=ids, lease=lease, status=Delivery.Status.PENDING)
        rows.update(status=status, tries=F("tries") + 1, lease=None, ended_at=now, sealed_message=None)
    if again:
        _try_again(again, lease)
    Attempt.objects.bulk_create([_attempt(outcome) for outcome in outcomes], ignore_conflicts=True)


def _fate(outcome: Outcome, now: datetime) -> tuple[str, datetime | None]:
    """How the delivery ends, or when it is tried again."""
    if outcome.arrived:
        return Delivery.Status.DELIVERED, None
    wait = next_wait(outcome.number - outcome.message.earlier_tries, retry_after=outcome.retry_after)
    return Delivery.Status.DEAD, None if wait is None else now + wait


_TRY_AGAIN = """
    WITH marked (id, due_at) AS (VALUES {rows})
    UPDATE webhooks_delivery SET tries = tries + 1, lease = NULL, due_at = marked.due_at FROM marked
    WHERE webhooks_delivery.id = marked.id AND lease = %s AND status = 'pending'
"""


def _try_again(due: dict[int, datetime], lease: str) -> None:
    given = [value for pk, moment in due.items() for value in (pk, connection.ops.adapt_datetimefield_value(moment))]
    with connection.cursor() as cursor:
        cursor.execute(_TRY_AGAIN.format(rows=", ".join(["(%s, %s)"] * len(due))), [*given, lease])


def _attempt(outcome: Outcome) -> Attempt:
    return Attempt(
        shop_id=outcome.message.shop_id,
        delivery_id=outcome.message.delivery_id,
        number=outcome.number,
        started_at=outcome.started_at,
        duration_ms=round(outcome.seconds * 1000),
        status=outcome.status,
        error=outcome.error[:200],
        # PostgreSQL takes no NUL in a text.
        answer=outcome.answer[:KEPT].decode(errors="replace").replace("\0", "\ufffd"),
    )


def _mark_registrations(outcomes: list[Outcome], now: datetime) -> None:
    """Since when nothing gets through to a webhook; and off with one that is gone, or that failed for too long."""
    tried: dict[int, bool] = {}
    for outcome in outcomes:
        if (pk := outcome.message.registration_id) is not None:
            tried[pk] = tried.get(pk, False) or outcome.arrived
    arrived, failed = ([pk for pk, well in tried.items() if well is wanted] for wanted in (True, False))
    if arrived:
        _update(arrived, {"failing_since__isnull": False}, failing_since=None)
    if failed:
        _update(failed, {"failing_since": None}, failing_since=now)
        _pause(failed, {"failing_since__lte": now - LONGEST_FAILING}, Registration.PauseReason.FAILING, now)
    for outcome in outcomes:
        if outcome.status == GONE and outcome.message.registration_id is not None:
            # Not if it has another address by now.
            same = {"address": outcome.message.address}
            _pause([outcome.message.registration_id], same, Registration.PauseReason.GONE, now)


def _update(ids: list[int], which: Mapping[str, object], **columns: object) -> list[int]:
    """Which of these registrations were changed."""
    rows = Registration.objects.select_for_update().filter(pk__in=ids, is_active=True, **which).order_by("id")
    found = list(rows.values_list("id", flat=True))
    if found:
        Registration.objects.filter(pk__in=found).update(**columns)
    return found


def _pause(ids: list[int], which: Mapping[str, object], reason: str, now: datetime) -> None:
    for pk in _update(ids, which, is_active=False, paused_at=now, pause_reason=reason, updated_at=now):
        jobs.tell_of_pause.enqueue(pk)
