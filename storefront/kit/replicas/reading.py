"""Runs a read on a replica that is far enough, else on the primary."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import count
from typing import Any, TypeVar

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connections, transaction

from storefront.kit import metrics
from storefront.kit.replicas import watching
from storefront.kit.replicas.asking import STATEMENT, Answer
from storefront.kit.replicas.watching import Needed, Replica

log = structlog.get_logger(__name__)

T = TypeVar("T")
PRIMARY = "default"
# A statement that took too long. It would take as long on the primary, and the visitor has waited already.
TIMED_OUT = "57014"
# Why a read went to the primary, in the metrics.
WRITTEN, LEFT_OUT, BEHIND, FAILED = "written", "left_out", "behind", "failed"
_turn = count()


class Behind(Exception):
    """The replica has not replayed the position, or is none any more."""


def read(work: Callable[[], T], needed: Needed) -> tuple[T, bool]:
    """The result of `work`, which only reads, and whether a replica gave it. `needed` returns the position that it must
    see, or None if only the primary will do. If a replica fails meanwhile, `work` runs once more, on the primary."""
    if not settings.REPLICAS or connections[PRIMARY].alias != PRIMARY or connections[PRIMARY].in_atomic_block:
        return work(), False
    reason = LEFT_OUT
    for replica, position in _candidates(needed):
        if position is None:
            reason = WRITTEN
            break
        try:
            with _using(replica, position):
                result = work()
            metrics.REPLICA_READS.labels(replica.alias).inc()
            return result, True
        except Behind:
            reason = BEHIND
        except (DatabaseError, InterfaceError) as error:
            state = getattr(error.__cause__, "sqlstate", None)
            if state == TIMED_OUT:
                raise
            reason = FAILED
            log.warning("replica_failed", replica=replica.alias, state=state, reason=" ".join(str(error).split()))
            _close(replica, state)
            break
    metrics.PRIMARY_READS.labels(reason).inc()
    return work(), False


def current_position() -> int:
    """A position that has all that is committed now; 0 without replicas."""
    if not settings.REPLICAS:
        return 0
    with connections[PRIMARY].cursor() as cursor:
        cursor.execute(STATEMENT)
        return Answer(*cursor.fetchone()).position


def _candidates(needed: Needed) -> Iterator[tuple[Replica, int | None]]:
    """The replicas that are well, a different one first each time, with the position that they must have."""
    watch = watching.watch()
    floor = watch.primary.floor()
    well = [each for each in watch.replicas if not each.trouble]
    if floor is None or not well:
        return
    position = needed()
    first = next(_turn) % len(well)
    for replica in well[first:] + well[:first]:
        yield replica, None if position is None else max(position, floor)


@contextmanager
def _using(replica: Replica, position: int) -> Iterator[None]:
    """Make the thread's connection one to the replica, for every query of the block, written by hand or not. Raises
    Behind if the replica is not that far."""
    primary: Any = connections[PRIMARY]
    own: Any = connections[replica.alias]
    own.close_if_health_check_failed()
    own.ensure_connection()
    with replica.interruptible(own.connection.fileno()), _one_server(own):
        _require(own, position)
        connections[PRIMARY], own.primary = own, primary
        try:
            yield
        finally:
            connections[PRIMARY], own.primary = primary, None


@contextmanager
def on_primary() -> Iterator[None]:
    """Also within a read on a replica, run the block's statements on the primary: those of a write beside the read
    whose failure is only logged, so that the read would not run again."""
    own = connections[PRIMARY]
    if (primary := getattr(own, "primary", None)) is None:
        yield
        return
    connections[PRIMARY] = primary
    try:
        yield
    finally:
        connections[PRIMARY] = own


def _one_server(own: Any) -> Any:
    """Behind a PgBouncer, statements are sure of one server, and refused if they write, only in a transaction. Other
    connections are read-only from their start."""
    if not settings.REPLICAS_POOLED:
        return nullcontext()
    own.connection.read_only = True
    return transaction.atomic(using=own.alias)


def _require(own: Any, position: int) -> None:
    """Raises Behind unless the server of this session has replayed the position, which it is asked for only if it was
    not that far before: a session stays with one server, which never goes back."""
    session, replayed = getattr(own, "replayed", (None, -1))
    if not settings.REPLICAS_POOLED and session is own.connection and replayed >= position:
        return
    with own.cursor() as cursor:
        cursor.execute(STATEMENT)
        answer = Answer(*cursor.fetchone())
    own.replayed = (own.connection, answer.position)
    if not answer.is_replica or answer.position < position:
        raise Behind


def _close(replica: Replica, state: str | None) -> None:
    """After a failure, leave out a replica that is away, until it answers again."""
    own = connections[replica.alias]
    if state is None or state.startswith(("08", "57P")):
        own.close()
        replica.trouble = replica.trouble or "it is away: a read failed"
