"""How much room is left on the disks that this machine's processes write to."""

import os
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection

from storefront.kit.dialect import dialect

OK, LOW, FULL, UNKNOWN = "ok", "low", "full", "unknown"
# Bytes below which nothing can be written that is worth it: SQLite and uploads need a few pages more than a row.
FULL_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Room:
    """Bytes that are free for this user, and of the whole file system."""

    free: int
    size: int


def rooms() -> dict[str, Room]:
    """The room of the data directory (`data`) and, on another file system, of the SQLite database (`database`)."""
    data = Path(settings.DATA_DIR)
    found = {"data": _room(data)}
    for file in dialect.database_files(connection)[:1]:
        if file.parent.stat().st_dev != data.stat().st_dev:
            found["database"] = _room(file.parent)
    return found


def state() -> str:
    """`ok`; `low` below STOREFRONT_DISK_LOW_BYTES; `full`, if nothing can be written; or `unknown`."""
    try:
        free = min(room.free for room in rooms().values())
    except OSError:
        return UNKNOWN
    if free < FULL_BYTES:
        return FULL
    return LOW if free < settings.DISK_LOW_BYTES else OK


def _room(path: Path) -> Room:
    found = os.statvfs(path)
    return Room(found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize)
