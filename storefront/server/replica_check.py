"""Looks at the replicas of DATABASE_REPLICA_URLS: at the start of a program, and for the doctor."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import psycopg
import structlog
from django.conf import settings
from django.db import connections

from storefront.kit.direct import direct_copy
from storefront.kit.replicas.asking import Answer, ask_once
from storefront.kit.replicas.watching import FOREIGN, FORKED, MAX_LAG_BYTES, PROMOTED
from storefront.server.command import Failed

log = structlog.get_logger(__name__)

# Seconds in which a server that accepts connections must answer.
ANSWER_SECONDS = 3.0


class Look(NamedTuple):
    """A replica with its problem, empty if it has none, and whether no time heals that."""

    name: str
    problem: str
    is_final: bool = False


def look() -> Iterator[Look]:
    """A look at each replica. Raises psycopg.Error or NoAnswer if the primary does not answer."""
    if not settings.REPLICAS:
        return
    primary = ask_once(direct_copy(connections["default"]).get_connection_params(), ANSWER_SECONDS)
    for alias, database in settings.REPLICAS.items():
        name = f"{alias} ({database['HOST'] or 'local socket'}:{database['PORT'] or 5432})"
        try:
            found = ask_once(connections[alias].get_connection_params(), ANSWER_SECONDS)
        except (psycopg.Error, OSError) as error:
            yield Look(name, f"it is away: {' '.join(str(error).split())}")
        else:
            yield Look(name, *_judged(found, primary))


def _judged(found: Answer, primary: Answer) -> tuple[Any, ...]:
    if found.identity != primary.identity:
        return FOREIGN, True
    if not found.is_replica:
        return (PROMOTED,)
    if found.timeline != primary.timeline:
        return (FORKED.format(own=found.timeline, primary=primary.timeline),)
    behind = primary.position - found.position
    return (f"it is {behind:,} bytes behind" if behind > MAX_LAG_BYTES else "",)


def require_own_replicas() -> None:
    """Raises Failed if a replica is another database's. One that is away or late is logged, and left out meanwhile."""
    try:
        for each in look():
            if each.is_final:
                raise Failed(f"DATABASE_REPLICA_URLS: {each.name} cannot be used, since {each.problem}.")
            if each.problem:
                log.warning("replica_left_out", replica=each.name, reason=each.problem)
    except (psycopg.Error, OSError) as error:
        log.warning("replicas_not_examined", reason=" ".join(str(error).split()))
