"""The question that a server of PostgreSQL is asked: how far it is, and which server it is."""

import select
import time
from contextlib import closing
from typing import Any, NamedTuple

import psycopg

# The position up to which a replica has replayed the write-ahead log, or up to which a primary has written it. Physical
# replicas have their primary's system identifier and the same number for each database. Positions
# compare only on one timeline: after a failover, a replica can have more of the old one than the new primary had. A
# replica's is that of its last restartpoint, so one that follows to a new timeline is used again some minutes later.
STATEMENT = """
    SELECT is_replica,
        (CASE WHEN is_replica THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END - '0/0')::bigint,
        (SELECT system_identifier FROM pg_control_system()) || '/'
            || (SELECT oid FROM pg_database WHERE datname = current_database()),
        CASE WHEN is_replica THEN (SELECT min_recovery_end_timeline FROM pg_control_recovery())
            ELSE ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int END
    FROM pg_is_in_recovery() AS is_replica
"""


class Answer(NamedTuple):
    is_replica: bool
    position: int
    identity: str
    timeline: int


class NoAnswer(OSError):
    """The server did not answer in time, or not as a PostgreSQL server does."""


def ask_once(parameters: dict[str, Any], seconds: float) -> Answer:
    """Ask on a new connection. Raises psycopg.Error, or NoAnswer after this many seconds."""
    with closing(connect(parameters)) as connection:
        return ask(connection, seconds)


def connect(parameters: dict[str, Any]) -> psycopg.Connection:
    own = {name: value for name, value in parameters.items() if name != "pool"}
    return psycopg.connect(**own, autocommit=True)


def ask(connection: psycopg.Connection, seconds: float) -> Answer:
    """Ask, and wait for this many seconds. psycopg would wait for ever for a server that hangs."""
    server, until = connection.pgconn, time.monotonic() + seconds
    server.send_query(STATEMENT.encode())
    server.flush()
    while server.is_busy():
        # Not select(), which takes no descriptors above 1023.
        waiting = select.poll()
        waiting.register(server.socket, select.POLLIN)
        if not waiting.poll(max(until - time.monotonic(), 0) * 1000):
            raise NoAnswer(f"no answer within {seconds:g} s")
        server.consume_input()
    results = []
    while (result := server.get_result()) is not None:
        results.append(result)
    if len(results) != 1 or results[0].error_message:
        raise NoAnswer(" ".join(b" ".join(each.error_message for each in results).decode(errors="replace").split()))
    is_replica, position, identity, timeline = (results[0].get_value(0, column) for column in range(4))
    return Answer(is_replica == b"t", int(position or -1), (identity or b"").decode(), int(timeline or 0))
