"""`/livez` and `/readyz`, for supervisors and load balancers: on any host, and before anything else.

Probes are not logged. What is wrong is, once, and that all is well again.
"""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse

from storefront.kit.middleware import Middleware
from storefront.server import disk

log = structlog.get_logger(__name__)

LIVE, READY = "/livez", "/readyz"
OK, AWAY, PENDING, READ_ONLY = "ok", "away", "pending", "read-only"
# A process with these states alone can serve.
DEGRADED = {OK, disk.LOW, disk.UNKNOWN}


class Health(Middleware):
    """The outermost middleware."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        super().__init__(get_response)
        # The state that was logged last.
        self.logged: dict[str, str] = {}

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info not in (LIVE, READY):
            return self.get_response(request)
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(["GET", "HEAD"])
        if request.path_info == LIVE:
            return _answer({"process": OK}, can_serve=True)
        found = readiness()
        can_serve = DEGRADED.issuperset(found.values())
        self._log_change(found, can_serve=can_serve)
        return _answer(found, can_serve=can_serve)

    def _log_change(self, found: dict[str, str], *, can_serve: bool) -> None:
        """Log a state that differs from the last one. The first good one is no news."""
        before, self.logged = self.logged, found
        if before != found and set(found.values()) != {OK}:
            log.warning("degraded" if can_serve else "not_ready", **found)
        elif before and before != found:
            log.info("ready_again")


def _answer(found: dict[str, str], *, can_serve: bool) -> HttpResponse:
    response = JsonResponse(found, status=200 if can_serve else 503, headers={"Cache-Control": "no-store"})
    # Otherwise Django would log each 503 as an error.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def readiness() -> dict[str, str]:
    """Whether this process can serve: `ok`, or what is wrong, for the database, its migrations, the storage and
    the disk. A disk that is `low` still serves."""
    found = {
        "database": OK,
        "migrations": OK,
        "storage": OK if _is_storage_writable() else READ_ONLY,
        "disk": disk.state(),
    }
    try:
        applied = MigrationRecorder(connection).applied_migrations()
    except (DatabaseError, InterfaceError):
        return found | {"database": AWAY, "migrations": AWAY}
    # A database that is ahead is fine: during an update, some processes are still the older ones.
    return found | ({} if _known_migrations() <= set(applied) else {"migrations": PENDING})


@cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    loader = MigrationLoader(None)
    return frozenset(loader.disk_migrations or ())


def _is_storage_writable() -> bool:
    folders = [Path(settings.DATA_DIR), Path(settings.MEDIA_ROOT)]
    # Missing folders are created with the first file.
    return all(os.access(folder, os.W_OK | os.X_OK) for folder in folders if folder.exists())
