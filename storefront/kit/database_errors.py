"""Which errors mean that the database or the file storage is away, rather than that our code has a defect."""

from django.db import InterfaceError, InternalError, OperationalError

from storefront.kit.storage import StorageUnavailable

# PostgreSQL's code for a write where only reads are allowed, as on a standby.
READ_ONLY = "25006"
# Seconds after which callers may try again.
RETRY_AFTER_SECONDS = 2


def is_unavailable(error: BaseException | None) -> bool:
    """Whether the database was away, busy for too long, or read-only, or the file storage away. A later attempt may
    succeed."""
    if isinstance(error, InternalError):
        return getattr(error.__cause__, "sqlstate", None) == READ_ONLY
    return isinstance(error, OperationalError | InterfaceError | StorageUnavailable)
