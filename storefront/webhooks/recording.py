"""Records the outcomes of delivery attempts: an `Attempt` row each, the next state of the delivery, and the health of
its webhook (R-HOOK-10 to R-HOOK-13)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from django.db import connection, transaction
from django.db.models import F

from storefront.kit import metrics
from storefront.webhooks import jobs
from storefront.webhooks.messages import Message
from storefront.webhooks.models import Attempt, Delivery, Registration
from storefront.webhooks.rules import GONE, MAX_FAILING, is_success, next_wait

# Bytes of an answer that are stored.
LOGGED_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one attempt: the status of the answer, or the error that prevented one."""

    message: Message
    started_at: datetime
    seconds: float
    status: int | None = None
    error: str = ""
    answer: bytes = b""
    retry_after: timedelta | None = None

    @property
    def is_success(self) -> bool:
        return is_success(self.status)

    @property
    def number(self) -> int:
        return self.message.tries + 1


@transaction.atomic
def record_outcomes(outcomes: Iterable[Outcome], *, lease: str, now: datetime) -> None:
    """Record the attempts, and update their deliveries and webhooks. A delivery that this worker no longer leases stays
    as it is."""
    outcomes = sorted(outcomes, key=lambda outcome: outcome.message.delivery_id)
    _update_registrations(outcomes, now)
    outcomes = _with_delivery(outcomes)
    ended, retries = defaultdict(list), {}
    for outcome in outcomes:
        status, due_at = _next_state(outcome, now)
        if due_at:
            retries[outcome.message.delivery_id] = due_at
        else:
            ended[status].append(outcome.message.delivery_id)
    for status, ids in ended.items():
        rows = Delivery.objects.filter(pk__in=ids, lease=lease, status=Delivery.Status.PENDING)
        rows.update(status=status, tries=F("tries") + 1, lease=None, ended_at=now, sealed_message=None)
    if retries:
        _schedule_retries(retries, lease)
    Attempt.objects.bulk_create([_attempt(outcome) for outcome in outcomes], ignore_conflicts=True)
    transaction.on_commit(partial(_count, {status: len(ids) for status, ids in ended.items()}, len(retries)))


def _count(ended: dict[str, int], retried: int) -> None:
    for status, number in ended.items():
        metrics.DELIVERIES_ENDED.labels(str(status)).inc(number)
    metrics.DELIVERIES_RETRIED.inc(retried)


def _with_delivery(outcomes: list[Outcome]) -> list[Outcome]:
    """The outcomes whose delivery still exists, locked until the commit. An attempt of a deleted delivery would violate
    the foreign key and roll back the whole batch."""
    ids = [outcome.message.delivery_id for outcome in outcomes]
    rows = Delivery.objects.select_for_update().filter(pk__in=ids).order_by("id")
    found = set(rows.values_list("id", flat=True))
    return [outcome for outcome in outcomes if outcome.message.delivery_id in found]


def _next_state(outcome: Outcome, now: datetime) -> tuple[str, datetime | None]:
    """The time of the delivery's next attempt, or its final status and None."""
    if outcome.is_success:
        return Delivery.Status.DELIVERED, None
    message = outcome.message
    wait = next_wait(outcome.number - message.earlier_tries, most=message.most_tries, retry_after=outcome.retry_after)
    return Delivery.Status.DEAD, None if wait is None else now + wait


_SCHEDULE_RETRIES = """
    WITH retry (id, due_at) AS (VALUES {rows})
    UPDATE webhooks_delivery SET tries = tries + 1, lease = NULL, due_at = retry.due_at FROM retry
    WHERE webhooks_delivery.id = retry.id AND lease = %s AND status = 'pending'
"""


def _schedule_retries(due: dict[int, datetime], lease: str) -> None:
    values = [value for pk, moment in due.items() for value in (pk, connection.ops.adapt_datetimefield_value(moment))]
    with connection.cursor() as cursor:
        cursor.execute(_SCHEDULE_RETRIES.format(rows=", ".join(["(%s, %s)"] * len(due))), [*values, lease])


def _attempt(outcome: Outcome) -> Attempt:
    return Attempt(
        shop_id=outcome.message.shop_id,
        delivery_id=outcome.message.delivery_id,
        number=outcome.number,
        started_at=outcome.started_at,
        duration_ms=round(outcome.seconds * 1000),
        status=outcome.status,
        error=outcome.error[:200],
        # PostgreSQL rejects NUL in text.
        answer=outcome.answer[:LOGGED_BYTES].decode(errors="replace").replace("\0", "\ufffd"),
    )


def _update_registrations(outcomes: list[Outcome], now: datetime) -> None:
    """Update `failing_since`, and pause webhooks that answered 410 Gone or failed for too long. One success in the
    batch counts as a success of its webhook."""
    succeeded: dict[int, bool] = {}
    for outcome in outcomes:
        if (pk := outcome.message.registration_id) is not None:
            succeeded[pk] = succeeded.get(pk, False) or outcome.is_success
    working = [pk for pk, success in succeeded.items() if success]
    failed = [pk for pk, success in succeeded.items() if not success]
    if working:
        _update_active(working, {"failing_since__isnull": False}, failing_since=None)
    if failed:
        _update_active(failed, {"failing_since": None}, failing_since=now)
        _pause(failed, {"failing_since__lte": now - MAX_FAILING}, Registration.PauseReason.FAILING, now)
    for outcome in outcomes:
        if outcome.status == GONE and outcome.message.registration_id is not None:
            # Not if the webhook has a new address by now.
            same_address = {"address": outcome.message.address}
            _pause([outcome.message.registration_id], same_address, Registration.PauseReason.GONE, now)


def _update_active(ids: list[int], condition: Mapping[str, object], **columns: object) -> dict[int, int]:
    """Update those of these registrations that are active and meet the condition. Returns their shops by their ids."""
    rows = Registration.objects.select_for_update().filter(pk__in=ids, is_active=True, **condition).order_by("id")
    found = dict(rows.values_list("id", "shop_id"))
    if found:
        Registration.objects.filter(pk__in=found).update(**columns)
    return found


def _pause(ids: list[int], condition: Mapping[str, object], reason: str, now: datetime) -> None:
    columns = {"is_active": False, "paused_at": now, "pause_reason": reason, "updated_at": now}
    for pk, shop_id in _update_active(ids, condition, **columns).items():
        jobs.tell_of_pause.enqueue(shop_id, pk)
