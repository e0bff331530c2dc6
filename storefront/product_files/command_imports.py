"""Imports of the command as rows beside those of the admin, so that they are listed and can be undone."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from django.db import Error

from storefront.kit import clock
from storefront.kit.refusals import Refusal
from storefront.product_files.jobs import WENT_AWAY, Heartbeat, result_columns
from storefront.product_files.models import ProductImport
from storefront.product_files.reports import Report
from storefront.shops.models import Shop


class KeptImport:
    """The row of a running import; a dry run has none."""

    def __init__(self, row: ProductImport | None) -> None:
        self.row = row
        self._heartbeat = Heartbeat(row) if row else None

    @property
    def id(self) -> int | None:
        return self.row.pk if self.row else None

    def record(self, done: int, size: int, report: Report) -> None:
        """Record the progress, so that the worker does not consider the import dead."""
        if self._heartbeat:
            self._heartbeat(done, size, report)

    def finish(self, report: Report) -> None:
        self._end(state=ProductImport.State.DONE, **result_columns(report))

    def fail(self) -> None:
        """Mark the import as failed, as far as the database still answers."""
        with suppress(Error):
            self._end(state=ProductImport.State.FAILED, reason=WENT_AWAY)

    def discard(self) -> None:
        """Delete the row of an import that was refused before it wrote anything."""
        if self.row:
            self.row.delete()

    def _end(self, **columns: object) -> None:
        if self.row:
            running = ProductImport.objects.filter(pk=self.row.pk, finished_at=None)
            running.update(finished_at=clock.now(), **columns)


@contextmanager
def command_import(
    shop: Shop, file: Path, *, now: datetime, update: bool, format: str, source: str, dry_run: bool
) -> Iterator[KeptImport]:
    """Keep a row of the import in the `with` block, which calls `finish`. A refusal leaves no row, another error a
    failed one."""
    row = None
    if not dry_run:
        row = ProductImport.objects.create(
            shop=shop,
            file_name=file.name[-255:],
            format=format,
            source=source[:100],
            update=update,
            state=ProductImport.State.RUNNING,
            created_at=now,
            heartbeat_at=now,
        )
    kept = KeptImport(row)
    try:
        yield kept
    except Refusal:
        kept.discard()
        raise
    except BaseException:
        kept.fail()
        raise
