"""What the worker clears out, and how often. Each sweep is harmless to run twice, or by two workers at once."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from django.contrib.sessions.models import Session
from django_tasks_db.models import DBTaskResult

from storefront.apps.jobs import delete_old_extension_calls
from storefront.carts.actions import delete_expired_carts
from storefront.catalogue.jobs import give_up_silent_imports
from storefront.catalogue.schedule import tell_of_schedule
from storefront.checkout.jobs import delete_abandoned_checkouts, pay_back_refunds, settle_payments
from storefront.server.tasks import give_back_lost_tasks
from storefront.shops.idempotency import delete_expired_answers
from storefront.webhooks.jobs import delete_old_deliveries, delete_old_events

KEPT_TASKS = timedelta(days=14)


class Batch(Protocol):
    """Clears at most `limit` of what is due; answers how many it cleared."""

    def __call__(self, *, now: datetime, limit: int) -> int: ...


@dataclass(frozen=True)
class Sweep:
    name: str
    every: timedelta
    batch: Batch
    # Small enough that no batch keeps SQLite's other writers waiting for long.
    limit: int = 500

    def run(self, *, now: datetime, told_to_stop: Callable[[], bool] = lambda: False) -> int:
        """Batch after batch until nothing is left or the worker is told to stop; how many were cleared."""
        cleared = 0
        while not told_to_stop() and (count := self.batch(now=now, limit=self.limit)):
            cleared += count
        return cleared


def delete_expired_sessions(*, now: datetime, limit: int) -> int:
    expired = Session.objects.filter(expire_date__lt=now).order_by("expire_date").values_list("pk", flat=True)[:limit]
    return Session.objects.filter(pk__in=list(expired)).delete()[0]


def delete_old_task_results(*, now: datetime, limit: int) -> int:
    """What finished tasks left behind, once nobody will ask for it any more."""
    old = DBTaskResult.objects.finished().filter(finished_at__lt=now - KEPT_TASKS)
    ended = old.order_by("finished_at").values_list("pk", flat=True)[:limit]
    return DBTaskResult.objects.filter(pk__in=list(ended)).delete()[0]


SWEEPS = [
    Sweep("payments to settle", timedelta(minutes=1), settle_payments),
    # A merchant waits for these. Few at a time, since each may wait for a gateway.
    Sweep("refunds to pay back", timedelta(seconds=5), pay_back_refunds, limit=10),
    Sweep("scheduled publication", timedelta(seconds=10), tell_of_schedule),
    Sweep("expired carts", timedelta(minutes=10), delete_expired_carts),
    Sweep("abandoned checkouts", timedelta(hours=1), delete_abandoned_checkouts),
    Sweep("interrupted imports", timedelta(minutes=1), give_up_silent_imports),
    Sweep("calls of extensions", timedelta(hours=1), delete_old_extension_calls),
    Sweep("idempotent answers", timedelta(minutes=10), delete_expired_answers),
    Sweep("sessions", timedelta(hours=1), delete_expired_sessions),
    Sweep("lost tasks", timedelta(seconds=30), give_back_lost_tasks),
    Sweep("old deliveries", timedelta(hours=1), delete_old_deliveries),
    Sweep("old events", timedelta(hours=1), delete_old_events),
    Sweep("task results", timedelta(hours=1), delete_old_task_results),
]
