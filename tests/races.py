"""Runs calls at the same time, each in its own thread with its own database connection."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from django.db import connection, connections, transaction

Refusals = type[Exception] | tuple[type[Exception], ...]


def run_concurrently(*calls: Callable[[], Any], refusal: Refusals = ()) -> list[Any]:
    """The results of the calls, in order. A raised `refusal` is a result; another exception is raised here."""
    start = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        try:
            start.wait()
            return call()
        except refusal as refused:
            return refused
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as threads:
        return [future.result() for future in [threads.submit(run, call) for call in calls]]


def run_after_waiting_for(change: Callable[[], Any], call: Callable[[], Any]) -> Any:
    """The result of a call that meets rows which `change` has written and not yet committed: it is committed once the
    call waits for it. PostgreSQL only, since on SQLite one transaction writes at a time."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"

    def run() -> Any:
        try:
            return call()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic(), connection.cursor() as cursor:
            change()
            called, deadline = threads.submit(run), time.monotonic() + 10
            while not called.done() and cursor.execute(waiting).fetchone() == (0,):
                assert time.monotonic() < deadline
        return called.result()
