"""Imports a product file: finds out its format, and makes or changes the shop's products, a batch at a time.

Two imports into one shop at once take turns batch by batch: each batch takes the lock of the shop's tree and looks
up what stands before it writes, so that neither a product nor a category is made twice. (SQLite's writers take turns
as it is.) A batch is one transaction; where the database refuses it, its products are tried one by one.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import DataError, IntegrityError, transaction

from storefront.catalogue import native, reading, shopify, tree, woocommerce, woocommerce_headers
from storefront.catalogue.bulk import room_to_write
from storefront.catalogue.delimited import Table, UnreadableFile
from storefront.catalogue.incoming import Failure, Problem, ProductRecord, Read, Unfit
from storefront.catalogue.inserting import insert_products
from storefront.catalogue.matching import match, take_statistics
from storefront.catalogue.merging import Changes, merge, standing
from storefront.catalogue.reading import read_ahead, seldom_collecting
from storefront.catalogue.references import References
from storefront.catalogue.sheet import Columns
from storefront.catalogue.spool import Seen
from storefront.shops.changes import changed
from storefront.shops.models import Shop

FORMATS = ("auto", "woocommerce", "shopify", "native")
READERS: dict[str, Any] = {"woocommerce": woocommerce, "shopify": shopify}
COLUMNS = {"woocommerce": woocommerce_headers.column_of, "shopify": shopify.column_of}
# By how many times a shop's new products multiply before the database is told again how they are spread.
GROWTH = 6
# How many problems and changes a report holds; all of them go to whoever listens.
KEPT = 1000

Progress = Callable[[int, int], None]
Change = dict[str, Any]


@dataclass
class Report:
    """What an import did: products made, changed, left as they were, and kept out; what was wrong and where.

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
) -> Report:
    """Bring the file's products into the shop; a product whole or not at all.

    Products that stand already are skipped, or with `update` changed where the file says otherwise. A dry run finds
    out the same and writes nothing. `progress` is told (bytes read, bytes in all). Raises UnreadableFile for a file
    that is not a product file of a known format.
    """
    source = open_source(file, format, shop=shop, now=now)
    with ExitStack() as stack:
        stack.enter_context(room_to_write())
        stack.enter_context(seldom_collecting())
        seen = stack.enter_context(Seen()) if dry_run else None
        run = _Import(shop, now, update, seen, _Listeners(on_problem, on_change))
        batches = stack.enter_context(read_ahead(source.records, source.position, source.size))
        for read, position in batches:
            run.take_all(read)
            # Let go before the next batch is read.
            del read
            if progress:
                progress(position or source.size, source.size)
    if progress:
        progress(source.size, source.size)
    return run.report


@dataclass
class Source:
    """An opened product file."""

    format: str
    size: int
    position: Callable[[], int]
    records: Iterator[Read]


def open_source(file: Path, format: str, *, shop: Shop, now: datetime) -> Source:
    """The file as records of the format it turns out to have, or is said to have. Raises UnreadableFile."""
    if format not in FORMATS:
        raise UnreadableFile(f"The format {format} is not known; expected one of {', '.join(FORMATS)}.")
    if not file.is_file():
        raise UnreadableFile(f"{file} is not a file." if file.exists() else f"There is no file {file}.")
    try:
        table = Table(file)
        if format == "native" or (format == "auto" and native.recognises(table)):
            return Source("native", table.size, table.position, native.read(table))
        return _open_table(table, format, shop=shop, now=now)
    except OSError as error:
        raise UnreadableFile(f"The file {file} cannot be read: {error.strerror}.") from None


def _open_table(table: Table, format: str, *, shop: Shop, now: datetime) -> Source:
    tried = [format] if format != "auto" else ["shopify", "woocommerce"]
    for name in tried:
        known = COLUMNS[name]
        table.find_header(known)
        headers = [(header, known(header)) for header in table.headers]
        if READERS[name].recognises({column for _, column in headers}):
            columns = Columns(headers)
            return Source(name, table.size, table.position, READERS[name].read(table, columns, shop=shop, now=now))
    expected = "; or ".join(f"{name}: {READERS[name].EXPECTED}" for name in tried)
    found = ", ".join(header[:40] for header in table.headers[:6])
    raise UnreadableFile(
        f"The header line is not one of a known product file. It begins: {found}. Expected ({expected}), in English "
        "or as those programs write it in German, French, Spanish or Russian."
    )


def _without_repeats(read: list[Read], run: "_Import") -> Iterator[list[ProductRecord]]:
    """The records as one batch, or as several: one ends before a record that has a key of one in it."""
    batch: list[ProductRecord] = []
    keys: set[tuple[str, Any]] = set()
    for record in read:
        if isinstance(record, Failure):
            run.fail(record.problems)
            continue
        if not keys.isdisjoint(record.keys):
            yield batch
            batch, keys = [], set()
        batch.append(record)
        keys.update(record.keys)
    if batch:
        yield batch


