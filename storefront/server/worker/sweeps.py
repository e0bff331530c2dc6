"""What the worker clears regularly, and how often. Every sweep is safe to run twice, or in two workers at once."""

import math
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Event
from typing import Protocol

from django.contrib.sessions.models import Session
from django_tasks_db.models import DBTaskResult

from storefront.apps.actions import uninstall_deleted
from storefront.apps.call_statistics import delete_old_extension_calls
from storefront.audit.queries import delete_old_entries
from storefront.carts.actions import delete_expired_carts
from storefront.catalogue.awaited_texts import write_overdue
from storefront.catalogue.dated.schedule import emit_scheduled_changes
from storefront.catalogue.dated.turning import turn_due
from storefront.catalogue.media.uploaded import delete_old_pictures
from storefront.checkout.jobs import delete_abandoned_checkouts, report_abandoned_checkouts
from storefront.checkout.link import delete_expired_links
from storefront.deployment.counting import count_due_shops
from storefront.deployment.load import delete_old_load
from storefront.documents.jobs import issue_due_documents
from storefront.exports.jobs import delete_old_exports, give_up_silent_exports
from storefront.gift_cards.jobs import queue_due_cards
from storefront.listing.jobs import queue_due_counts
from storefront.orders.file_sweeps import delete_unused_files, give_added_files
from storefront.payments.accounts import delete_replaced
from storefront.payments.jobs import ask_providers, delete_old_drafts, end_expired_drafts, pay_back_refunds
from storefront.pods.registry_beat import beat
from storefront.privacy.jobs import delete_old_requests, resume_silent_requests
from storefront.product_files.deciding import decline_undecided
from storefront.product_files.jobs import (
    delete_old_cleaned_texts,
    give_up_silent_imports,
    give_up_unmapped_imports,
)
from storefront.product_files.undoing import delete_old_journals
from storefront.server.partitions import add_partitions
from storefront.server.worker.moves import release_held_tasks
from storefront.server.worker.tasks import requeue_lost_tasks
from storefront.shops.handover import delete_expired_codes
from storefront.shops.idempotency import delete_expired_answers
from storefront.staff.staff_sessions import delete_ended_sessions
from storefront.stock_alerts.actions import delete_old_alerts, queue_due_alerts
from storefront.sync.log import delete_old_changes
from storefront.webhooks.jobs import delete_old_deliveries, delete_old_events

KEPT_TASKS = timedelta(days=14)


class Batch(Protocol):
    """Clears at most `limit` of the rows that are due. Returns how many it cleared."""

    def __call__(self, *, now: datetime, limit: int) -> int: ...


@dataclass(frozen=True)
class Sweep:
    name: str
    every: timedelta
    batch: Batch
    # Rows in a batch: few enough that others who wait to write do not wait for long.
    limit: int = 100

    def run(self, *, now: datetime, until: float = math.inf, stopping: Event | None = None) -> int:
        """Run batches until nothing is due, or it is `until` on the monotonic clock, or `stopping` is set. After each
        comes a pause as long as the batch, for those who wait to write. Returns how many rows were cleared."""
        cleared, stopping = 0, stopping or Event()
        while not stopping.is_set() and (began := time.monotonic()) < until:
            count = self.batch(now=now, limit=self.limit)
            if not count:
                break
            cleared += count
            stopping.wait(time.monotonic() - began)
        return cleared


def delete_expired_sessions(*, now: datetime, limit: int) -> int:
    expired = Session.objects.filter(expire_date__lt=now).order_by("expire_date").values_list("pk", flat=True)[:limit]
    return Session.objects.filter(pk__in=list(expired)).delete()[0]


def delete_old_task_results(*, now: datetime, limit: int) -> int:
    """Delete the results of tasks that finished before KEPT_TASKS."""
    old = DBTaskResult.objects.finished().filter(finished_at__lt=now - KEPT_TASKS)
    ended = old.order_by("finished_at").values_list("pk", flat=True)[:limit]
    return DBTaskResult.objects.filter(pk__in=list(ended)).delete()[0]


