"""Imports a product file: detects its format, and creates or updates the shop's products, a batch at a time.

Two simultaneous imports into one shop alternate batch by batch: each batch locks the shop's tree and looks up existing
rows before it writes, so that neither a product nor a category is created twice. (SQLite's writers alternate anyway.)
A batch is one transaction; if the database rejects it, its products are imported one by one.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
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
from storefront.product_files.creating import insert_products
from storefront.product_files.csv_reading import UnreadableFile
from storefront.product_files.dialect import dialect
from storefront.product_files.existing import existing_products
from storefront.product_files.limits import within_limits
from storefront.product_files.mapped.mapping import Mapping
from storefront.product_files.matching import Match, Matcher, link
from storefront.product_files.new_rows import NewTables, with_new_rows
from storefront.product_files.opening import OpenedFile, open_source
from storefront.product_files.parsed_products import Failure, Notice, ParsedProduct, Problem, ReadResult
from storefront.product_files.references import References
from storefront.product_files.related import PendingRelations, resolve_related
from storefront.product_files.row_store import SeenProducts
from storefront.product_files.sources import source_of
from storefront.product_files.updating import Changes, update_product
from storefront.shops.changes import publish_change
from storefront.shops.models import Shop

# Maximum number of problems, and of changes, in a report, and of characters in them. The callbacks get all of them.
MAX_REPORTED, MAX_REPORT_SIZE = 1000, 8 << 20

COUNTS = ("created", "updated", "skipped", "failed", "conflicts")

Change = dict[str, Any]


@dataclass
class Report:
    """Result of an import: numbers of products created, updated, skipped, failed and in conflict; problems; changes.

    `problems`, `unchanged` (skipped products) and `changes` hold the first thousand, or fewer long ones. A change is
    {line, change: "update", slug, fields: {name: [before, after]}}, in a dry run also {line, change: "create", name}.
    """

    created: int = 0
    updated: int = 0
    skipped: int = 0
    failed: int = 0
    conflicts: int = 0
    problems: list[Problem] = field(default_factory=list)
    unchanged: list[Problem] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in COUNTS}

    @property
    def is_complete(self) -> bool:
        """Returns True if every product of the file is now in the shop."""
        return not self.failed and not self.conflicts


# Called with the bytes read so far, the file's size in bytes, and what was done so far.
Progress = Callable[[int, int, Report], None]


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
        related = stack.enter_context(PendingRelations())
        write, upkeep = not dry_run, stack.enter_context(dialect.Upkeep())
        name, baselines = file.name[:100], Baselines(shop, opened.format, now)
        run = _Import(
            shop, now, name, update, write, matcher, baselines, related, upkeep, pictures, on_problem, on_change
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


@dataclass
class _Outcome:
    """The result of one batch, counted once its transaction is committed."""

    created: list[ParsedProduct] = field(default_factory=list)
    created_ids: list[int] = field(default_factory=list)
    updated: list[tuple[ParsedProduct, str, Changes]] = field(default_factory=list)
    refused: list[ParsedProduct] = field(default_factory=list)
    matched: list[tuple[ParsedProduct, Match]] = field(default_factory=list)
    # Skipped products, each with the reason.
    skipped: list[tuple[ParsedProduct, str]] = field(default_factory=list)
    conflicts: list[tuple[ParsedProduct, str]] = field(default_factory=list)


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
    related: PendingRelations
    upkeep: dialect.Upkeep
    pictures: PictureRequests | None
    on_problem: Callable[[Problem], None] | None
    on_change: Callable[[Change], None] | None

    def __post_init__(self) -> None:
        self.started, self.report, self.report_size = time.monotonic(), Report(), 0
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

    def _attempt(self, batch: list[ParsedProduct]) -> _Outcome:
        if not self.write:
            return self._apply(batch)
        with transaction.atomic(), stock_changes(Kind.IMPORTED, reference=self.file, now=self.now):
            tree.lock(self.shop)
            outcome = self._apply(batch)
            publish_change(self.shop.pk)
            return outcome

    def _apply(self, batch: list[ParsedProduct]) -> _Outcome:
        outcome = _Outcome()
        for parsed, match in zip(batch, self.matcher.match(batch), strict=True):
            if match.conflict:
                outcome.conflicts.append((parsed, match.conflict))
            elif match.product and parsed.reason_to_keep:
                outcome.skipped.append((parsed, parsed.reason_to_keep))
            elif match.product:
                outcome.matched.append((parsed, match))
            elif parsed.refusal_if_new:
                outcome.refused.append(parsed)
            else:
                outcome.created.append(parsed)
        products = [*outcome.created, *(parsed for parsed, _ in outcome.matched if self.update)]
        if self.write:
            self.references.resolve(products, self.now)
        else:
            self.references.look_up(products)
        if self.update:
            self._update(outcome)
        else:
            outcome.skipped += [
                (parsed, f"{match.product} is in the shop already") for parsed, match in outcome.matched
            ]
        if self.write:
            outcome.created_ids = insert_products(
                shop=self.shop,
                products=outcome.created,
                tables=self.tables,
                references=self.references,
                pictures=self.pictures,
                texts=self.texts,
                now=self.now,
            )
            self._link(outcome)
        return outcome

    def _update(self, outcome: _Outcome) -> None:
        matched = [(parsed, match.product) for parsed, match in outcome.matched if match.product]
        products = existing_products(self.shop, [found.id for _, found in matched], lock=self.write)
        # Sale periods begin and end while a long import runs. From here on they wait, since the products are locked.
        prices_at = self.now + timedelta(seconds=time.monotonic() - self.started)
        self.baselines.clear()
        new_pictures: list[tuple[int, str]] = []
        for parsed, found in matched:
            changes = update_product(
                shop=self.shop,
                existing=products[found.id],
                parsed=parsed,
                references=self.references,
                baselines=self.baselines,
                new_pictures=new_pictures,
                now=self.now,
                prices_at=prices_at,
                write=self.write,
            )
            if changes:
                outcome.updated.append((parsed, found.slug, changes))
            else:
                outcome.skipped.append((parsed, f"{found} does not differ"))
        if self.pictures:
            self.pictures.insert(new_pictures)

    def _link(self, outcome: _Outcome) -> None:
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

    def _count(self, outcome: _Outcome) -> None:
        report = self.report
        report.created += len(outcome.created)
        report.updated += len(outcome.updated)
        report.skipped += len(outcome.skipped)
        report.conflicts += len(outcome.conflicts)
        self.matcher.remember(outcome.created, outcome.created_ids, outcome.matched)
        self._keep_related(outcome)
        for parsed in outcome.refused:
            lines = [variant.line for variant in parsed.variants or ()] or [parsed.line]
            self.fail([Problem(line, "", parsed.refusal_if_new, key=str(parsed.keys)) for line in lines], len(lines))
        for parsed, reason in outcome.conflicts:
            self._add_problem(Problem(parsed.line, "", reason, "conflict", str(parsed.keys)))
        for parsed, reason in outcome.skipped:
            self._add_problem(Problem(parsed.line, "", reason, "skipped", str(parsed.keys)))
        self._add_changes(outcome)
        for parsed in (*outcome.created, *(parsed for parsed, _, _ in outcome.updated)):
            for warning in parsed.warnings:
                self._add_problem(warning)

    def _keep_related(self, outcome: _Outcome) -> None:
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

    def _add_changes(self, outcome: _Outcome) -> None:
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
