"""Keeps the claims of `Idempotency-Key` alive that this process holds (`idempotency.py`).

A claim is a lease: while its request runs, a thread of the process renews it. If the process is killed, nobody does,
and after LEASE another request may take the claim over.
"""

import os
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import structlog
from django.db import DatabaseError, InterfaceError, connection, transaction

from storefront.kit import clock
from storefront.shops.models import IdempotentAnswer

log = structlog.get_logger(__name__)

# A claim that was not renewed for so long has lost its holder.
LEASE = timedelta(seconds=4)
# Seconds between renewals. A shorter request renews nothing.
RENEW_SECONDS = 1.0
# Seconds for which a claim is renewed: no request takes this long.
MAX_CLAIM_SECONDS = 60.0

# When the claim was taken, on the monotonic clock, by claim; and the claim's row.
_held: dict[uuid.UUID, tuple[float, int]] = {}
_is_any_held = threading.Event()
_start_lock = threading.Lock()
_thread: threading.Thread | None = None


@contextmanager
def held(row_id: int, claim: uuid.UUID) -> Iterator[None]:
    """Renew this row's claim during the block."""
    _start()
    _held[claim] = (time.monotonic(), row_id)
    _is_any_held.set()
    try:
        yield
    finally:
        del _held[claim]


def _start() -> None:
    global _thread
    if _thread is None:
        with _start_lock:
            if _thread is None:
                _thread = threading.Thread(target=_run, name="claims", daemon=True)
                _thread.start()


def _run() -> None:
    while _is_any_held.wait():
        time.sleep(RENEW_SECONDS)
        try:
            _renew(time.monotonic())
        except (DatabaseError, InterfaceError) as error:
            # If another request takes the claim over meanwhile, this one is rolled back.
            log.warning("claims_not_renewed", reason=str(error).strip())
            connection.close()
        if not _held:
            connection.close()
            _is_any_held.clear()
            if _held:
                _is_any_held.set()


def _renew(now: float) -> None:
    due = {
        row_id: claim
        for claim, (since, row_id) in list(_held.items())
        if RENEW_SECONDS / 2 < now - since < MAX_CLAIM_SECONDS
    }
    if due:
        ours = IdempotentAnswer.objects.filter(pk__in=due, claim__in=due.values(), status=None)
        # A locked row is being stored or taken over at this moment.
        free = ours.select_for_update(skip_locked=True).values("pk")
        with transaction.atomic():
            IdempotentAnswer.objects.filter(pk__in=free).update(claimed_at=clock.now())


def _reset_after_fork() -> None:
    """A forked process inherits neither the thread nor the requests."""
    global _thread, _start_lock, _is_any_held
    _thread, _start_lock, _is_any_held = None, threading.Lock(), threading.Event()
    _held.clear()


os.register_at_fork(after_in_child=_reset_after_fork)
