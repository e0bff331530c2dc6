"""Keeps 10 million events in partitions, drops them while orders are placed, and deletes rows one by one for a while,
to compare: `make bench` runs it, in a new database that is dropped again.

    python -m benchmarks.partitions [--quick]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median
from threading import Event, Thread
from typing import Any

from benchmarks import postgres
from benchmarks.prepared import FOLDER, clean_environment, storefront

# Months of events that are dropped, and the events of each.
MONTHS, FULL, QUICK = 10, 1_000_000, 50_000
# Seconds in which only orders are placed, and in which rows are deleted.
SECONDS = 30.0
# Seconds between events that are recorded meanwhile. Orders before those that are measured.
PAUSE_SECONDS, WARM_ORDERS = 0.01, 5
# Rows that a sweep deletes at a time.
BATCH_ROWS = 100
MAX_SECONDS = 3600
# One month's events, in the order in which they happened, dispatched long ago.
FILL = """
    INSERT INTO {name} (id, public_id, shop_id, topic, data, created_at, sequence)
    SELECT nextval('webhooks_event_id_seq'), gen_random_uuid(), %(shop)s, 'order.placed',
        jsonb_build_object('id', number, 'number', 'A' || number, 'total', '19.00', 'currency', 'EUR'),
        %(begin)s + (%(end)s - %(begin)s) * (number / {count}::double precision), -%(first)s - number
    FROM generate_series(0, {count} - 1) number
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a twentieth of the events")
    parser.add_argument("--inside", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        compare(given.inside)
        return 0
    server = postgres.answering_server()
    if server is None:
        print("No PostgreSQL answers, so partitions are not measured.", file=sys.stderr)
        return 0
    name = f"{postgres.database_name(FOLDER, 0)}_partitions"
    postgres.create(server, name)
    try:
        with tempfile.TemporaryDirectory(prefix="storefront-bench-") as directory:
            environment = clean_environment() | {
                "STOREFRONT_DATA_DIR": directory,
                "STOREFRONT_LOG_LEVEL": "error",
                "DATABASE_URL": postgres.with_name(server, name),
            }
            storefront("migrate", "--verbosity", "0", environment=environment)
            count = QUICK if given.quick else FULL
            command = [sys.executable, "-W", "ignore", "-m", "benchmarks.partitions", "--inside", str(count)]
            return subprocess.run(command, env=environment, timeout=MAX_SECONDS, check=False).returncode
    finally:
        postgres.drop(server, name)


def compare(count: int) -> None:
    """Print the slowest writes before, while partitions are dropped, and while rows are deleted."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "storefront.server.settings")
    django.setup()
    from django.conf import settings
    from django.test.utils import override_settings

    from benchmarks.orders import Way
    from storefront.kit import clock

    storages = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    given = {"EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend", "ALLOWED_HOSTS": ["*"]}
    with override_settings(STORAGES={**settings.STORAGES, **storages}, **given):
        writers, now = Writers(Way()), clock.now()
        old, began = now - timedelta(days=settings.EVENT_DAYS), time.monotonic()
        for ended in fill(writers.way.shop.pk, count, old):
            print(f"{ended:,} events after {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        for _ in range(WARM_ORDERS):
            writers.order()
        with writers.writing("Before") as quiet:
            time.sleep(SECONDS)
        print(quiet)
        with writers.writing("While partitions are dropped") as dropping:
            print(drop(now))
        print(dropping)
        list(fill(writers.way.shop.pk, count, old, months=1))
        with writers.writing("While rows are deleted") as deleting:
            print(delete())
        print(deleting)


def drop(now: datetime) -> str:
    """Drop the old events, and go on for SECONDS in all."""
    from django.conf import settings
    from django.db import connection

    from storefront.webhooks.jobs import EVENTS, _delete_deliveries_of
    from storefront.webhooks.models import Event

    kept = Event.objects.count()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_size_pretty(pg_database_size(current_database()))")
        (size,) = cursor.fetchone()
    began = time.monotonic()
    dropped = EVENTS.drop_ended(now=now, age=timedelta(days=settings.EVENT_DAYS), first=_delete_deliveries_of)
    seconds = time.monotonic() - began
    left = Event.objects.count()
    time.sleep(max(0.0, SECONDS - seconds))
    return f"{kept:,} events ({size}), {left:,} after {dropped} partitions were dropped in {seconds:.2f} s"


def delete() -> str:
    """Delete old events as the sweep does where there are no partitions, for SECONDS."""
    from storefront.webhooks.models import Event

    deleted, began = 0, time.monotonic()
    while (start := time.monotonic()) < began + SECONDS:
        first = list(Event.objects.order_by("id").values_list("pk", flat=True)[:BATCH_ROWS])
        Event.objects.filter(pk__in=first).delete()
        deleted += len(first)
        # As long as the batch, for those who wait to write.
        time.sleep(time.monotonic() - start)
    hours = MONTHS * FULL / max(deleted, 1) * SECONDS / 3600
    return f"{deleted / SECONDS:,.0f} rows a second were deleted, so {MONTHS * FULL:,} take {hours:.1f} h"


def fill(shop: int, count: int, before: datetime, months: int = MONTHS) -> Iterator[int]:
    """Make partitions of the months before this time, each with so many events. Yields how many there are."""
    from django.db import connection

    from storefront.webhooks.jobs import EVENTS

    ends = [EVENTS.start(before)]
    while len(ends) <= months:
        ends.append(EVENTS.start(ends[-1] - timedelta(days=1)))
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS webhooks_event_before")
        for number, (end, begin) in enumerate(pairwise(ends)):
            name = f"webhooks_event_{begin:%Y%m%d}"
            # Filled before it is indexed, which is quicker.
            cursor.execute(f"CREATE TABLE {name} (LIKE webhooks_event_default) WITH (fillfactor = 70)")
            given: dict[str, Any] = {"shop": shop, "begin": begin, "end": end, "first": number * count + 1}
            cursor.execute(FILL.format(name=name, count=count), given)
            cursor.execute(f"ALTER TABLE {name} ADD UNIQUE (public_id), ADD UNIQUE (shop_id, sequence)")
            cursor.execute(
                f"ALTER TABLE webhooks_event ATTACH PARTITION {name} FOR VALUES FROM (%s) TO (%s)", [begin, end]
            )
            cursor.execute(f"ANALYZE {name}")
            yield (number + 1) * count


class Writers:
    """Places orders one after the other in a thread, and records events in another, and notes how long each takes."""

    def __init__(self, way: Any) -> None:
        self.way, self.number = way, 0

    def order(self) -> None:
        from benchmarks.orders import Counted

        self.way.order(self.number, Counted())
        self.number += 1

    def event(self) -> None:
        from django.db import transaction

        from storefront.kit import clock
        from storefront.webhooks.actions import record_event

        # Rolled back, or each order would dispatch these events as its part of the worker's.
        with transaction.atomic():
            record_event(shop=self.way.shop, topic="order.placed", data={"id": 1}, now=clock.now())
            transaction.set_rollback(True)
        time.sleep(PAUSE_SECONDS)

    @contextmanager
    def writing(self, title: str) -> Iterator["Written"]:
        found, stopping = Written(title, [], []), Event()

        def work(write: Callable[[], None], taken: list[float]) -> None:
            from django.db import connections

            while not stopping.is_set():
                began = time.monotonic()
                write()
                taken.append(time.monotonic() - began)
            connections.close_all()

        given = ((self.order, found.orders), (self.event, found.events))
        threads = [Thread(target=work, args=each) for each in given]
        for thread in threads:
            thread.start()
        try:
            yield found
        finally:
            stopping.set()
            for thread in threads:
                thread.join()


@dataclass(frozen=True)
class Written:
    """The seconds of each order and of each event, with its pause."""

    title: str
    orders: list[float]
    events: list[float]

    def __str__(self) -> str:
        return f"{self.title}: orders {_figures(self.orders)}; events {_figures(self.events, PAUSE_SECONDS)}"


def _figures(taken: list[float], less: float = 0.0) -> str:
    if not taken:
        return "none"
    middle, slowest = ((seconds - less) * 1000 for seconds in (median(taken), max(taken)))
    return f"{len(taken)}, median {middle:.0f} ms, slowest {slowest:.0f} ms"


if __name__ == "__main__":
    sys.exit(main())
