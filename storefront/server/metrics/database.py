"""Reads metrics from the database, of all shops together: the length and age of queues, and deliveries by state."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError
from dataclasses import dataclass
from datetime import datetime
from threading import Lock

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Aggregate, Count, Min, QuerySet, Sum
from django_tasks_db.models import DBTaskResult
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from storefront.catalogue.models import Product
from storefront.kit import clock
from storefront.kit.queues import FILES
from storefront.pictures.models import PictureFetch, PictureRequest
from storefront.pods import registry_state
from storefront.pods.registry_state import Slot
from storefront.server.metrics.horizon import Horizon
from storefront.server.worker.heartbeat import live_workers
from storefront.shops import quotas
from storefront.shops.models import QuotaUse
from storefront.shops.task_quota import UNFINISHED
from storefront.sync.dialect import dialect
from storefront.webhooks.models import Delivery, Event

log = structlog.get_logger(__name__)

# Seconds for which a reading is served again, and that a scrape waits for a new one at most.
FRESH_SECONDS, DEADLINE_SECONDS = 5.0, 2.0
# States of deliveries that partial indexes count. `storefront_deliveries_ended_total` counts the others.
COUNTED_STATES = (Delivery.Status.PENDING, Delivery.Status.HELD)
HORIZON = Horizon()
_ROWS, _PICTURES = Count("pk"), Sum("pictures", default=0)


@dataclass(frozen=True)
class Reading:
    """Waiting entries of each queue, and seconds since the oldest was due; deliveries by state; the part of each quota
    that the shop has used which has used most of it."""

    queues: dict[str, tuple[int, float]]
    deliveries: dict[str, int]
    quotas: dict[str, float]
    # Seconds for which the oldest running transaction has kept the change feed from going on; and running workers.
    horizon_age: float
    workers: int
    # Pod 0's slots, by which other pods read the registry; and how this pod reads it.
    slots: list[Slot]
    registry: registry_state.Reading | None


def read() -> Reading:
    """Read all figures. Each query reads an index, or a table, that has only unfinished rows."""
    now = clock.now()
    due = {"status": Delivery.Status.PENDING, "due_at__lte": now}
    queues = {
        "events": _waiting(Event.objects.filter(sequence=None), "created_at", now),
        "deliveries": _waiting(Delivery.objects.filter(**due), "due_at", now),
        "pictures": _waiting_pictures(now),
    }
    tasks = DBTaskResult.objects.ready().order_by().values_list("task_path")
    for path, count, oldest in tasks.annotate(Count("pk"), Min("enqueued_at")):
        queues[path.rpartition(".")[2]] = count, (now - oldest).total_seconds()
    states = Delivery.objects.filter(status__in=COUNTED_STATES).order_by().values_list("status")
    deliveries = dict.fromkeys(COUNTED_STATES, 0) | dict(states.annotate(Count("pk")))
    deliveries[Delivery.Status.DEAD] = Delivery.objects.filter(status=Delivery.Status.DEAD).count()
    return Reading(
        queues,
        {str(state): count for state, count in deliveries.items()},
        _quotas(now),
        HORIZON.age(dialect.oldest_running()),
        live_workers(now),
        registry_state.slots(),
        registry_state.reading(now=now),
    )


def _quotas(now: datetime) -> dict[str, float]:
    unfinished = DBTaskResult.objects.filter(queue_name=FILES, status__in=UNFINISHED).order_by()
    products = Product.objects.filter(deleted_at=None).order_by()
    limits = QuotaUse.objects.exclude(most=None).values_list("kind", "shop", "most")
    own = {(kind, shop): most for kind, shop, most in limits}
    shares = {}
    for kind, usual in settings.QUOTAS.items():
        if not usual and all(kind != each for each, _ in own):
            continue
        if kind == "tasks":
            counts = unfinished.values_list("args_kwargs__args__0").annotate(Count("pk"))
        elif kind == "products":
            counts = products.values_list("shop").annotate(Count("pk"))
        else:
            since = quotas.window_of(kind, now)
            counts = QuotaUse.objects.filter(kind=kind, since__gte=since).values_list("shop", "used")
        used = [(count, own.get((kind, shop), usual)) for shop, count in counts]
        shares[kind] = max((count / most for count, most in used if most), default=0.0)
    return shares


def _waiting_pictures(now: datetime) -> tuple[int, float]:
    """Pictures that imports have requested, and those that were taken up since (`pictures/taking_up.py`)."""
    requested, since_request = _waiting(PictureRequest.objects.all(), "made_at", now, _PICTURES)
    due = PictureFetch.objects.filter(state=PictureFetch.State.WAITING, due_at__lte=now)
    count, since_due = _waiting(due, "due_at", now)
    return requested + count, max(since_request, since_due)


def _waiting(rows: QuerySet, since: str, now: datetime, count: Aggregate = _ROWS) -> tuple[int, float]:
    found = rows.aggregate(count=count, oldest=Min(since))
    return found["count"], (now - found["oldest"]).total_seconds() if found["oldest"] else 0.0


class DatabaseFigures(Collector):
    """Reads in a thread of its own, so that a scrape waits DEADLINE_SECONDS at most: without a reading it has the other
    figures, and `storefront_database_readable` is 0. A stalled reading is awaited, and no second one begun."""

    def __init__(self) -> None:
        self.thread = ThreadPoolExecutor(1, "database figures")
        self.lock = Lock()
        self.begun_at = 0.0
        self.pending: Future[Reading | None] | None = None

    def collect(self) -> Iterator[GaugeMetricFamily]:
        reading = self.reading()
        readable = "Whether the figures of the database could be read."
        yield GaugeMetricFamily("storefront_database_readable", readable, float(reading is not None))
        if reading is None:
            return
        size = GaugeMetricFamily("storefront_queue_size", "Entries that wait for a worker, by kind.", labels=["queue"])
        age = GaugeMetricFamily(
            "storefront_queue_age_seconds", "Seconds for which the oldest of them waits, by kind.", labels=["queue"]
        )
        for queue, (count, seconds) in sorted(reading.queues.items()):
            size.add_metric([queue], count)
            age.add_metric([queue], max(seconds, 0.0))
        states = GaugeMetricFamily("storefront_deliveries", "Webhook deliveries, by state.", labels=["state"])
        for state, count in reading.deliveries.items():
            states.add_metric([state], count)
        used = GaugeMetricFamily(
            "storefront_quota_used_ratio",
            "Part of a quota that the shop has used which has used most of it.",
            labels=["quota"],
        )
        for quota, share in reading.quotas.items():
            used.add_metric([quota], share)
        yield from (size, age, states, used)
        horizon = "Seconds for which the oldest running transaction has held up the change feed of all shops."
        yield GaugeMetricFamily("storefront_feed_horizon_age_seconds", horizon, reading.horizon_age)
        yield GaugeMetricFamily("storefront_workers_live", "Workers that run, of all machines.", reading.workers)
        yield from _registry(reading)

    def reading(self) -> Reading | None:
        """A reading that is FRESH_SECONDS old at most; None if there is none within DEADLINE_SECONDS."""
        with self.lock:
            is_stale = time.monotonic() - self.begun_at > FRESH_SECONDS
            if self.pending is None or (self.pending.done() and is_stale):
                self.begun_at = time.monotonic()
                self.pending = self.thread.submit(_read_or_none)
            pending = self.pending
        try:
            return pending.result(DEADLINE_SECONDS)
        except TimeoutError:
            log.warning("metrics_without_database", reason=f"no answer within {DEADLINE_SECONDS:.0f} s")
            return None


def _registry(reading: Reading) -> Iterator[GaugeMetricFamily]:
    """Figures of the registry that pods have in common; none in a deployment with one database."""
    if reading.slots:
        kept = GaugeMetricFamily(
            "storefront_registry_kept_bytes", "Bytes of the log that pod 0 keeps for a reader.", labels=["slot"]
        )
        is_read = GaugeMetricFamily("storefront_registry_read", "Whether a pod reads its slot.", labels=["slot"])
        for slot in reading.slots:
            kept.add_metric([slot.name], slot.kept_bytes)
            is_read.add_metric([slot.name], float(slot.is_read and not slot.is_lost))
        yield from (kept, is_read)
    if reading.registry:
        age = -1.0 if reading.registry.age is None else reading.registry.age
        yield GaugeMetricFamily("storefront_registry_age_seconds", "Age of this pod's accounts and apps.", age)
        errors = "How often rows of the registry could not be written."
        yield GaugeMetricFamily("storefront_registry_errors", errors, reading.registry.errors)


def _read_or_none() -> Reading | None:
    try:
        return read()
    except (DatabaseError, InterfaceError) as error:
        log.warning("metrics_without_database", reason=str(error).strip())
        connection.close()
        return None