@dataclass
class _Outcome:
    """What one batch comes to, counted once its transaction has been committed."""

    created: list[ProductRecord] = field(default_factory=list)
    updated: list[tuple[ProductRecord, str, Changes]] = field(default_factory=list)
    refused: list[ProductRecord] = field(default_factory=list)
    skipped: int = 0


class _Import:
    """One import under way."""

    def __init__(self, shop: Shop, now: datetime, update: bool, seen: Seen | None, tell: "_Listeners") -> None:
        self.shop, self.now, self.update, self.seen, self.tell = shop, now, update, seen, tell
        self.references = References(shop)
        self.report = Report()
        self.statistics_due = reading.BATCH

    def take_all(self, read: list[Read]) -> None:
        """Import what has been read, of which some may be one product twice."""
        for batch in _without_repeats(read, self):
            self.take(batch)

    def take(self, batch: list[ProductRecord]) -> None:
        """Import a batch; if the database refuses it, each product by itself, so that only the bad ones fail."""
        try:
            self._count(self._attempt(batch))
            self._keep_up_with_growth()
        except (DataError, IntegrityError, Unfit) as error:
            self.references.forget()
            if len(batch) == 1:
                self.fail([Problem(batch[0].line, "", _phrase(error))])
            for record in batch if len(batch) > 1 else ():
                self.take([record])

    def _keep_up_with_growth(self) -> None:
        if self.seen is None and self.report.created >= self.statistics_due:
            take_statistics()
            self.statistics_due = GROWTH * self.report.created

    def fail(self, problems: list[Problem], products: int = 1) -> None:
        self.report.failed += products
        for problem in problems:
            self._note(problem)

    def _attempt(self, batch: list[ProductRecord]) -> _Outcome:
        if self.seen is not None:
            return self._carry_out(batch)
        with transaction.atomic():
            tree.lock(self.shop)
            outcome = self._carry_out(batch)
            changed(self.shop.pk)
            return outcome

    def _carry_out(self, batch: list[ProductRecord]) -> _Outcome:
        outcome = _Outcome()
        matched: list[tuple[ProductRecord, int]] = []
        for record, id in zip(batch, match(self.shop, batch), strict=True):
            if id is not None:
                matched.append((record, id))
            elif self.seen is not None and any(key in self.seen for key in record.keys):
                outcome.skipped += 1
            elif record.only_update:
                outcome.refused.append(record)
            else:
                outcome.created.append(record)
        self._prepare([*outcome.created, *(record for record, _ in matched if self.update)])
        if self.update:
            self._merge(matched, outcome)
        else:
            outcome.skipped += len(matched)
        if self.seen is None:
            insert_products(shop=self.shop, records=outcome.created, references=self.references, now=self.now)
        return outcome

    def _prepare(self, records: list[ProductRecord]) -> None:
        if self.seen is None:
            self.references.resolve(records, self.now)
        else:
            self.references.look_up(records)

    def _merge(self, matched: list[tuple[ProductRecord, int]], outcome: _Outcome) -> None:
        products = standing(self.shop, [id for _, id in matched])
        for record, id in matched:
            changes = merge(
                shop=self.shop,
                product=products[id],
                record=record,
                references=self.references,
                now=self.now,
                write=self.seen is None,
            )
            if changes:
                outcome.updated.append((record, products[id].slug, changes))
            else:
                outcome.skipped += 1

    def _count(self, outcome: _Outcome) -> None:
        report = self.report
        report.created += len(outcome.created)
        report.updated += len(outcome.updated)
        report.skipped += outcome.skipped
        for record in outcome.refused:
            lines = [variant.line for variant in record.variants or ()] or [record.line]
            self.fail([Problem(line, "", record.only_update) for line in lines], len(lines))
        changes: list[Change] = [
            {"line": record.line, "change": "update", "slug": slug, "fields": changes}
            for record, slug, changes in outcome.updated
        ]
        if self.seen is not None:
            for record in outcome.created:
                for key in record.keys:
                    self.seen.add(*key)
                changes.append({"line": record.line, "change": "create", "name": record.fields.get("name")})
        for change in sorted(changes, key=lambda change: change["line"]):
            self._note_change(change)
        for record in (*outcome.created, *(record for record, _, _ in outcome.updated)):
            for warning in record.warnings:
                self._note(warning)

    def _note(self, problem: Problem) -> None:
        if len(self.report.problems) < KEPT:
            self.report.problems.append(problem)
        if self.tell.problem:
            self.tell.problem(problem)

    def _note_change(self, change: Change) -> None:
        if len(self.report.changes) < KEPT:
            self.report.changes.append(change)
        if self.tell.change:
            self.tell.change(change)


@dataclass(frozen=True)
class _Listeners:
    problem: Callable[[Problem], None] | None
    change: Callable[[Change], None] | None


def _phrase(error: Exception) -> str:
    if isinstance(error, Unfit):
        return str(error)
    reason = " ".join(str(error).split())
    return f"the database does not take it ({reason[:200]})"
