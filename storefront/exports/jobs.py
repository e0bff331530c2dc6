"""The worker's task that writes an export, and its sweeps."""

import gzip
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import IO

import structlog
from django.core.files import File
from django.db import transaction
from django_tasks import task

from storefront.exports.kinds import source_of
from storefront.exports.models import Export
from storefront.kit import clock
from storefront.kit.queues import FILES
from storefront.kit.replicas import reading
from storefront.kit.storage import StorageUnavailable
from storefront.pods.moves import NOT_MOVING
from storefront.sync import log as changes
from storefront.sync.feed import Source, first_cursor

log = structlog.get_logger(__name__)

# Rows that are read at once, and are all that is in memory.
BATCH_ROWS = 500
# After this time without a heartbeat, an export's worker is considered dead.
SILENCE = timedelta(minutes=10)
HEARTBEAT_EVERY = timedelta(seconds=1)
# How long an export and its file are kept after it has ended (R-SYNC-20).
KEPT = timedelta(days=1)

BROKE = "The export stopped because of an internal error. Please try again later."
NO_STORAGE = "The file storage did not answer. Please start the export again later."
WENT_AWAY = "The export was interrupted. Please start it again."


@task(queue_name=FILES)
def run_export(shop_id: int, export_id: int) -> None:
    """Write the export's file (R-SYNC-18). After an interruption it runs again from the start."""
    export = Export.objects.select_related("shop").filter(shop=shop_id, pk=export_id, finished_at=None).first()
    if export is None:
        return
    try:
        _write_export(export)
    except StorageUnavailable as error:
        log.error("storage_away", export=export.pk, reason=str(error))
        _end(export, state=Export.State.FAILED, reason=NO_STORAGE)
    except Exception:
        log.exception("export_failed", export=export.pk)
        _end(export, state=Export.State.FAILED, reason=BROKE)


def export_stopped(shop_id: int, export_id: int, *, reason: str) -> None:
    """Fail an export whose process was stopped. `reason` is the end of a sentence."""
    export = Export.objects.get(shop=shop_id, pk=export_id)
    _end(export, state=Export.State.FAILED, reason=f"The export was stopped, because {reason}.")


def _write_export(export: Export) -> None:
    now = clock.now()
    source = source_of(export)
    # Taken before the first read, so that `next` continues with everything that is written from now on.
    following = replace(first_cursor(changes.horizon(export.shop), now), scanned=-1).encode(export.shop, source.name)
    # Taken after it, so that the file has what `next` leaves out.
    position = reading.current_position()
    with tempfile.TemporaryFile() as written:
        rows = _write_lines(export, source, written, now, position)
        size = written.tell()
        written.seek(0)
        storage, name = export.file.storage, f"exports/{export.public_id}.jsonl.gz"
        # An earlier run may have been killed after it stored the file.
        storage.delete(name)
        name = storage.save(name, File(written))
    _end(export, state=Export.State.DONE, file=name, rows=rows, size=size, next=following)


def _write_lines(export: Export, source: Source, out: IO[bytes], now: datetime, position: int) -> int:
    """Write a line for each record, compressed; returns how many. Replicas that have replayed the position help."""
    rows, beaten_at = 0, None
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=3, mtime=0) as lines:
        for texts in _batches(source, now, position):
            lines.write("".join(f"{text}\n" for text in texts).encode())
            rows += len(texts)
            if beaten_at is None or clock.now() - beaten_at >= HEARTBEAT_EVERY:
                beaten_at = clock.now()
                unfinished = Export.objects.filter(pk=export.pk, finished_at=None)
                unfinished.update(state=Export.State.RUNNING, heartbeat_at=beaten_at, rows=rows)
    return rows


def _batches(source: Source, now: datetime, position: int) -> Iterator[list[str]]:
    """Yields the records of the whole list as JSON, in batches."""
    after, count = 0, BATCH_ROWS
    while count == BATCH_ROWS:
        batch, _ = reading.read(partial(source.scan, after, BATCH_ROWS, now), lambda: position)
        count = len(batch)
        yield [text for _, texts in batch for text in texts]
        after = batch[-1][0] if batch else 0


def _end(export: Export, **columns: object) -> None:
    Export.objects.filter(pk=export.pk, finished_at=None).update(finished_at=clock.now(), **columns)


def give_up_silent_exports(*, now: datetime, limit: int) -> int:
    """Mark exports as failed whose worker was killed for good; returns how many."""
    silent = Export.objects.filter(NOT_MOVING, state=Export.State.RUNNING, heartbeat_at__lt=now - SILENCE)
    ids = list(silent.values_list("pk", flat=True)[:limit])
    return Export.objects.filter(pk__in=ids, finished_at=None).update(
        state=Export.State.FAILED, reason=WENT_AWAY, finished_at=now
    )


def delete_old_exports(*, now: datetime, limit: int) -> int:
    """Delete exports that ended long ago, with their files; returns how many."""
    old = list(Export.objects.filter(NOT_MOVING, finished_at__lt=now - KEPT).order_by("finished_at")[:limit])
    for export in old:
        with transaction.atomic():
            export.delete()
            if name := export.file.name:
                transaction.on_commit(partial(export.file.storage.delete, name), robust=True)
    return len(old)
