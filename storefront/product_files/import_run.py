"""The run of one import: matches, compares and writes its products, a batch at a time."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import DataError, IntegrityError, transaction
from django.utils.translation import gettext as _

from storefront import audit
from storefront.catalogue import events, tree
from storefront.catalogue.inventory.ledger import Kind as StockKind
from storefront.catalogue.inventory.ledger import stock_changes
from storefront.catalogue.parsing import InvalidValue
from storefront.kit.refused_rows import refused
from storefront.pictures.requesting import PictureRequests
from storefront.product_files.baselines import Baselines
from storefront.product_files.cleared import Headers
from storefront.product_files.creating import insert_products
from storefront.product_files.dialect import dialect
from storefront.product_files.joining import PendingVariants
from storefront.product_files.journal import Journal, Kind, state_of
from storefront.product_files.matches import Match
from storefront.product_files.matching import Matcher, link
from storefront.product_files.new_rows import NewTables
from storefront.product_files.outcomes import Outcome, Update, paired_updates, sort, states_variants_alone
from storefront.product_files.parsed_products import Failure, Notice, ParsedProduct, Problem, ReadResult
from storefront.product_files.product_writes import ProductWrites
from storefront.product_files.references import References
from storefront.product_files.related import PendingRelations, resolve_related
from storefront.product_files.reports import MAX_REPORT_SIZE, MAX_REPORTED, Change, Report
from storefront.product_files.spool import Spool
from storefront.product_files.updating import update_product
from storefront.product_files.variant_matching import link_variants
from storefront.shops.changes import publish_change
from storefront.shops.models import Shop


@dataclass
class ImportRun:
    """A running import. `file` is its reference in the stock ledger.

    While an update is compared, `spool` takes the products that are new or differ. They are imported afterwards.
    """

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
    journal: Journal | None = None
    spool: Spool | None = None

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
            if self.journal:
                self.journal.clear()
            if len(batch) == 1:
                self.fail([_refusal(batch[0], error)])
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
        with transaction.atomic(), stock_changes(StockKind.IMPORTED, reference=self.file, now=self.now):
            tree.lock(self.shop)
            outcome = self._apply(batch)
            if self.journal:
                self._keep_journal(self.journal, outcome)
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
                (parsed, _("%(product)s is in the shop already") % {"product": match.variant or match.product})
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

    def _keep_journal(self, journal: Journal, outcome: Outcome) -> None:
        """Write what this batch changed and created, in its transaction."""
        journal.add_created(outcome.created_ids)
        for kind, id, name in self.references.take_created():
            journal.add(Kind(kind), [id], {"name": name})
        journal.write()

    def _update(self, updates: list[Update], outcome: Outcome) -> None:
        # Sale periods begin and end while a long import runs. From here on they wait, since the products are locked.
        prices_at = self.now + timedelta(seconds=time.monotonic() - self.started)
        self.baselines.clear()
        new_pictures: list[tuple[int, str]] = []
        journal = self.journal
        # As for new products, events are recorded only if the shop has an app.
        emits = self.write and events.has_apps(self.shop)
        writes = ProductWrites(self.shop)
        for each in updates:
            before = state_of(each.existing) if journal else {}
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
                writes=writes,
                emits=emits,
                effects=None if self.write else outcome.effects,
            )
            if changes:
                outcome.updated.append((each.parsed, each.existing.product.slug, changes))
                if journal and journal.changing(before):
                    writes.flush()
                    journal.compare()
            else:
                outcome.skipped.append((each.parsed, _("%(product)s does not differ") % {"product": each.found}))
        writes.flush()
        if journal:
            journal.compare()
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
        of_variants = link_variants(self.shop, source, outcome.variant_links)
        if self.journal:
            for external, id in ids[len(outcome.created) :]:
                self.journal.add(Kind.LINKED, [id], {"source": source.pk, "external_id": external})
            for external, id in of_variants:
                self.journal.add(Kind.VARIANT_LINKED, [id], {"source": source.pk, "external_id": external})

    def _count(self, outcome: Outcome) -> None:
        report, matched = self.report, outcome.matched
        self.matcher.remember(outcome.created, outcome.created_ids, outcome.matched)
        if not self.write:
            report.impact.created += len(outcome.created)
            for effect in outcome.effects:
                report.impact.add(effect)
        if self.spool:
            outcome.put_aside(self.spool)
        report.created += len(outcome.created)
        report.updated += len(outcome.updated)
        report.skipped += len(outcome.skipped)
        report.conflicts += len(outcome.conflicts)
        self.pending.add(
            (match.product.id, bool(match.variant) or states_variants_alone(parsed), parsed)
            for parsed, match in outcome.pending
            if match.product
        )
        self._keep_related(outcome)
        for parsed in outcome.unreadable:
            self.fail(parsed.problems)
        for parsed in outcome.refused:
            lines = [variant.line for variant in parsed.variants or ()] or [parsed.line]
            reason = parsed.refusal_if_new
            if parsed.as_variant and parsed.keys.sku:
                reason = _("no product or variant has the SKU %(sku)s, and %(reason)s") % {
                    "sku": parsed.keys.sku,
                    "reason": reason,
                }
            self.fail([Problem(line, "", reason, key=str(parsed.keys)) for line in lines], len(lines))
        for parsed, reason in outcome.conflicts:
            for line, key in parsed.joined_rows or [(parsed.line, str(parsed.keys))]:
                self._add_problem(Problem(line, "", reason, "conflict", key))
        for parsed, reason in outcome.skipped:
            self._add_problem(Problem(parsed.line, "", reason, "skipped", str(parsed.keys)))
        self._add_changes(outcome)
        self._warn(outcome, matched)

    def _warn(self, outcome: Outcome, matched: list[tuple[ParsedProduct, Match]]) -> None:
        """Report the warnings of products that were imported, and once in this import those of each column. These are
        also of `matched` products that an update imports later, so that they name the first row."""
        for parsed in outcome.created:
            self.report_problems([*parsed.warnings, *parsed.new_warnings])
        for parsed, _matched, _changed in outcome.updated:
            self.report_problems(parsed.warnings)
        for warning in (each for parsed, _unused in matched if self.update for each in parsed.update_warnings):
            # Once for each column in this import.
            if (warning.column, warning.reason) not in self.warned:
                self.warned.add((warning.column, warning.reason))
                self._add_problem(warning)

    def _keep_related(self, outcome: Outcome) -> None:
        # Products that a dry run would create have no ids.
        ids = outcome.created_ids or [-parsed.line for parsed in outcome.created]
        updated = {parsed.line for parsed, _matched, _changed in outcome.updated}
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
            journal=self.journal,
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


def _refusal(parsed: ParsedProduct, error: DataError | IntegrityError | InvalidValue) -> Problem:
    if isinstance(error, InvalidValue):
        return Problem(parsed.line, "", str(error), key=str(parsed.keys))
    found = refused(error)
    return Problem(
        parsed.line,
        found.field,
        _("cannot be stored: expected %(expected)s") % {"expected": found.expected},
        key=str(parsed.keys),
    )
