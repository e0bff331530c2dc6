"""Records when API tokens were last used, without a database write for each call.

A call stores its time in this process's memory, one entry per token; once a minute a thread writes all of them in one
statement. If several processes have seen a token, the latest time wins, whichever process writes first.
"""

import threading
import time
from datetime import UTC, datetime

import structlog
from django.db import DatabaseError, InterfaceError, connection

from storefront.kit.dialect import dialect
from storefront.kit.each_minute import EachMinute

log = structlog.get_logger(__name__)

# Tokens in one statement.
BATCH_ROWS = 500

_WRITE = """
    WITH used (digest, moment) AS (VALUES {rows})
    UPDATE shops_apitoken SET last_used_at = used.moment FROM used WHERE shops_apitoken.digest = used.digest
    AND (shops_apitoken.last_used_at IS NULL OR shops_apitoken.last_used_at < used.moment)
"""

# Time of the last use in Unix seconds, by the token's digest. Only valid tokens are here, so it is bounded.
_used: dict[str, float] = {}
_flush_lock = threading.Lock()


def record_use(digest: str) -> None:
    """Record that the token with this digest is used now."""
    _used[digest] = time.time()


def flush() -> None:
    """Write the recorded times to the database. Those that cannot be written are kept for the next time."""
    with _flush_lock:
        taken = {digest: _used.pop(digest) for digest in list(_used)}
        rest = list(taken.items())
        try:
            while rest:
                _write(rest[:BATCH_ROWS])
                del rest[:BATCH_ROWS]
        except (DatabaseError, InterfaceError) as error:
            log.warning("token_use_not_written", reason=str(error).strip())
            for digest, moment in rest:
                _used.setdefault(digest, moment)


def _write(used: list[tuple[str, float]]) -> None:
    # Sorted, so that two processes that write at once are unlikely to deadlock.
    moments = [(digest, datetime.fromtimestamp(moment, UTC)) for digest, moment in sorted(used)]
    given = [
        value for digest, moment in moments for value in (digest, connection.ops.adapt_datetimefield_value(moment))
    ]
    row = f"(%s, {dialect.MOMENT})"
    with connection.cursor() as cursor:
        cursor.execute(_WRITE.format(rows=", ".join([row] * len(used))), given)


def _forget() -> None:
    global _flush_lock
    _flush_lock = threading.Lock()
    _used.clear()


start = EachMinute("token use", flush, _forget).start
