import csv
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import orjson
from django.core.management import CommandError

from storefront import audit
from storefront.kit import clock
from storefront.kit.files.spreadsheets import escape_formula
from storefront.pictures.requesting import PictureRequests
from storefront.product_files.command_imports import command_import
from storefront.product_files.gate import DEFAULT_PERCENT, RULES, Gate, ImpactRefused
from storefront.product_files.impact import Impact, impact_lines
from storefront.product_files.importing import Report, import_products
from storefront.product_files.mapped.mapping import from_toml
from storefront.product_files.opening import FORMATS
from storefront.product_files.parsed_products import REPORT_COLUMNS, Problem, report_row
from storefront.server.command import Command as Base
from storefront.server.command import Failed, add_shop_argument, find_shop
from storefront.server.progress import progress_bar, write_beside
from storefront.shops.models import Shop

NOT_COMPLETE = 1
# Problems on stderr; a damaged file can have one in every line.
MAX_SHOWN = 1000


class Command(Base):
    help = "Import products from a file into a shop. Prints the counts as a JSON object at the end."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_shop_argument(parser)
        parser.add_argument(
            "file",
            type=Path,
            metavar="FILE",
            help="a product file: native JSON Lines, or CSV or Excel (.xlsx) of a program or of your own",
        )
        parser.add_argument(
            "--format", choices=FORMATS, default="auto", help="file format (default: detected from the file)"
        )
        parser.add_argument(
            "--encoding", default="", metavar="NAME", help="such as windows-1251 (default: detected from the file)"
        )
        parser.add_argument(
            "--sheet", default="", metavar="NAME", help="sheet of a workbook (default: the first one with a header)"
        )
        parser.add_argument(
            "--map",
            type=Path,
            metavar="FILE.toml",
            help="which column is which member of a product, for a table of no known format",
        )
        parser.add_argument(
            "--source",
            default="",
            metavar="NAME",
            help="the WooCommerce shop that the file is from; its IDs count only for products of this source (default: "
            "the last one)",
        )
        parser.add_argument(
            "--report",
            type=Path,
            metavar="FILE.csv",
            help="write each skipped product, conflict, error and warning into this file",
        )
        parser.add_argument("--update", action="store_true", help="update existing products instead of skipping them")
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="save nothing; print each change that would be made as a JSON line",
        )
        parser.add_argument(
            "--no-pictures",
            action="store_true",
            help="leave pictures at their addresses (default: the worker fetches them)",
        )
        _add_gate_arguments(parser)

    def handle(self, **options) -> None:
        try:
            self._import(**options)
        except ImpactRefused as refusal:
            for line in impact_lines(refusal.impact):
                self.write_message(line)
            raise Failed(refusal.text) from None

    def _import(
        self, *, shop, file, format, encoding, sheet, map, source, report, update, dry_run, no_pictures, **options
    ) -> None:
        if map and format != "auto":
            raise CommandError("With --map, the format is that of the mapping; leave out --format.", returncode=2)
        found, now, mapping = find_shop(shop), clock.now(), from_toml(map) if map else None
        gate = Gate(frozenset(options["accept"]), options["max_hidden"], options["max_repriced"])
        with (
            progress_bar() as progress,
            _written_report(report) as write_row,
            command_import(found, file, now=now, update=update, format=format, source=source, dry_run=dry_run) as kept,
        ):
            task = progress.add_task(file.name, total=None)

            shown = _Shown(progress, write_row)

            def on_progress(done: int, total: int, result: Report) -> None:
                progress.update(task, completed=done, total=total)
                kept.record(done, total, result)

            result = import_products(
                shop=found,
                file=file,
                format=format,
                sheet=sheet,
                mapping=mapping,
                source=source,
                encoding=encoding,
                update=update,
                dry_run=dry_run,
                pictures=None if no_pictures else PictureRequests(found, now, kept.id),
                now=now,
                progress=on_progress,
                on_problem=shown,
                on_change=self._write_change if dry_run else None,
                audit_object=audit.Object("import", kept.id, file.name),
                product_import=kept.row,
                gate=gate,
            )
            kept.finish(result)
        if shown.count > MAX_SHOWN:
            where = f"all are in {report}" if report else "--report FILE.csv has all of them"
            self.write_message(f"... and {shown.count - MAX_SHOWN:,} more; {where}")
        if dry_run and update:
            self._write_impact(found, gate, result.impact)
        self.write_result(result.counts())
        if not result.is_complete:
            sys.exit(NOT_COMPLETE)

    def _write_impact(self, shop: Shop, gate: Gate, impact: Impact) -> None:
        """Show people what the file would do, and which rules would stop it."""
        for line in impact_lines(impact):
            self.write_message(line)
        for trip in gate.trips(shop, impact):
            is_accepted = trip.rule in gate.accepted
            self.write_message(trip.sentence + ("" if is_accepted else f" To import it, add --accept {trip.rule}."))

    def _write_change(self, change: dict[str, Any]) -> None:
        self.write_result(orjson.dumps(change, default=str).decode())


class _Shown:
    """Writes each problem into the report, and the first MAX_SHOWN to stderr. `count` is how many would be shown."""

    def __init__(self, progress: Any, write_row: Callable[[Problem], Any]) -> None:
        self.progress, self.write_row, self.count = progress, write_row, 0

    def __call__(self, problem: Problem) -> None:
        self.write_row(problem)
        # Skipped products are expected, and can be as many as the file has.
        if problem.severity != "skipped":
            self.count += 1
            if self.count <= MAX_SHOWN:
                write_beside(self.progress, f"{problem.severity}: {problem}")


def _add_gate_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--accept",
        action="extend",
        nargs="+",
        choices=RULES,
        default=[],
        metavar="RULE",
        help=f"update although this rule stops it: {', '.join(RULES)}",
    )
    for rule, what in (("hidden", "hide"), ("repriced", "reprice by more than half")):
        parser.add_argument(
            f"--max-{rule}",
            type=_percent,
            default=DEFAULT_PERCENT,
            metavar="PERCENT",
            help=f"the share of the shop that an update may {what} (default: %(default)s%%)",
        )


def _percent(text: str) -> Decimal:
    """A share such as `20%`. Raises ArgumentTypeError."""
    try:
        found = Decimal(text.strip().removesuffix("%"))
    except InvalidOperation:
        found = Decimal(-1)
    if not found.is_finite() or not 0 <= found <= 100:
        raise ArgumentTypeError(f"expected a share from 0% to 100%, found {text}")
    return found


@contextmanager
def _written_report(path: Path | None) -> Iterator[Callable[[Problem], Any]]:
    """A function that writes a problem into the report; without a path, it does nothing."""
    if path is None:
        yield lambda problem: None
        return
    try:
        file = path.open("w", encoding="utf-8-sig", newline="")
    except OSError as error:
        raise CommandError(f"The report {path} cannot be written: {error.strerror}.", returncode=2) from None
    with file:
        rows = csv.writer(file)
        rows.writerow(REPORT_COLUMNS)
        yield lambda problem: rows.writerow(map(escape_formula, report_row(problem)))
