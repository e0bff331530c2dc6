"""`/livez` and `/readyz`, for supervisors and load balancers: on any host, before anything else, and in no log."""

import os
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse

from storefront.kit.middleware import Middleware

LIVE, READY = "/livez", "/readyz"
OK, AWAY, PENDING, READ_ONLY = "ok", "away", "pending", "read-only"


class Health(Middleware):
    """The outermost middleware."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info not in (LIVE, READY):
            return self.get_response(request)
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(["GET", "HEAD"])
        found = readiness() if request.path_info == READY else {"process": OK}
        is_well = all(word == OK for word in found.values())
        return JsonResponse(found, status=200 if is_well else 503, headers={"Cache-Control": "no-store"})


def readiness() -> dict[str, str]:
    """Whether this process can serve: `ok`, or what is wrong, for the database, its migrations and the storage."""
    found = {"database": OK, "migrations": OK, "storage": OK if _is_storage_writable() else READ_ONLY}
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
