"""Recognises errors that mean that the database or the file storage is unavailable, and not that the code has a
defect."""

import re

from django.db import InterfaceError, InternalError, OperationalError

from storefront.kit.storage import StorageUnavailable

# PostgreSQL's error codes for a write to a read-only server, such as a standby, and for a session that it has ended
# since its transaction was idle.
READ_ONLY, IDLE_IN_TRANSACTION = "25006", "25P03"
# What psycopg reports if PgBouncer lost its server during BEGIN, COMMIT or ROLLBACK: the result, and the end of the
# connection.
_TORN = re.compile(r"received \d+ results from command")
# Seconds after which callers may try again.
RETRY_AFTER_SECONDS = 2


def is_unavailable(error: BaseException | None) -> bool:
    """Returns True if the database was unavailable, busy for too long, or read-only, or the file storage unavailable. A
    later attempt may succeed."""
    if isinstance(error, InternalError):
        return is_torn(error) or getattr(error.__cause__, "sqlstate", None) in (READ_ONLY, IDLE_IN_TRANSACTION)
    return isinstance(error, OperationalError | InterfaceError | StorageUnavailable)


def is_torn(error: BaseException) -> bool:
    """Returns True if the connection ended while it answered, and must not be used again."""
    return isinstance(error, InternalError) and bool(_TORN.match(str(error)))
