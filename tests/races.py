"""Runs calls at the same time, each in its own thread with its own database connection."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from django.db import connections

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
