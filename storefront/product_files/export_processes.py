"""Writes the chunks of an export in several processes, in order: turning rows into text takes longer than reading
them, and Python does it on one core."""

import multiprocessing
import os
import pickle
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing.connection import wait
from threading import Thread
from typing import Any

import django

# Spawned, since a fork of this process would share its database connection.
PROCESSES = multiprocessing.get_context("spawn")

# A text, the number of its products, and what it does not hold of them.
Text = tuple[str, int, Counter[str]]
Write = Callable[[list[int]], Text]

# Set in each process.
_write: Write


def in_processes(write: Write, chunks: Iterable[list[int]], processes: int) -> Iterator[Text]:
    """Yields the result of `write` for each chunk, in order. At most two chunks for each process wait. Raises what
    `write` raises, and BrokenProcessPool if a process was killed."""
    # Pickled here, since a new process can load the service's classes only after its settings.
    pool = ProcessPoolExecutor(processes, PROCESSES, initializer=_begin, initargs=(pickle.dumps(write),))
    written: deque[Future[Text]] = deque()
    try:
        for chunk in chunks:
            written.append(pool.submit(_written, chunk))
            if len(written) > 2 * processes:
                yield written.popleft().result()
        while written:
            yield written.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(write: bytes) -> None:
    # Ctrl-C reaches every process; the one that waits for them ends them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, name="parent", daemon=True).start()
    django.setup()
    global _write
    _write = pickle.loads(write)  # noqa: S301, it comes from our own process


def _end_with_parent() -> None:
    parent: Any = multiprocessing.parent_process()
    wait([parent.sentinel])
    os._exit(1)


def _written(chunk: list[int]) -> Text:
    return _write(chunk)
