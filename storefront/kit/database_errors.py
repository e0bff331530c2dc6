"""Recognises errors that mean that the database or the file storage is unavailable, and not that the code has a
defect."""

from django.db import InterfaceError, InternalError, OperationalError

from storefront.kit.storage import StorageUnavailable

# PostgreSQL's error code for a write to a read-only server, such as a standby.
READ_ONLY = "25006"
# Seconds after which callers may try again.
RETRY_AFTER_SECONDS = 2


def is_unavailable(error: BaseException | None) -> bool:
    """Returns True if the database was unavailable, busy for too long, or read-only, or the file storage unavailable. A
    later attempt may succeed."""
    if isinstance(error, InternalError):
        return getattr(error.__cause__, "sqlstate", None) == READ_ONLY
    return isinstance(error, OperationalError | InterfaceError | StorageUnavailable)
