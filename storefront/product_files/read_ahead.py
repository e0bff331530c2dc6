"""Reads a product file in a separate process, one batch ahead of the process that writes to the database.

Parsing a product takes about as long as writing it, and a machine with two cores does both at the same time. The
reading process holds at most one batch that waits to be received, and this one one batch that waits to be written, so
memory stays flat.
"""

import gc
import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing.connection import Connection
from typing import Any

# Size in bytes below which a file is read in the same process.
MIN_BYTES_FOR_A_PROCESS = 4_000_000
BATCH_PRODUCTS = 2000
# Forked, so that modules and settings are already loaded.
PROCESSES = multiprocessing.get_context("fork")

# Allocations between two collections of cyclic garbage, of which reading and writing rows leaves almost none.
OBJECTS_BETWEEN_COLLECTIONS = 500_000

Batch = tuple[list[Any], int]


@contextmanager
def rare_garbage_collection() -> Iterator[None]:
    """Collect cyclic garbage rarely: the objects of a batch are all freed together, and scanning them again and again
    took a fifth of an import's time."""
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


def in_batches(items: Iterator[Any], position: Callable[[], int], share: int = 1) -> Iterator[Batch]:
    """The items in lists of at most BATCH_PRODUCTS divided by `share`, each with the position in the file after it."""
    while batch := list(islice(items, -(-BATCH_PRODUCTS // share))):
        yield batch, position()
        # Frees the batch before the next one is read.
        del batch


@contextmanager
def read_batches(items: Iterator[Any], position: Callable[[], int], size: int) -> Iterator[Iterator[Batch]]:
    """Batches as from `in_batches`, read in a separate process if the file is large and there is a second core.

    Exceptions from reading are raised here. The process ends with this `with` block, even if the block raises.
    """
    batches = in_batches(items, position)
    if size < MIN_BYTES_FOR_A_PROCESS or (os.cpu_count() or 1) < 2:
        yield batches
        return
    receiver, sender = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=_send, args=(batches, receiver, sender), name="reader", daemon=True)
    process.start()
    sender.close()
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="reader") as thread:
        try:
            yield _received(receiver, thread)
        finally:
            # Ends the thread, too, by an EOFError.
            process.kill()
            process.join()
            process.close()
    receiver.close()


def _received(receiver: Connection, thread: ThreadPoolExecutor) -> Iterator[Batch]:
    """The batches, each received while this process waits for the database to write the one before."""
    following = thread.submit(_receive, receiver)
    while message := following.result():
        if isinstance(message, BaseException):
            raise message
        following = thread.submit(_receive, receiver)
        yield message
        # Frees the batch before the next one is used.
        del message


def _receive(receiver: Connection) -> Batch | BaseException | None:
    try:
        return pickle.loads(receiver.recv_bytes())  # noqa: S301, it comes from our own process
    except EOFError:
        return RuntimeError("the process that read the file stopped before the end of the file")


def _send(batches: Iterator[Batch], receiver: Connection, sender: Connection) -> None:
    # Ctrl-C reaches both processes. The parent ends this one, whose inherited handlers must not run.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Otherwise this process would keep the pipe open after the parent has ended.
    receiver.close()
    with suppress(BrokenPipeError):
        try:
            for batch in batches:
                sender.send_bytes(pickle.dumps(batch, pickle.HIGHEST_PROTOCOL))
        except Exception as error:
            sender.send_bytes(pickle.dumps(error))
        else:
            sender.send_bytes(pickle.dumps(None))
