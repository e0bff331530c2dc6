"""Reads a product file in a process of its own, a batch ahead of the one that writes to the database.

To understand a product takes about as long as to write it, and a machine with two cores does both at once. The process
holds no more than the batch that waits to be taken, so that memory stays flat.
"""

import gc
import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing.connection import Connection
from typing import Any

# Smaller files, in bytes, are not worth a process.
WORTH_A_PROCESS = 4_000_000
BATCH = 2000
# Forked, since modules and settings are loaded here already.
PROCESSES = multiprocessing.get_context("fork")

# Objects between two looks for garbage in cycles, of which reading and writing rows leaves next to none.
SELDOM = 500_000

Batch = tuple[list[Any], int]


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Have Python look for cycles seldom: a batch is many objects that all go at once, and looking through them again
    and again took a fifth of an import."""
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(SELDOM, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


def in_batches(records: Iterator[Any], position: Callable[[], int]) -> Iterator[Batch]:
    """The records by the thousand, each time with the position in the file after them."""
    while batch := list(islice(records, BATCH)):
        yield batch, position()
        # Let go before the next one is read.
        del batch


@contextmanager
def read_ahead(records: Iterator[Any], position: Callable[[], int], size: int) -> Iterator[Iterator[Batch]]:
    """The same batches, read in a process of its own where the file is large and there is a second core.

    What reading raises is raised here. The process ends with this block, however that ends.
    """
    batches = in_batches(records, position)
    if size < WORTH_A_PROCESS or (os.cpu_count() or 1) < 2:
        yield batches
        return
    taking, giving = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=_read, args=(batches, taking, giving), name="reader", daemon=True)
    process.start()
    giving.close()
    try:
        yield _taken(taking)
    finally:
        taking.close()
        process.kill()
        process.join()
        process.close()


def _taken(taking: Connection) -> Iterator[Batch]:
    while True:
        try:
            found = pickle.loads(taking.recv_bytes())  # noqa: S301, it comes from our own process
        except EOFError:
            raise RuntimeError("the process that read the file ended before the file did") from None
        if found is None:
            return
        if isinstance(found, BaseException):
            raise found
        yield found


def _read(batches: Iterator[Batch], taking: Connection, giving: Connection) -> None:
    # Ctrl-C reaches both processes, and the other one ends this; its handlers mean nothing here.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Else this process would keep the pipe open after the other one is gone.
    taking.close()
    with suppress(BrokenPipeError):
        try:
            for batch in batches:
                giving.send_bytes(pickle.dumps(batch, pickle.HIGHEST_PROTOCOL))
        except Exception as error:
            giving.send_bytes(pickle.dumps(error))
        else:
            giving.send_bytes(pickle.dumps(None))