# Sweeps that call providers, which may be slow.
PAYMENT_SWEEPS = [
    # Frequent, since a merchant waits for these.
    Sweep("refunds to pay back", timedelta(seconds=5), pay_back_refunds, limit=10),
    Sweep("payments to ask about", timedelta(seconds=5), ask_providers, limit=10),
]
DATABASE_SWEEPS = [
    # Frequent, since shoppers see the prices that it writes.
    Sweep("sale periods and pre-orders", timedelta(seconds=1), turn_due),
    Sweep("scheduled publication", timedelta(seconds=10), emit_scheduled_changes),
    Sweep("gift cards to send", timedelta(seconds=10), queue_due_cards),
    Sweep("stock alerts to send", timedelta(seconds=30), queue_due_alerts),
    Sweep("old stock alerts", timedelta(hours=1), delete_old_alerts),
    Sweep("expired carts", timedelta(minutes=10), delete_expired_carts),
    Sweep("checkout links", timedelta(minutes=10), delete_expired_links),
    Sweep("checkouts to report", timedelta(minutes=1), report_abandoned_checkouts),
    Sweep("invoices to issue", timedelta(seconds=5), issue_due_documents, limit=20),
    Sweep("expired drafts", timedelta(minutes=1), end_expired_drafts),
    Sweep("old drafts", timedelta(hours=1), delete_old_drafts),
    Sweep("replaced settings of providers", timedelta(hours=1), delete_replaced),
    Sweep("abandoned checkouts", timedelta(hours=1), delete_abandoned_checkouts),
    Sweep("interrupted imports", timedelta(minutes=1), give_up_silent_imports),
    Sweep("undecided imports", timedelta(hours=1), decline_undecided, limit=10),
    Sweep("journals of imports", timedelta(hours=1), delete_old_journals, limit=1000),
    Sweep("imports without a mapping", timedelta(hours=1), give_up_unmapped_imports),
    Sweep("interrupted exports", timedelta(minutes=1), give_up_silent_exports),
    Sweep("old exports", timedelta(minutes=10), delete_old_exports),
    Sweep("interrupted data requests", timedelta(minutes=1), resume_silent_requests),
    Sweep("old data requests", timedelta(hours=1), delete_old_requests),
    Sweep("old changes", timedelta(hours=1), delete_old_changes),
    Sweep("beat of the registry", timedelta(seconds=30), beat),
    Sweep("apps that pod 0 deleted", timedelta(minutes=1), uninstall_deleted, limit=10),
    Sweep("calls of extensions", timedelta(hours=1), delete_old_extension_calls),
    Sweep("idempotent answers", timedelta(minutes=10), delete_expired_answers),
    Sweep("hand-over codes", timedelta(minutes=1), delete_expired_codes),
    Sweep("files for earlier orders", timedelta(seconds=30), give_added_files),
    Sweep("unused files", timedelta(hours=1), delete_unused_files, limit=10),
    Sweep("pictures of forms never saved", timedelta(hours=1), delete_old_pictures, limit=10),
    Sweep("sessions", timedelta(hours=1), delete_expired_sessions),
    Sweep("sessions of staff", timedelta(hours=1), delete_ended_sessions),
    Sweep("lost tasks", timedelta(seconds=30), requeue_lost_tasks),
    Sweep("partitions ahead", timedelta(hours=1), add_partitions),
    Sweep("tasks of interrupted moves", timedelta(seconds=30), release_held_tasks),
    Sweep("old deliveries", timedelta(hours=1), delete_old_deliveries),
    Sweep("old events", timedelta(hours=1), delete_old_events),
    Sweep("search texts that an import left", timedelta(minutes=1), write_overdue, limit=10),
    Sweep("frequent words to count", timedelta(minutes=1), queue_due_counts),
    Sweep("cleaned texts", timedelta(hours=6), delete_old_cleaned_texts),
    Sweep("figures of shops", timedelta(minutes=1), count_due_shops),
    Sweep("load of shops", timedelta(hours=1), delete_old_load, limit=1000),
    Sweep("old audit entries", timedelta(hours=1), delete_old_entries),
    Sweep("task results", timedelta(hours=1), delete_old_task_results),
]
SWEEPS = PAYMENT_SWEEPS + DATABASE_SWEEPS
