"""What must stand before the server or the worker starts: a migrated database and the collected static files."""

import hashlib
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from storefront.server.command import Failed


def waiting_migrations() -> int:
    """How many migrations the database still needs. Raises what the database raises where it cannot be reached."""
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def require_migrated_database() -> None:
    """Raises Failed where migrations are waiting."""
    if waiting := waiting_migrations():
        raise Failed(f"The database is not up to date ({waiting} migrations wait); run storefront migrate first.")


def collect_static_files() -> bool:
    """Gather, compress and hash the static files, unless that was done for exactly these. Whether it was needed."""
    stamp = Path(settings.STATIC_ROOT) / ".collected"
    sources = fingerprint_of_sources()
    if stamp.is_file() and stamp.read_text() == sources:
        return False
    call_command("collectstatic", interactive=False, verbosity=0)
    stamp.write_text(sources)
    return True


def fingerprint_of_sources() -> str:
    """Changes when a static file is added, removed or written."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            stat = Path(storage.path(path)).stat()
            digest.update(f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()
