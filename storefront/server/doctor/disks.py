import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core.files.storage import FileSystemStorage, storages
from django.db import connection

from storefront.kit.dialect import dialect
from storefront.server.doctor.findings import Finding, State

CHECK = "disk"
GIB = 1024**3
# The free part of a disk below which it is soon full, unless that is ENOUGH_BYTES or more.
MIN_SHARE, ENOUGH_BYTES = 0.1, 20 * GIB


def look() -> Iterator[Finding]:
    """The free space of each disk that the service writes to, and whether this user may write there."""
    seen = set()
    for path in places():
        if not path.exists():
            continue
        if not os.access(path, os.W_OK):
            advice = "Give it to the service's user, and run this command as that user."
            yield Finding(CHECK, State.MISSING, f"{path} cannot be written by this user.", advice)
        if (device := path.stat().st_dev) not in seen:
            seen.add(device)
            usage = shutil.disk_usage(path)
            yield finding_of(path, free=usage.free, total=usage.total)


def places() -> list[Path]:
    """The folders of data, pictures and private files, the SQLite database, backups, and uploads on their way."""
    found = [Path(settings.DATA_DIR), *(path.parent for path in dialect.database_files(connection))]
    for name in ("default", "private"):
        storage = storages[name]
        if isinstance(storage, FileSystemStorage):
            found.append(Path(storage.location))
    if settings.BACKUP_MARKER:
        found.append(Path(settings.BACKUP_MARKER).parent)
    return [*found, Path(tempfile.gettempdir())]


def finding_of(path: Path, *, free: int, total: int) -> Finding:
    text = f"{free / GIB:.1f} of {total / GIB:.1f} GiB are free at {path}."
    if free < settings.DISK_LOW_BYTES:
        return Finding(CHECK, State.MISSING, text, "Make room now: orders are about to fail.")
    if free < MIN_SHARE * total and free < ENOUGH_BYTES:
        return Finding(CHECK, State.WARNING, text, "Make room, or get a larger disk.")
    return Finding(CHECK, State.OK, text)
