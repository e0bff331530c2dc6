"""Imports a product file: detects its format, and creates or updates the shop's products, a batch at a time.

Two simultaneous imports into one shop alternate batch by batch: each batch locks the shop's tree and looks up existing
rows before it writes, so that neither a product nor a category is created twice. (SQLite's writers alternate anyway.)
A batch is one transaction; if the database rejects it, its products are imported one by one.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import DataError, IntegrityError, transaction

from storefront.catalogue import rules, tree
from storefront.catalogue.parsing import InvalidValue
from storefront.kit.bulk_insert import bulk_write_pragmas
from storefront.listing.statistics import refresh_statistics, settle_after_import
from storefront.product_files import read_ahead
from storefront.product_files.creating import insert_products
from storefront.product_files.csv_reading import Table, UnreadableFile
from storefront.product_files.matching import match
from storefront.product_files.native import reader as native_reader
from storefront.product_files.parsed_products import Failure, ParsedProduct, Problem, ReadResult
from storefront.product_files.references import References
from storefront.product_files.row_store import SeenKeys
from storefront.product_files.rows import ColumnIndex
from storefront.product_files.shopify import reader as shopify_reader
from storefront.product_files.updating import Changes, existing_products, update_product
from storefront.product_files.woocommerce import headers
from storefront.product_files.woocommerce import reader as woocommerce_reader
from storefront.shops import audit
from storefront.shops.changes import publish_change
from storefront.shops.models import Shop

FORMATS = ("auto", "woocommerce", "shopify", "native")
READERS: dict[str, Any] = {"woocommerce": woocommerce_reader, "shopify": shopify_reader}
COLUMNS = {"woocommerce": headers.column_of, "shopify": shopify_reader.column_of}
# Factor by which the number of created products grows between two updates of the database's statistics.
GROWTH = 6
# Maximum number of problems, and of changes, in a report. The callbacks get all of them.
MAX_REPORTED = 1000

Progress = Callable[[int, int], None]
Change = dict[str, Any]


@dataclass
class Report:
    """The result of an import: numbers of products created, updated, skipped and failed; problems; changes.

    `problems` and `changes` hold the first thousand. A change is {line, change: "update", slug, fields: {name:
    [before, after]}}, and in a dry run also {line, change: "create", name}.
    """

    created: int = 0
    updated: int = 0
    skipped: int = 0
    failed: int = 0
    problems: list[Problem] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in ("created", "updated", "skipped", "failed")}


def import_products(
    *,
    shop: Shop,
    file: Path,
    format: str = "auto",
    update: bool = False,
    dry_run: bool = False,
    now: datetime,
    progress: Progress | None = None,
    on_problem: Callable[[Problem], None] | None = None,
    on_change: Callable[[Change], None] | None = None,
    audit_object: audit.Object | None = None,
) -> Report:
    """Import the file's products into the shop, each product completely or not at all.

    Existing products are skipped, or with `update` changed where the file differs. A dry run reports the same and
    writes nothing. `progress` is called with (bytes read, bytes in total). `audit_object` is the object of the
    import's audit entry; by default, it is named after the file. Raises UnreadableFile for a file that is not a
    product file of a supported format.
    """
    source = open_source(file, format, shop=shop, now=now)
    with ExitStack() as stack:
        stack.enter_context(bulk_write_pragmas())
        stack.enter_context(read_ahead.rare_garbage_collection())
        seen = stack.enter_context(SeenKeys()) if dry_run else None
        run = _Import(shop, now, update, seen, _Callbacks(on_problem, on_change))
        if not dry_run:
            # Also after an error, since earlier batches stay imported.
            stack.push(run.audit_on_exit(audit_object or audit.Object("import", None, file.name)))
        batches = stack.enter_context(read_ahead.read_batches(source.results, source.position, source.size))
        for results, position in batches:
            run.import_all(results)
            # Frees the batch before the next one is read.
            del results
            if progress:
                progress(position or source.size, source.size)
    if run.has_written:
        settle_after_import()
    if progress:
        progress(source.size, source.size)
    return run.report


@dataclass
class Source:
    """An opened product file."""

    format: str
    size: int
    position: Callable[[], int]
    results: Iterator[ReadResult]


def open_source(file: Path, format: str, *, shop: Shop, now: datetime) -> Source:
    """Open the file with the reader of `format`, which "auto" detects. Raises UnreadableFile."""
    if format not in FORMATS:
        raise UnreadableFile(f"Unknown format {format}; expected one of {', '.join(FORMATS)}.")
    if not file.is_file():
        raise UnreadableFile(f"{file} is not a file." if file.exists() else f"There is no file {file}.")
    try:
        table = Table(file)
        if format == "native" or (format == "auto" and native_reader.recognises(table)):
            return Source("native", table.size, table.position, native_reader.read(table))
        return _open_table(table, format, shop=shop, now=now)
    except OSError as error:
        raise UnreadableFile(f"The file {file} cannot be read: {error.strerror}.") from None


def _open_table(table: Table, format: str, *, shop: Shop, now: datetime) -> Source:
    tried = [format] if format != "auto" else ["shopify", "woocommerce"]
    for name in tried:
        column_of = COLUMNS[name]
        table.find_header(column_of)
        found = [(header, column_of(header)) for header in table.headers]
        if READERS[name].recognises({column for _, column in found}):
            columns = ColumnIndex(found)
            return Source(name, table.size, table.position, READERS[name].read(table, columns, shop=shop, now=now))
    expected = "; or ".join(f"{name}: {READERS[name].EXPECTED}" for name in tried)
    beginning = ", ".join(header[:40] for header in table.headers[:6])
    raise UnreadableFile(
        f"The header row does not match a supported product file. It begins: {beginning}. Expected ({expected}), in "
        "English or as exported in German, French, Spanish or Russian."
    )


def _batches_of(results: list[ReadResult], run: "_Import") -> Iterator[list[ParsedProduct]]:
    """The parsed products in batches without repeated keys. A batch ends before a product that shares a key with it."""
    batch: list[ParsedProduct] = []
    keys: set[tuple[str, Any]] = set()
    for parsed in results:
        if isinstance(parsed, Failure):
            run.fail(parsed.problems)
            continue
        if problems := _too_many(parsed):
            run.fail(problems)
            continue
        if not keys.isdisjoint(parsed.keys):
            yield batch
            batch, keys = [], set()
        batch.append(parsed)
        keys.update(parsed.keys)
    if batch:
        yield batch


def _too_many(parsed: ParsedProduct) -> list[Problem]:
    names = ("categories", "media", "variants", "options", "bundle_items")
    found = rules.too_many({name: getattr(parsed, name) for name in names})
    return [Problem(parsed.line, name, problem) for name, problem in found.items()]


@dataclass
class _Outcome:
    """The result of one batch, counted once its transaction is committed."""

    created: list[ParsedProduct] = field(default_factory=list)
    updated: list[tuple[ParsedProduct, str, Changes]] = field(default_factory=list)
    refused: list[ParsedProduct] = field(default_factory=list)
    skipped: int = 0


class _Import:
    """One running import."""

    def __init__(self, shop: Shop, now: datetime, update: bool, seen: SeenKeys | None, callbacks: "_Callbacks") -> None:
        self.shop, self.now, self.update, self.seen, self.callbacks = shop, now, update, seen, callbacks
        self.references = References(shop)
        self.report = Report()
        self.statistics_due = read_ahead.BATCH_PRODUCTS

    def import_all(self, results: list[ReadResult]) -> None:
        """Import these results, in which a product may occur several times."""
        for batch in _batches_of(results, self):
            self.import_batch(batch)

    def import_batch(self, batch: list[ParsedProduct]) -> None:
        """Import a batch. If the database rejects it, import each product by itself, so that only invalid ones fail."""
        try:
            self._count(self._attempt(batch))
            self._refresh_statistics()
        except (DataError, IntegrityError, InvalidValue) as error:
            self.references.clear()
            if len(batch) == 1:
                self.fail([Problem(batch[0].line, "", _reason(error))])
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

    def _refresh_statistics(self) -> None:
        if self.seen is None and self.report.created >= self.statistics_due:
            refresh_statistics()
            self.statistics_due = GROWTH * self.report.created

    @property
    def has_written(self) -> bool:
        return self.seen is None and bool(self.report.created or self.report.updated)

    def fail(self, problems: list[Problem], products: int = 1) -> None:
        self.report.failed += products
        for problem in problems:
            self._add_problem(problem)

    def _attempt(self, batch: list[ParsedProduct]) -> _Outcome:
        if self.seen is not None:
            return self._apply(batch)
        with transaction.atomic():
            tree.lock(self.shop)
            outcome = self._apply(batch)
            publish_change(self.shop.pk)
            return outcome

    def _apply(self, batch: list[ParsedProduct]) -> _Outcome:
        outcome = _Outcome()
        matched: list[tuple[ParsedProduct, int]] = []
        for parsed, id in zip(batch, match(self.shop, batch), strict=True):
            if id is not None:
                matched.append((parsed, id))
            elif self.seen is not None and any(key in self.seen for key in parsed.keys):
                outcome.skipped += 1
            elif parsed.refusal_if_new:
                outcome.refused.append(parsed)
            else:
                outcome.created.append(parsed)
        self._prepare([*outcome.created, *(parsed for parsed, _ in matched if self.update)])
        if self.update:
            self._update(matched, outcome)
        else:
            outcome.skipped += len(matched)
        if self.seen is None:
            insert_products(shop=self.shop, products=outcome.created, references=self.references, now=self.now)
        return outcome

    def _prepare(self, products: list[ParsedProduct]) -> None:
        if self.seen is None:
            self.references.resolve(products, self.now)
        else:
            self.references.look_up(products)

    def _update(self, matched: list[tuple[ParsedProduct, int]], outcome: _Outcome) -> None:
        products = existing_products(self.shop, [id for _, id in matched])
        for parsed, id in matched:
            changes = update_product(
                shop=self.shop,
                product=products[id],
                parsed=parsed,
                references=self.references,
                now=self.now,
                write=self.seen is None,
            )
            if changes:
                outcome.updated.append((parsed, products[id].slug, changes))
            else:
                outcome.skipped += 1

    def _count(self, outcome: _Outcome) -> None:
        report = self.report
        report.created += len(outcome.created)
        report.updated += len(outcome.updated)
        report.skipped += outcome.skipped
        for parsed in outcome.refused:
            lines = [variant.line for variant in parsed.variants or ()] or [parsed.line]
            self.fail([Problem(line, "", parsed.refusal_if_new) for line in lines], len(lines))
        changes: list[Change] = [
            {"line": parsed.line, "change": "update", "slug": slug, "fields": changes}
            for parsed, slug, changes in outcome.updated
        ]
        if self.seen is not None:
            for parsed in outcome.created:
                for key in parsed.keys:
                    self.seen.add(*key)
                changes.append({"line": parsed.line, "change": "create", "name": parsed.fields.get("name")})
        for change in sorted(changes, key=lambda change: change["line"]):
            self._add_change(change)
        for parsed in (*outcome.created, *(parsed for parsed, _, _ in outcome.updated)):
            for warning in parsed.warnings:
                self._add_problem(warning)

    def _add_problem(self, problem: Problem) -> None:
        if len(self.report.problems) < MAX_REPORTED:
            self.report.problems.append(problem)
        if self.callbacks.problem:
            self.callbacks.problem(problem)

    def _add_change(self, change: Change) -> None:
        if len(self.report.changes) < MAX_REPORTED:
            self.report.changes.append(change)
        if self.callbacks.change:
            self.callbacks.change(change)


@dataclass(frozen=True)
class _Callbacks:
    problem: Callable[[Problem], None] | None
    change: Callable[[Change], None] | None


def _reason(error: Exception) -> str:
    if isinstance(error, InvalidValue):
        return str(error)
    reason = " ".join(str(error).split())
    return f"the database refused the row ({reason[:200]})"
