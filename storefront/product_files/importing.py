"""Imports a product file: detects its format, and creates or updates the shop's products, a batch at a time.

Two simultaneous imports into one shop alternate batch by batch: each batch locks the shop's tree and looks up existing
rows before it writes, so that neither a product nor a category is created twice. (SQLite's writers alternate anyway.)
A batch is one transaction; if the database rejects it, its products are imported one by one.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import DataError, IntegrityError, transaction

from storefront import audit
from storefront.catalogue import tree
from storefront.catalogue.inventory.ledger import Kind, stock_changes
from storefront.catalogue.parsing import InvalidValue
from storefront.kit.bulk_insert import bulk_write_pragmas
from storefront.pictures.requesting import PictureRequests
from storefront.product_files import read_ahead
from storefront.product_files.baselines import Baselines
from storefront.product_files.cleared import Headers
from storefront.product_files.creating import insert_products
from storefront.product_files.csv_reading import UnreadableFile
from storefront.product_files.dialect import dialect
from storefront.product_files.joining import PendingVariants
from storefront.product_files.limits import within_limits
from storefront.product_files.mapped.mapping import Mapping
from storefront.product_files.matching import Matcher, link
from storefront.product_files.new_rows import NewTables, with_new_rows
from storefront.product_files.opening import OpenedFile, open_source
from storefront.product_files.outcomes import Outcome, Update, paired_updates, sort
from storefront.product_files.parsed_products import Failure, Notice, ParsedProduct, Problem, ReadResult
from storefront.product_files.references import References
from storefront.product_files.related import PendingRelations, resolve_related
from storefront.product_files.reports import MAX_REPORT_SIZE, MAX_REPORTED, Change, Progress
from storefront.product_files.reports import Report as Report
from storefront.product_files.row_store import SeenProducts
from storefront.product_files.sources import source_of
from storefront.product_files.updating import update_product
from storefront.product_files.variant_matching import link_variants
from storefront.shops.changes import publish_change
from storefront.shops.models import Shop


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
) -> Report:
    """Import the file's products into the shop, each product completely or not at all.

    Existing products are skipped, or with `update` changed where the file differs. A dry run writes nothing. A blank
    `encoding` is detected. A table of no known format needs a `mapping`. `source` names the shop of a WooCommerce
    file's ids, by default the last one. `on_problem` also gets skipped products. Raises UnreadableFile.
    """
    opened = open_source(file, format, encoding, sheet=sheet, mapping=mapping, shop=shop, update=update, now=now)
    if source and not opened.has_ids:
        raise UnreadableFile(f"Only WooCommerce files have IDs of a source; this file is {opened.format}.")
    with ExitStack() as stack:
        stack.enter_context(bulk_write_pragmas())
        stack.enter_context(read_ahead.rare_garbage_collection())
        seen = stack.enter_context(SeenProducts())
        origin = source_of(shop, source, opened.source, now=now, write=not dry_run) if opened.has_ids else None
        matcher = Matcher(shop, origin, seen, opened.skus)
        stores = stack.enter_context(PendingRelations()), stack.enter_context(PendingVariants())
        write, upkeep, name = not dry_run, stack.enter_context(dialect.Upkeep()), file.name[:100]
        of_format = Baselines(shop, opened.format, now), opened.headers
        run = _Import(
            shop, now, name, update, write, matcher, *of_format, *stores, upkeep, pictures, on_problem, on_change
        )
        if write:
            # Also after an error, since earlier batches stay imported.
            stack.push(run.audit_on_exit(audit_object or audit.Object("import", None, file.name)))
        run.report_problems(opened.notes)
        _import_batches(run, opened, progress)
        run.finish()
    if run.texts:
        run.texts.finish()
    if progress:
        progress(opened.size, opened.size, run.report)
    return run.report


def _import_batches(run: "_Import", opened: OpenedFile, progress: Progress | None) -> None:
    results = within_limits(opened.results)
    if run.write and not run.update:
        results = with_new_rows(results, run.tables)
    with read_ahead.read_batches(results, opened.position, opened.size) as batches:
        for read, position in batches:
            run.import_all(read)
            # Frees the batch before the next one is read.
            del read
            if progress:
                progress(position or opened.size, opened.size, run.report)
    for joined, _ in read_ahead.in_batches(within_limits(run.pending.joined()), lambda: opened.size):
        run.import_all(joined)


@dataclass
class _Import:
    """A running import. `file` is its reference in the stock ledger."""

    shop: Shop
    now: datetime
    file: str
    update: bool
    write: bool
    matcher: Matcher
    baselines: Baselines
    headers: Headers
    related: PendingRelations
    pending: PendingVariants
    upkeep: dialect.Upkeep
    pictures: PictureRequests | None
    on_problem: Callable[[Problem], None] | None
    on_change: Callable[[Change], None] | None

    def __post_init__(self) -> None:
        self.started, self.report, self.report_size = time.monotonic(), Report(), 0
        self.warned: set[tuple[str, str]] = set()
        self.references, self.tables = References(self.shop), NewTables(self.shop, self.now)
        self.texts = dialect.later_texts(self.shop, self.tables.search, self.upkeep)

    def import_all(self, results: list[ReadResult]) -> None:
        """Import these results, in the order of the file."""
        batch = []
        for parsed in results:
            if isinstance(parsed, Notice):
                self._add_problem(parsed.problem)
            elif isinstance(parsed, Failure):
                self.fail(parsed.problems)
            else:
                batch.append(parsed)
        if batch:
            self.import_batch(batch)

    def import_batch(self, batch: list[ParsedProduct]) -> None:
        """Import a batch. If the database rejects it, import each product by itself, so that only invalid ones fail."""
        try:
            self._count(self._attempt(batch))
            self.upkeep.after_batch(self.report.created)
        except (DataError, IntegrityError, InvalidValue) as error:
            self.references.clear()
            if len(batch) == 1:
                self.fail([Problem(batch[0].line, "", _reason(error), key=str(batch[0].keys))])
            for parsed in batch if len(batch) > 1 else ():
                self.import_batch([parsed])

    def audit_on_exit(self, audit_object: audit.Object) -> Callable[..., None]:
        """An exit callback for a `with` block that writes the one audit entry of the import."""

        def write_entry(error: type[BaseException] | None, *_: Any) -> None:
            action, after = "import.interrupted" if error else "import.finished", self.report.counts()
            # In a transaction that will be rolled back, nothing was imported.
            if not transaction.get_connection().needs_rollback:
                audit.record(shop=self.shop, action=action, object=audit_object, after=after, now=self.now)

        return write_entry

    def fail(self, problems: list[Problem], products: int = 1) -> None:
        self.report.failed += products
        self.report_problems(problems)

    def report_problems(self, problems: list[Problem]) -> None:
        for problem in problems:
            self._add_problem(problem)

    def _attempt(self, batch: list[ParsedProduct]) -> Outcome:
        if not self.write:
            return self._apply(batch)
        with transaction.atomic(), stock_changes(Kind.IMPORTED, reference=self.file, now=self.now):
            tree.lock(self.shop)
            outcome = self._apply(batch)
            publish_change(self.shop.pk)
            return outcome

    def _apply(self, batch: list[ParsedProduct]) -> Outcome:
        outcome = Outcome()
        for parsed, match in zip(batch, self.matcher.match(batch), strict=True):
            sort(parsed, match, outcome, update=self.update)
        updates = paired_updates(self.shop, outcome, self.matcher, lock=self.write) if self.update else []
        products = [*outcome.created, *(each.parsed for each in updates)]
        if self.write:
            self.references.resolve(products, self.now)
        else:
            self.references.look_up(products)
        if self.update:
            self._update(updates, outcome)
        else:
            outcome.skipped += [
                (parsed, f"{match.variant or match.product} is in the shop already")
                for parsed, match in outcome.matched
            ]
        if self.write:
            outcome.created_ids = insert_products(
                shop=self.shop,
                products=outcome.created,
                tables=self.tables,
                references=self.references,
                variant_links=outcome.variant_links,
                pictures=self.pictures,
                texts=self.texts,
                now=self.now,
            )
            self._link(outcome)
        return outcome

    def _update(self, updates: list[Update], outcome: Outcome) -> None:
        # Sale periods begin and end while a long import runs. From here on they wait, since the products are locked.
        prices_at = self.now + timedelta(seconds=time.monotonic() - self.started)
        self.baselines.clear()
        new_pictures: list[tuple[int, str]] = []
        for each in updates:
            changes = update_product(
                shop=self.shop,
                existing=each.existing,
                parsed=each.parsed,
                variant_rows=each.variant_rows,
                references=self.references,
                baselines=self.baselines,
                headers=self.headers,
                new_pictures=new_pictures,
                variant_links=outcome.variant_links,
                now=self.now,
                prices_at=prices_at,
                write=self.write,
            )
            if changes:
                outcome.updated.append((each.parsed, each.existing.product.slug, changes))
            else:
                outcome.skipped.append((each.parsed, f"{each.found} does not differ"))
        if self.pictures:
            self.pictures.insert(new_pictures)

    def _link(self, outcome: Outcome) -> None:
        """Store the source's ids of products that were created, or matched by another key."""
        source = self.matcher.source
        if source is None or source.is_own:
            return
        created = zip(outcome.created, outcome.created_ids, strict=True)
        ids = [(parsed.keys.external_id, id) for parsed, id in created]
        ids += [
            (parsed.keys.external_id, match.product.id)
            for parsed, match in outcome.matched
            if match.product and match.links
        ]
        link(source, [(external, id) for external, id in ids if external])
        link_variants(self.shop, source, outcome.variant_links)

    def _count(self, outcome: Outcome) -> None:
        report = self.report
        report.created += len(outcome.created)
        report.updated += len(outcome.updated)
        report.skipped += len(outcome.skipped)
        report.conflicts += len(outcome.conflicts)
        self.matcher.remember(outcome.created, outcome.created_ids, outcome.matched)
        self.pending.add(
            (match.product.id, bool(match.variant), parsed) for parsed, match in outcome.pending if match.product
        )
        self._keep_related(outcome)
        for parsed in outcome.unreadable:
            self.fail(parsed.problems)
        for parsed in outcome.refused:
            lines = [variant.line for variant in parsed.variants or ()] or [parsed.line]
            reason = parsed.refusal_if_new
            if parsed.as_variant and parsed.keys.sku:
                reason = f"no product or variant has the SKU {parsed.keys.sku}, and {reason}"
            self.fail([Problem(line, "", reason, key=str(parsed.keys)) for line in lines], len(lines))
        for parsed, reason in outcome.conflicts:
            for line, key in parsed.joined_rows or [(parsed.line, str(parsed.keys))]:
                self._add_problem(Problem(line, "", reason, "conflict", key))
        for parsed, reason in outcome.skipped:
            self._add_problem(Problem(parsed.line, "", reason, "skipped", str(parsed.keys)))
        self._add_changes(outcome)
        for parsed in outcome.created:
            self.report_problems([*parsed.warnings, *parsed.new_warnings])
        for parsed, _, _ in outcome.updated:
            self.report_problems(parsed.warnings)
        for warning in (each for parsed, _ in outcome.matched if self.update for each in parsed.update_warnings):
            # Once for each column in this import.
            if (warning.column, warning.reason) not in self.warned:
                self.warned.add((warning.column, warning.reason))
                self._add_problem(warning)

    def _keep_related(self, outcome: Outcome) -> None:
        # Products that a dry run would create have no ids.
        ids = outcome.created_ids or [-parsed.line for parsed in outcome.created]
        updated = {parsed.line for parsed, _, _ in outcome.updated}
        matched = [(parsed, match.product.id) for parsed, match in outcome.matched if match.product]
        self.related.add(zip(outcome.created, ids, strict=True), counted="created")
        self.related.add([each for each in matched if each[0].line in updated], counted="updated")
        others = [each for each in matched if each[0].line not in updated]
        self.related.add(others, counted="skipped", keep=not self.update)

    def finish(self) -> None:
        """Write the related products that the file states, report what that changes, and do what is left to the end."""
        for change in resolve_related(
            shop=self.shop,
            pending=self.related,
            by_source_id=self.matcher.by_source_id,
            write=self.write,
            on_problem=self._add_problem,
        ):
            if change.counted == "skipped":
                self.report.skipped -= 1
                self.report.updated += 1
            if change.counted != "created":
                row = {"line": change.line, "change": "update", "slug": change.slug, "fields": change.fields}
                self._add_change(row)
        if self.write and (self.report.created or self.report.updated):
            self.report_problems(dialect.notes(self.shop))
            self.upkeep.settle()

    def _add_changes(self, outcome: Outcome) -> None:
        changes: list[Change] = [
            {"line": parsed.line, "change": "update", "slug": slug, "fields": changes}
            for parsed, slug, changes in outcome.updated
        ]
        if not self.write:
            changes += [
                {"line": parsed.line, "change": "create", "name": parsed.fields.get("name")}
                for parsed in outcome.created
            ]
        for change in sorted(changes, key=lambda change: change["line"]):
            self._add_change(change)

    def _add_problem(self, problem: Problem) -> None:
        self._keep(self.report.unchanged if problem.severity == "skipped" else self.report.problems, problem)
        if self.on_problem:
            self.on_problem(problem)

    def _add_change(self, change: Change) -> None:
        self._keep(self.report.changes, change)
        if self.on_change:
            self.on_change(change)

    def _keep(self, reported: list[Any], entry: Problem | Change) -> None:
        if len(reported) < MAX_REPORTED and self.report_size < MAX_REPORT_SIZE:
            reported.append(entry)
            self.report_size += len(str(entry))


def _reason(error: Exception) -> str:
    if isinstance(error, InvalidValue):
        return str(error)
    return f"the database refused the row ({' '.join(str(error).split())[:200]})"
