"""Undoes an import: takes back what its journal lists (`journal.py`), a product completely or not at all.

What must never happen: a value that somebody changed since is overwritten; a product that was sold disappears; another
shop's row is touched; a product is undone twice. So each row of the journal is looked at under the shop's lock, in
batches of one transaction each, and gets its outcome in the same transaction. An undoing that is interrupted goes on
where it ended, and of two at once each product is done by one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from storefront import audit
from storefront.kit import clock
from storefront.kit.refusals import Refusal
from storefront.pods.moves import NOT_MOVING
from storefront.product_files.models import ImportedChange, ProductImport
from storefront.product_files.undo_batches import OF_LINKS, OF_PRODUCTS, undo_batches
from storefront.shops.models import Shop

# How long an import can be undone. Its journal is kept a day longer, so that an undoing that has begun can end.
UNDOABLE = timedelta(days=7)
KEPT_JOURNAL = timedelta(days=8)
MAX_REASONS = 200
State, Outcome = ProductImport.State, ImportedChange.Outcome


class NotUndoable(Refusal):
    """The import cannot be undone: it is not finished, was undone already, or is too old."""

    code = "import_not_undoable"


@dataclass
class UndoReport:
    """How many products, categories and brands are put back or removed, how many stay as they are, and the first
    reasons, such as `Mug: its price changed since`."""

    undone: int = 0
    left: int = 0
    reasons: list[str] = field(default_factory=list)

    def add(self, reason: str) -> None:
        """Count one product, category or brand; `reason` is why it stays as it is, empty if it does not."""
        self.undone += not reason
        self.left += bool(reason)
        if reason and len(self.reasons) < MAX_REASONS:
            self.reasons.append(reason)

    def counts(self) -> dict[str, int]:
        return {"undone": self.undone, "left": self.left}


def refusal_to_undo(row: ProductImport, now: datetime) -> str:
    """Return the reason why this import cannot be undone at all; empty if it can."""
    if row.state == State.UNDONE:
        return _("This import was undone already.")
    if row.state not in (State.DONE, State.FAILED, State.UNDOING):
        return _("This import has not ended, so there is nothing to undo yet.")
    if row.dry_run or not row.journal.exists():
        return _("This import changed nothing, or its changes are not kept any more.")
    if row.finished_at and row.finished_at < now - UNDOABLE and row.state != State.UNDOING:
        return _("Imports can be undone for {days} days.").format(days=UNDOABLE.days)
    return ""


def undo_import(
    *, shop: Shop, row: ProductImport, now: datetime, progress: Callable[[int], None] | None = None
) -> UndoReport:
    """Undo the import `row` of the shop. `progress` gets the number of rows of the journal that were looked at.

    Raises NotUndoable. After an interruption, calling it again continues.
    """
    if reason := refusal_to_undo(row, now):
        raise NotUndoable(reason)
    ProductImport.objects.filter(shop=shop, pk=row.pk, state__in=[State.DONE, State.FAILED]).update(state=State.UNDOING)
    for looked_at, _batch in undo_batches(shop, row, now):
        ProductImport.objects.filter(pk=row.pk).update(heartbeat_at=clock.now())
        if progress:
            progress(looked_at)
    return _finish(shop, row, now)


def preview(*, shop: Shop, row: ProductImport, now: datetime, limit: int | None = None) -> UndoReport:
    """Return what undoing the import would do now. With `limit`, looks only at so many rows of the journal."""
    report = UndoReport()
    for looked_at, verdicts in undo_batches(shop, row, now, write=False):
        for reason in verdicts.values():
            report.add(reason)
        if limit is not None and looked_at >= limit:
            break
    return report


def delete_old_journals(*, now: datetime, limit: int) -> int:
    """Delete journals of imports that cannot be undone any more; returns how many rows were deleted."""
    old = ImportedChange.objects.filter(NOT_MOVING, product_import__finished_at__lt=now - KEPT_JOURNAL)
    ids = list(old.order_by("product_import", "pk").values_list("pk", flat=True)[:limit])
    return ImportedChange.objects.filter(pk__in=ids).delete()[0]


@transaction.atomic
def _finish(shop: Shop, row: ProductImport, now: datetime) -> UndoReport:
    """Store the result and write the audit entry, once; of two processes at once, the second finds it done."""
    rows = ProductImport.objects.filter(shop=shop, pk=row.pk)
    report = _stored_report(shop, row)
    result = {**report.counts(), "reasons": report.reasons}
    if rows.filter(state=State.UNDOING).update(state=State.UNDONE, undo_result=result):
        about = audit.Object("import", row.pk, row.file_name)
        audit.record(shop=shop, action="import.undone", object=about, after=report.counts(), now=now)
    return report


def _stored_report(shop: Shop, row: ProductImport) -> UndoReport:
    """Return the result as the journal has it, each product counted once."""
    done = ImportedChange.objects.filter(shop=shop, product_import=row.pk).exclude(kind__in=OF_LINKS)
    of_products = done.filter(kind__in=[*OF_PRODUCTS, ImportedChange.Kind.CREATED])
    others = done.exclude(kind__in=[*OF_PRODUCTS, ImportedChange.Kind.CREATED])
    undone, left = (
        of_products.filter(outcome=each).values("object_id").distinct().count() + others.filter(outcome=each).count()
        for each in (Outcome.UNDONE, Outcome.LEFT)
    )
    reasons = done.filter(outcome=Outcome.LEFT).order_by("pk").values_list("reason", flat=True)[: 2 * MAX_REASONS]
    return UndoReport(undone, left, list(dict.fromkeys(reasons))[:MAX_REASONS])
