"""Waits at the start of a program for a database that is away, as after a restart of the machine or during a failover.

What must never happen: a program that waits for ever, or in silence; one that waits for what no time heals, such as a
wrong password; and a port that is open before the database has answered.
"""

import re
import select
import time
from contextlib import closing
from typing import Any

import structlog
from django.conf import settings

from storefront.kit.dialect import IS_POSTGRESQL
from storefront.server.command import Failed

log = structlog.get_logger(__name__)

# Seconds between two attempts, and that one attempt may take after its connection is open. A PgBouncer accepts
# connections also while its server is away, and lets the first query wait.
RETRY_SECONDS, ANSWER_SECONDS = 0.5, 5.0
# What PostgreSQL and PgBouncer answer to a configuration that no time heals.
_REFUSED = re.compile(
    r"authentication failed|(?:role|database|user) \"[^\"]*\" does not exist|no pg_hba\.conf entry|no password supplied"
    r"|no such (?:database|user)|not permitted to log in"
)


def wait_for_database(connection: Any) -> None:
    """Return when the database of this connection answers. Raises Failed if it refuses us, or if it has not answered
    after STOREFRONT_DATABASE_WAIT_SECONDS. A SQLite database is a file, and never away."""
    if not IS_POSTGRESQL:
        return
    deadline = time.monotonic() + settings.DATABASE_WAIT_SECONDS
    has_logged = False
    while reason := _why_away(connection):
        if _REFUSED.search(reason):
            raise Failed(f"The database refuses the connection: {reason}")
        if time.monotonic() >= deadline:
            raise Failed(
                f"The database has not answered for {settings.DATABASE_WAIT_SECONDS} s: {reason} "
                "STOREFRONT_DATABASE_WAIT_SECONDS is how long to wait for it."
            )
        if not has_logged:
            log.warning("waiting_for_database", reason=reason, seconds=settings.DATABASE_WAIT_SECONDS)
            has_logged = True
        time.sleep(min(RETRY_SECONDS, max(deadline - time.monotonic(), 0)))


def _why_away(connection: Any) -> str:
    """Ask the database once. Returns why it does not answer; empty if it does."""
    import psycopg

    own = connection.copy().get_connection_params()
    own.pop("pool", None)
    try:
        with closing(psycopg.connect(**own, autocommit=True)) as asked:
            asked.pgconn.send_query(b"SELECT 1")
            return _answer(asked.pgconn, time.monotonic() + ANSWER_SECONDS)
    except psycopg.Error as error:
        return " ".join(str(error).split())


def _answer(server: Any, until: float) -> str:
    """Await the query's result. Returns why there is none until then."""
    server.flush()
    while server.is_busy():
        if not select.select([server.socket], [], [], max(until - time.monotonic(), 0))[0]:
            return "connected, but no answer to a query."
        server.consume_input()
    result = server.get_result()
    return "" if result and not result.error_message else _message(result)


def _message(result: Any) -> str:
    text = result.error_message.decode(errors="replace") if result else "the connection was closed."
    return " ".join(text.split())
