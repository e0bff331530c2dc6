"""Imports a product file: detects its format, and creates or updates the shop's products, a batch at a time.

Two simultaneous imports into one shop alternate batch by batch: each batch locks the shop's tree and looks up existing
rows before it writes, so that neither a product nor a category is created twice. (SQLite's writers alternate anyway.)
A batch is one transaction; if the database rejects it, its products are imported one by one.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.kit.bulk_insert import bulk_write_pragmas
from storefront.pictures.requesting import PictureRequests
from storefront.product_files import read_ahead
from storefront.product_files.baselines import Baselines
from storefront.product_files.csv_reading import UnreadableFile
from storefront.product_files.dialect import dialect
from storefront.product_files.gate import Gate
from storefront.product_files.import_run import ImportRun
from storefront.product_files.joining import PendingVariants
from storefront.product_files.journal import Journal
from storefront.product_files.limits import within_limits
from storefront.product_files.mapped.mapping import Mapping
from storefront.product_files.matching import Matcher
from storefront.product_files.models import ProductImport
from storefront.product_files.new_rows import with_new_rows
from storefront.product_files.opening import OpenedFile, open_source
from storefront.product_files.parsed_products import Problem
from storefront.product_files.related import PendingRelations
from storefront.product_files.reports import Change, Progress
from storefront.product_files.reports import Report as Report
from storefront.product_files.row_store import SeenProducts
from storefront.product_files.sources import source_of
from storefront.product_files.spool import Spool
from storefront.shops.models import Shop

_NO_IDS = _lazy("Only WooCommerce files have IDs of a source; this file is %(format)s.")


def import_products(
    *,
    shop: Shop,
    file: Path,
    format: str = "auto",
    encoding: str = "",
    sheet: str = "",
    mapping: Mapping | None = None,
    source: str = "",
    update: bool = False,
    dry_run: bool = False,
    pictures: PictureRequests | None = None,
    now: datetime,
    progress: Progress | None = None,
    on_problem: Callable[[Problem], None] | None = None,
    on_change: Callable[[Change], None] | None = None,
    audit_object: audit.Object | None = None,
    product_import: ProductImport | None = None,
    gate: Gate | None = None,
) -> Report:
    """Import the file's products into the shop, each product completely or not at all.

    Existing products are skipped, or with `update` changed where the file differs. A dry run writes nothing. A blank
    `encoding` is detected. A table of no known format needs a `mapping`. `source` names the shop of a WooCommerce
    file's ids, by default the last one. `on_problem` also gets skipped products. `product_import` keeps what is
    changed, so that it can be undone. An update compares the whole file first, and `gate` can stop it before it writes.
    Raises UnreadableFile and ImpactRefused.
    """
    opened = open_source(file, format, encoding, sheet=sheet, mapping=mapping, shop=shop, update=update, now=now)
    if source and not opened.has_ids:
        raise UnreadableFile(_NO_IDS % {"format": opened.format})
    with ExitStack() as stack:
        stack.enter_context(bulk_write_pragmas())
        stack.enter_context(read_ahead.rare_garbage_collection())
        matchers = _Matchers(shop, opened, source, now)
        # Rows that are kept until the end of the file, and closed before what an update has compared is written.
        first = stack.enter_context(ExitStack())
        run = ImportRun(
            shop, now, file.name[:100], update, not dry_run, matchers.new(first, write=not dry_run and not update),
            Baselines(shop, opened.format, now), opened.headers, stack.enter_context(PendingRelations()),
            first.enter_context(PendingVariants()), stack.enter_context(dialect.Upkeep()), pictures, on_problem,
            on_change, Journal(product_import) if product_import and not dry_run else None,
        )  # fmt: skip
        record = run.audit_on_exit(audit_object or audit.Object("import", None, file.name))
        _carry_out(run, opened, matchers, stack, first, record, gate, progress)
    if run.texts:
        run.texts.finish()
    if progress is not None:
        progress(opened.size, opened.size, run.report)
    return run.report


@dataclass(frozen=True)
class _Matchers:
    """Makes a matcher for each time that the file's products are matched."""

    shop: Shop
    opened: OpenedFile
    source: str
    now: datetime

    def new(self, stack: ExitStack, *, write: bool) -> Matcher:
        opened, origin = self.opened, None
        if opened.has_ids:
            origin = source_of(self.shop, self.source, opened.source, now=self.now, write=write)
        seen = stack.enter_context(SeenProducts())
        return Matcher(self.shop, origin, seen, opened.skus, has_keys=opened.has_keys)


def _carry_out(
    run: ImportRun,
    opened: OpenedFile,
    matchers: _Matchers,
    stack: ExitStack,
    compared: ExitStack,
    record: Callable[..., None],
    gate: Gate | None,
    progress: Progress | None,
) -> None:
    """Import the file, an update after its comparison. `record` is called at the end of an import that writes, also
    after an error, since earlier batches stay imported."""
    if run.update and run.write:
        spool = stack.enter_context(Spool())
        _compare(run, spool, opened, gate, progress)
        compared.close()
        run.matcher, run.pending = matchers.new(stack, write=True), stack.enter_context(PendingVariants())
        stack.push(record)
        _import_spooled(run, spool, opened.size, progress)
    else:
        if run.write:
            stack.push(record)
        _import_batches(run, opened, progress)
    run.finish()


def _compare(run: ImportRun, spool: Spool, opened: OpenedFile, gate: Gate | None, progress: Progress | None) -> None:
    """Compare the whole file without writing. Products that are new or differ go into the spool. Raises
    ImpactRefused."""
    journal, run.write, run.spool, run.journal = run.journal, False, spool, None
    _import_batches(run, opened, progress)
    run.write, run.spool, run.journal = True, None, journal
    if gate:
        gate.check(run.shop, run.report.impact)


def _import_batches(run: ImportRun, opened: OpenedFile, progress: Progress | None) -> None:
    run.report_problems(opened.notes)
    results = within_limits(opened.results)
    if run.write and not run.update:
        results = with_new_rows(results, run.tables)
    with read_ahead.read_batches(results, opened.position, opened.size) as batches:
        for read, position in batches:
            run.import_all(read)
            # Frees the batch before the next one is read.
            del read
            if progress:
                # Comparing is the first half of an update.
                progress((position or opened.size) // (2 if run.spool else 1), opened.size, run.report)
    _import_joined(run)


def _import_spooled(run: ImportRun, spool: Spool, size: int, progress: Progress | None) -> None:
    """Import the products that the comparison has found to be new or to differ. They are matched and compared again,
    under the shop's lock, in half batches, since their states before and after take as much memory as they do."""
    for read, position in read_ahead.in_batches(spool.products(), spool.position, share=2):
        run.import_all(read)
        del read
        if progress:
            progress((size + size * position // spool.size) // 2, size, run.report)
    _import_joined(run)


def _import_joined(run: ImportRun) -> None:
    """Import the products whose rows waited for the end of the file."""
    for joined, _unused in read_ahead.in_batches(within_limits(run.pending.joined()), lambda: 0):
        run.import_all(joined)
