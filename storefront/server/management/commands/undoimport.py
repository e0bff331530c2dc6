import sys
from argparse import ArgumentParser
from typing import Any

from storefront.kit import clock
from storefront.kit.clock import timestamp
from storefront.kit.refusals import InvalidFields
from storefront.product_files.models import ProductImport
from storefront.product_files.undoing import NotUndoable, preview, refusal_to_undo, undo_import
from storefront.server.command import Command as Base
from storefront.server.command import add_shop_argument, find_shop
from storefront.server.progress import progress_bar
from storefront.shops.models import Shop

NOT_COMPLETE = 1
MAX_LISTED = 50


class Command(Base):
    help = "Undo an import of products, for 7 days: what changed since stays. Prints the counts as a JSON object."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_shop_argument(parser)
        parser.add_argument(
            "--import", type=int, dest="number", metavar="ID", help="the import (default: the shop's last one)"
        )
        parser.add_argument("--dry-run", action="store_true", help="change nothing; print what would be undone")
        parser.add_argument("--list", action="store_true", help="print the last imports as JSON lines instead")

    def handle(self, *, shop, number, dry_run, list, **_options) -> None:
        found, now = find_shop(shop), clock.now()
        if list:
            for row in _imports(found)[:MAX_LISTED]:
                self.write_result(_record(row, refusal_to_undo(row, now)))
            return
        row = _import_of(found, number)
        if reason := refusal_to_undo(row, now):
            raise NotUndoable(f"{row} (import {row.pk}): {reason}")
        if dry_run:
            result = preview(shop=found, row=row, now=now)
        else:
            total = row.journal.values("object_id").distinct().count()
            with progress_bar() as progress:
                task = progress.add_task(str(row), total=total)
                result = undo_import(
                    shop=found, row=row, now=now, progress=lambda done: progress.update(task, completed=done)
                )
        for reason in result.reasons:
            self.write_message(f"left: {reason}")
        self.write_result(result.counts())
        if result.left:
            sys.exit(NOT_COMPLETE)


def _imports(shop: Shop) -> Any:
    return ProductImport.objects.filter(shop=shop, dry_run=False).order_by("-pk")


def _import_of(shop: Shop, number: int | None) -> ProductImport:
    """The import of this number, or the last one, also if it was undone: repeating the command must not undo the one
    before. Raises InvalidFields."""
    rows = _imports(shop) if number is None else _imports(shop).filter(pk=number)
    row: ProductImport | None = rows.first()
    if row is None:
        what = "no imports" if number is None else f"no import {number}"
        raise InvalidFields(errors={"import": [f"The shop has {what}. List them with --list."]})
    return row


def _record(row: ProductImport, refusal: str) -> dict[str, Any]:
    return {
        "import": row.pk,
        "file": row.file_name,
        "at": timestamp(row.created_at),
        "state": row.state,
        "created": row.created,
        "updated": row.updated,
        "can_be_undone": not refusal,
    }
