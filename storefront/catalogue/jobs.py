"""What the worker does for the catalogue: product files that merchants upload."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import structlog
from django.db import transaction
from django_tasks import task

from storefront.catalogue.importing import Report, import_products
from storefront.catalogue.models import ProductImport
from storefront.kit import clock
from storefront.kit.refusals import Refusal

log = structlog.get_logger(__name__)

# A worker that has told nothing of itself for so long is taken for dead.
SILENCE = timedelta(minutes=10)
HEARTBEAT = timedelta(seconds=1)
# A report is for reading; the counts tell how many more there were.
MOST_PROBLEMS = 1000
MOST_CHANGES = 200

BROKE = "Something went wrong here, and the import stopped. What was imported before stays. Please try again later."
WENT_AWAY = "The import was interrupted. What was imported before stays; upload the file again to go on."


@task()
def run_product_import(import_id: int) -> None:
    """Import an uploaded file. Run again after an interruption it begins anew, which changes nothing twice."""
    row = ProductImport.objects.select_related("shop").filter(pk=import_id).first()
    if row is None or row.has_ended or not row.file:
        return
    beat = Heartbeat(row)
    beat.tell(0)
    try:
        with local_file(row) as path:
            report = import_products(
                shop=row.shop,
                file=path,
                format=row.format,
                update=row.update,
                dry_run=row.dry_run,
                now=clock.now(),
                progress=beat,
            )
    except Refusal as refusal:
        _end(row, state=ProductImport.State.FAILED, reason=_sentence(refusal))
    except Exception:
        log.exception("product_import_failed", product_import=row.pk)
        _end(row, state=ProductImport.State.FAILED, reason=BROKE)
    else:
        _end(row, state=ProductImport.State.DONE, **_result(report))


def give_up_silent_imports(*, now: datetime, limit: int) -> int:
    """End imports whose worker was killed, so that none seems to run for ever; how many there were."""
    silent = ProductImport.objects.filter(state=ProductImport.State.RUNNING, heartbeat_at__lt=now - SILENCE)
    rows = list(silent.order_by("id")[:limit])
    for row in rows:
        _end(row, state=ProductImport.State.FAILED, reason=WENT_AWAY)
    return len(rows)


class Heartbeat:
    """Tells how far an import is, at most once a second. Called by the importer after each batch it has written."""

    def __init__(self, row: ProductImport) -> None:
        self.row = row
        self.told_at: datetime | None = None

    def __call__(self, read: int, size: int) -> None:
        """Told in bytes of the file."""
        if self.told_at is None or clock.now() - self.told_at >= HEARTBEAT:
            self.tell(read * 100 // size if size else 100)

    def tell(self, percent: int) -> None:
        self.told_at = clock.now()
        standing = ProductImport.objects.filter(pk=self.row.pk, finished_at=None)
        standing.update(state=ProductImport.State.RUNNING, heartbeat_at=self.told_at, percent=min(percent, 100))


@contextmanager
def local_file(row: ProductImport) -> Iterator[Path]:
    """The upload as a file on this machine, wherever the storage keeps it."""
    with tempfile.NamedTemporaryFile(suffix=Path(row.file_name).suffix) as copy:
        with row.file.open("rb") as upload:
            shutil.copyfileobj(upload, copy)
        copy.flush()
        yield Path(copy.name)


def _result(report: Report) -> dict[str, Any]:
    shown = ("line", "column", "reason", "severity")
    return {
        "created": report.created,
        "updated": report.updated,
        "skipped": report.skipped,
        "failed": report.failed,
        "percent": 100,
        "problems": [{name: getattr(problem, name) for name in shown} for problem in report.problems[:MOST_PROBLEMS]],
        "changes": [_shown(change) for change in report.changes[:MOST_CHANGES]],
    }


def _shown(change: dict[str, Any]) -> dict[str, Any]:
    """A change as the report tells it: a new product by name, a changed one by slug and the fields that differ."""
    name = change.get("name") or change.get("slug") or ""
    fields = sorted(change.get("fields") or ())
    return {"line": change["line"], "change": change["change"], "name": name, "fields": fields}


def _end(row: ProductImport, **columns: Any) -> None:
    """Write how it ended, and let the file go once that is written."""
    with transaction.atomic():
        row.refresh_from_db(fields=["file"])
        name, storage = row.file.name, row.file.storage
        ProductImport.objects.filter(pk=row.pk).update(finished_at=clock.now(), file="", **columns)
        if name:
            transaction.on_commit(lambda: storage.delete(name))


def _sentence(refusal: Refusal) -> str:
    details = [text for texts in (refusal.errors or {}).values() for text in texts]
    return " ".join(details) or refusal.text
