"""Tasks and sweeps of the worker: imports of uploaded product files, and the cache of cleaned texts."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import structlog
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django_tasks import task

from storefront import audit
from storefront.catalogue.models import CleanedText
from storefront.kit import clock
from storefront.kit.format import format_count
from storefront.kit.queues import FILES
from storefront.kit.refusals import Refusal
from storefront.kit.storage import StorageUnavailable
from storefront.pictures.requesting import PictureRequests
from storefront.pods.moves import NOT_MOVING
from storefront.product_files.gate import Gate, ImpactRefused
from storefront.product_files.impact import Impact
from storefront.product_files.importing import import_products
from storefront.product_files.mapped.kept import keep_mapping, kept_mapping
from storefront.product_files.mapped.mapping import Mapping
from storefront.product_files.mapped.samples import sample_of
from storefront.product_files.models import ProductImport
from storefront.product_files.opening import UnknownTable
from storefront.product_files.reports import Report
from storefront.shops.staff_language import speaking_to

log = structlog.get_logger(__name__)

# After this time without a heartbeat, an import's worker is considered dead.
SILENCE = timedelta(minutes=10)
HEARTBEAT_EVERY = timedelta(seconds=1)
# How long a cleaned text is cached; afterwards its next view creates it again.
KEPT_TEXTS = timedelta(days=30)
# How long a file waits for a mapping of its columns.
KEPT_UNMAPPED = timedelta(days=7)
# Limits of the stored report; its counts include everything.
MAX_PROBLEMS = 1000
MAX_CHANGES = 200

BROKE = _lazy(
    "The import stopped because of an internal error. Products imported so far are kept. Please try again later."
)
GONE = _lazy(
    "The uploaded file is no longer in the shop's file storage. Please upload it again. If that does not help, tell "
    "the service's operator: web processes and workers must use the same file storage."
)
UNREADABLE = _lazy("The uploaded file cannot be read at the moment. Please upload it again later.")
NOT_MAPPED = _lazy("Its columns were not mapped within seven days, so the file was deleted. Nothing was imported.")
ASKED_AGAIN = _lazy(
    "The shop or its products changed since this import was confirmed. Nothing was imported. Please look again."
)
WENT_AWAY = _lazy("The import was interrupted. Products imported so far are kept. Upload the file again to continue.")


class UploadUnreadable(Refusal):
    code = "upload_unreadable"


@task(queue_name=FILES)
def run_product_import(shop_id: int, import_id: int, uploaded_from: str = "") -> None:
    """Import an uploaded file on behalf of its uploader, who gets the report in the language of their admin. After an
    interruption, it can run again from the start: products that were imported already exist."""
    row = ProductImport.objects.select_related("shop", "user").filter(shop=shop_id, pk=import_id).first()
    if row is None or row.state not in (ProductImport.State.WAITING, ProductImport.State.RUNNING) or not row.file:
        return
    with speaking_to(row.user, row.shop):
        _import_upload(row, uploaded_from)


def _import_upload(row: ProductImport, uploaded_from: str) -> None:
    try:
        with audit.acting(_uploader(row), place=uploaded_from), local_file(row) as path:
            _run(row, path)
    except ImpactRefused as refusal:
        _ask(row, refusal.impact, reason=ASKED_AGAIN)
    except Refusal as refusal:
        end_import(row, state=ProductImport.State.FAILED, reason=_sentence(refusal))
    except MemoryError:
        log.error("product_import_too_large", product_import=row.pk)
        import_stopped(row.shop_id, row.pk, reason=_("it needed too much memory"))
    except Exception:
        log.exception("product_import_failed", product_import=row.pk)
        end_import(row, state=ProductImport.State.FAILED, reason=BROKE)


def _run(row: ProductImport, path: Path) -> None:
    """Import the file, or only compare it: a dry run, and an update that nobody has confirmed yet. Without a mapping
    that it needs, it waits for one."""
    is_undecided = row.update and not row.dry_run and row.accepted is None
    found = _report_or_sample(row, path, dry_run=row.dry_run or is_undecided)
    if isinstance(found, Report) and is_undecided and not found.updated:
        found = _report_or_sample(row, path, dry_run=False)
        is_undecided = False
    if not isinstance(found, Report):
        _await_mapping(row, *found)
    elif is_undecided:
        _ask(row, found.impact, **result_columns(found))
    else:
        end_import(row, state=ProductImport.State.DONE, **result_columns(found))


def _ask(row: ProductImport, impact: Impact, **columns: Any) -> None:
    """Let the import wait for a decision, with what it would change. The file is kept."""
    trips = [{"rule": each.rule, "sentence": each.sentence} for each in Gate().trips(row.shop, impact)]
    found = {**impact.as_dict(), "trips": trips}
    known = {"impact": found, "created": impact.created, "updated": impact.updated, **columns}
    known |= {"state": ProductImport.State.ASKING, "accepted": None, "percent": 100, "heartbeat_at": clock.now()}
    ProductImport.objects.filter(pk=row.pk, finished_at=None).update(**known)


def _await_mapping(row: ProductImport, sample: dict[str, Any], reason: str) -> None:
    columns = {"state": ProductImport.State.UNMAPPED, "sample": sample, "reason": reason, "heartbeat_at": clock.now()}
    ProductImport.objects.filter(pk=row.pk, finished_at=None).update(**columns)


def _report_or_sample(row: ProductImport, path: Path, *, dry_run: bool) -> Report | tuple[dict[str, Any], str]:
    """The import's report. A table of no known format is read by the mapping that the shop keeps for its header row; if
    it keeps none, nothing is imported, and a sample of the table is returned for the mapping's page, with a sentence
    about its program if that is known."""
    try:
        return _import(row, path, Mapping(**row.mapping) if row.mapping else None, dry_run=dry_run)
    except UnknownTable as unknown:
        if kept := kept_mapping(row.shop, unknown.table.headers):
            ProductImport.objects.filter(pk=row.pk).update(mapping=kept.as_json())
            return _import(row, path, kept, dry_run=dry_run)
        if sample := sample_of(unknown.table):
            return sample, unknown.program
        raise


def _import(row: ProductImport, path: Path, mapping: Mapping | None, *, dry_run: bool) -> Report:
    now = clock.now()
    heartbeat = Heartbeat(row, counts=not dry_run)
    heartbeat.record(0)
    return import_products(
        shop=row.shop,
        file=path,
        format=row.format,
        mapping=mapping,
        source=row.source,
        encoding=row.encoding,
        update=row.update,
        dry_run=dry_run,
        pictures=PictureRequests(row.shop, now, row.pk) if row.fetch_pictures else None,
        now=now,
        progress=heartbeat,
        audit_object=audit.Object("import", row.pk, row.file_name),
        product_import=row,
        gate=Gate(row.accepted or ()),
    )


def import_by_mapping(*, row: ProductImport, mapping: Mapping, uploaded_from: str, now: datetime) -> bool:
    """Keep the mapping for the shop's next file with the same header row, and import the waiting file by it. Returns
    False if it does not wait any more."""
    assert row.sample is not None
    with transaction.atomic():
        waiting = ProductImport.objects.filter(shop=row.shop, pk=row.pk, state=ProductImport.State.UNMAPPED)
        if not waiting.update(state=ProductImport.State.WAITING, mapping=mapping.as_json(), sample=None, reason=""):
            return False
        keep_mapping(row.shop, row.sample["headers"], mapping, now=now)
        run_product_import.enqueue(row.shop.pk, row.pk, uploaded_from)
    return True


def give_up_unmapped_imports(*, now: datetime, limit: int) -> int:
    """Fail imports that have waited too long for a mapping, and delete their files; returns how many."""
    old = ProductImport.objects.filter(
        NOT_MOVING, state=ProductImport.State.UNMAPPED, heartbeat_at__lt=now - KEPT_UNMAPPED
    )
    rows = list(old.select_related("shop").order_by("id")[:limit])
    for row in rows:
        end_import(row, state=ProductImport.State.FAILED, sample=None, reason=NOT_MAPPED)
    return len(rows)


def import_stopped(shop_id: int, import_id: int, uploaded_from: str = "", *, reason: str) -> None:
    """Fail an import whose process was stopped, and say what is imported. `reason` is the end of a sentence."""
    row = ProductImport.objects.select_related("shop", "user").get(shop=shop_id, pk=import_id)
    text = _(
        "The import was stopped, because %(reason)s. Until then, %(created)s products are new and %(updated)s changed, "
        "which are kept. Split the file."
    ) % {"reason": reason, "created": format_count(row.created), "updated": format_count(row.updated)}
    with transaction.atomic(), audit.acting(_uploader(row), place=uploaded_from):
        end_import(row, state=ProductImport.State.FAILED, reason=text)
        after = {"created": row.created, "updated": row.updated}
        audit_object = audit.Object("import", row.pk, row.file_name)
        audit.record(shop=row.shop, action="import.interrupted", object=audit_object, after=after, now=clock.now())


def give_up_silent_imports(*, now: datetime, limit: int) -> int:
    """Mark imports as failed whose worker was killed; returns how many."""
    silent = ProductImport.objects.filter(NOT_MOVING, state=ProductImport.State.RUNNING, heartbeat_at__lt=now - SILENCE)
    rows = list(silent.select_related("shop", "user").order_by("id")[:limit])
    for row in rows:
        with transaction.atomic(), audit.acting(_uploader(row)):
            end_import(row, state=ProductImport.State.FAILED, reason=WENT_AWAY)
            audit_object = audit.Object("import", row.pk, row.file_name)
            audit.record(shop=row.shop, action="import.interrupted", object=audit_object, now=now)
    return len(rows)


def _uploader(row: ProductImport) -> audit.Actor:
    return audit.staff(row.user) if row.user else audit.SYSTEM


class Heartbeat:
    """Records an import's progress, at most once a second. The importer calls it after each batch."""

    def __init__(self, row: ProductImport, *, counts: bool = True) -> None:
        """Without `counts`, only the progress is recorded: what a comparison counts is not done."""
        self.row, self.counts = row, counts
        self.recorded_at: datetime | None = None

    def __call__(self, read: int, size: int, report: Report) -> None:
        """Takes the bytes read so far, the file's size in bytes, and what was done so far."""
        if self.recorded_at is None or clock.now() - self.recorded_at >= HEARTBEAT_EVERY:
            self.record(read * 100 // size if size else 100, **report.counts() if self.counts else {})

    def record(self, percent: int, **counts: int) -> None:
        self.recorded_at = clock.now()
        unfinished = ProductImport.objects.filter(pk=self.row.pk, finished_at=None)
        known = {"heartbeat_at": self.recorded_at, "percent": min(percent, 100), **counts}
        unfinished.update(state=ProductImport.State.RUNNING, **known)


@contextmanager
def local_file(row: ProductImport) -> Iterator[Path]:
    """A local copy of the upload, whichever storage it is in. Deleted at the end of the `with` block.

    Raises UploadUnreadable.
    """
    with tempfile.NamedTemporaryFile(suffix=Path(row.file_name).suffix) as copy:
        try:
            with row.file.open("rb") as upload:
                shutil.copyfileobj(upload, copy)
        except (FileNotFoundError, PermissionError, StorageUnavailable) as error:
            log.error("upload_unreadable", product_import=row.pk, file=row.file.name, reason=str(error))
            raise UploadUnreadable(GONE if isinstance(error, FileNotFoundError) else UNREADABLE) from error
        copy.flush()
        yield Path(copy.name)


def result_columns(report: Report) -> dict[str, Any]:
    """The columns of a finished import."""
    return {
        **report.counts(),
        "percent": 100,
        "problems": [
            asdict(problem) for problem in (*report.problems[:MAX_PROBLEMS], *report.unchanged[:MAX_PROBLEMS])
        ],
        "changes": [_stored_change(change) for change in report.changes[:MAX_CHANGES]],
    }


def _stored_change(change: dict[str, Any]) -> dict[str, Any]:
    """A change as it is stored in the report: a new product by name, an updated one by slug and the changed fields."""
    name = change.get("name") or change.get("slug") or ""
    fields = sorted(change.get("fields") or ())
    return {"line": change["line"], "change": change["change"], "name": name, "fields": fields}


def end_import(row: ProductImport, **columns: Any) -> None:
    """Save the result, and delete the file after the commit."""
    with transaction.atomic(), speaking_to(row.user, row.shop):
        row.refresh_from_db(fields=["file"])
        name, storage = row.file.name, row.file.storage
        ProductImport.objects.filter(pk=row.pk).update(finished_at=clock.now(), file="", **columns)
        if name:
            # A failure to delete is only logged.
            transaction.on_commit(lambda: storage.delete(name), robust=True)


def _sentence(refusal: Refusal) -> str:
    details = [text for texts in (refusal.errors or {}).values() for text in texts]
    return " ".join(details) or refusal.text


def delete_old_cleaned_texts(*, now: datetime, limit: int) -> int:
    """Delete cleaned descriptions that were cached too long ago; returns how many rows were deleted."""
    old = CleanedText.objects.filter(made_at__lt=now - KEPT_TEXTS).order_by("made_at").values_list("pk", flat=True)
    return CleanedText.objects.filter(pk__in=list(old[:limit])).delete()[0]
