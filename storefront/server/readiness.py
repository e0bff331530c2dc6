"""Prepares the start of the server and the worker: checks the database, collects static files, closes permissions."""

import fcntl
import hashlib
import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.checks import Tags, run_checks
from django.core.files.storage import storages
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from storefront.kit.dialect import dialect
from storefront.kit.storage import StorageUnavailable
from storefront.pods.own import WrongPod, require_own_pod
from storefront.server.command import Failed

log = structlog.get_logger(__name__)

# Collecting takes seconds. Longer than that, whoever has the lock does not do it.
MAX_COLLECTING_SECONDS = 120.0


def count_pending_migrations() -> int:
    """The number of migrations that were not applied yet. Raises DatabaseError if the database cannot be reached."""
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def require_migrated_database() -> None:
    """Raises Failed if migrations are pending, if it is another pod's, or if a system check of the database fails."""
    if pending := count_pending_migrations():
        raise Failed(f"The database is not up to date ({pending} migrations wait); run storefront migrate first.")
    try:
        require_own_pod(connection)
    except WrongPod as error:
        raise Failed(str(error)) from None
    for problem in run_checks(tags=[Tags.database], databases=[connection.alias]):
        raise Failed(f"{problem.msg} {problem.hint or ''}".strip())


def require_buckets() -> None:
    """If files are stored in buckets: raises Failed if a bucket does not exist or may not be used. A bucket that does
    not answer is only logged, since the shops work without their files."""
    for name in ("default", "private"):
        if require_bucket := getattr(storages[name], "require_bucket", None):
            try:
                require_bucket()
            except StorageUnavailable as error:
                log.warning("storage_away", reason=str(error))
            except ValueError as error:
                raise Failed(str(error)) from None


def restrict_data_permissions() -> None:
    """Remove other users' access to the data directory and the SQLite database, which an earlier release or the creator
    of the directory may have allowed."""
    for path in (settings.DATA_DIR, *dialect.database_files(connection)):
        try:
            mode = path.stat().st_mode
            if mode & 0o077:
                path.chmod(mode & 0o700)
                log.warning("closed_to_others", path=str(path), was=f"{mode & 0o777:o}")
        except FileNotFoundError:
            continue
        except OSError as error:
            log.warning("open_to_others", path=str(path), error=error.strerror)


def raise_descriptor_limit() -> None:
    """Let this process and its children have as many files and connections open as is allowed."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def collect_static_files() -> bool:
    """Collect, compress and hash the static files unless they are unchanged. Returns False if it was not necessary.

    Web servers that start at once may share the folder: one collects, and the others wait for it. Raises Failed if that
    takes longer than MAX_COLLECTING_SECONDS.
    """
    root = Path(settings.STATIC_ROOT)
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(root):
        stamp, sources = root / ".collected", fingerprint_of_sources()
        if stamp.is_file() and stamp.read_text() == sources:
            return False
        call_command("collectstatic", interactive=False, verbosity=0)
        stamp.write_text(sources)
        return True


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from the folder until the end of the block. The system unlocks it when a process dies."""
    deadline = time.monotonic() + MAX_COLLECTING_SECONDS
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Failed(f"Another process has {folder} locked for {MAX_COLLECTING_SECONDS:g} s.") from None
            time.sleep(0.1)
        yield
    finally:
        os.close(descriptor)


def fingerprint_of_sources() -> str:
    """A digest that changes when a static file is added, removed or written."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            stat = Path(storage.path(path)).stat()
            digest.update(f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()
