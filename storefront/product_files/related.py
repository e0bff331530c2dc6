"""Up-sells and cross-sells of imported products. A file can refer to products further down, so the references are
stored on disk and looked up when the file has been read."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from django.db import transaction
from django.utils.translation import gettext as _

from storefront.catalogue import tree
from storefront.catalogue.models import Product, RelatedProduct, Variant
from storefront.catalogue.parsing import quoted
from storefront.product_files.journal import Journal, Kind
from storefront.product_files.matching import products_by
from storefront.product_files.native.members import RELATED
from storefront.product_files.parsed_products import ParsedProduct, Problem
from storefront.product_files.row_store import temporary_database
from storefront.shops.models import Shop

CHUNK_PRODUCTS = 500


# The line and the count (created, updated, skipped) of each product's list, by product and kind.
Stated = dict[tuple[int, str], tuple[int, str]]


class _Reference(NamedTuple):
    product: int
    kind: str
    line: int
    header: str
    place: int
    column: str
    value: str


@dataclass(slots=True)
class RelatedChange:
    """A product of which a file changes the related products: {member: [slugs before, slugs after]}."""

    line: int
    slug: str
    # The import's count of the product so far: created, updated or skipped.
    counted: str
    fields: dict[str, list[Any]] = field(default_factory=dict)


class PendingRelations(AbstractContextManager["PendingRelations"]):
    """The related products that a file states, on disk, with the ids of the file's own products by key."""

    def __init__(self) -> None:
        self._database = temporary_database(
            "CREATE TABLE known (name TEXT, value TEXT, id INTEGER, PRIMARY KEY (name, value, id)) WITHOUT ROWID;"
            "CREATE TABLE stated (product INTEGER, kind TEXT, line INTEGER, counted TEXT, PRIMARY KEY (product, kind))"
            " WITHOUT ROWID;"
            "CREATE TABLE reference (product INTEGER, kind TEXT, line INTEGER, header TEXT, place INTEGER,"
            " name TEXT, value TEXT);"
            "CREATE INDEX by_product ON reference (product, kind, line);"
        )

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def add(self, products: Iterable[tuple[ParsedProduct, int]], *, counted: str, keep: bool = False) -> None:
        """Add products of the file, each with its id, that were `counted` as created, updated or skipped. With `keep`,
        they keep the related products that they have, but others can refer to them."""
        known: list[tuple[str, str, int]] = []
        for parsed, id in products:
            if parsed.related:
                keys = parsed.keys
                values = {"external_id": keys.external_id, "slug": keys.slug, "sku": keys.sku}
                known += [(name, str(value), id) for name, value in values.items() if value]
                if not keep:
                    self._state(parsed, id, counted)
        self._database.executemany("INSERT OR IGNORE INTO known VALUES (?, ?, ?)", known)

    def _state(self, parsed: ParsedProduct, id: int, counted: str) -> None:
        for kind, related in parsed.related.items():
            if counted == "created" and not related.keys:
                continue
            # The later of two rows for one product counts.
            self._database.execute(
                "INSERT INTO stated VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET line = excluded.line",
                (id, kind, parsed.line, counted),
            )
            self._database.executemany(
                "INSERT INTO reference VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (id, kind, parsed.line, related.header, place, name, str(value))
                    for place, (name, value) in enumerate(related.keys)
                ],
            )

    def chunks(self) -> Iterator[Stated]:
        """Yields the lists in the file, some products at a time."""
        # Products of a dry run that do not exist yet have negative ids.
        last = -(1 << 62)
        while True:
            ids = self._database.execute(
                "SELECT DISTINCT product FROM stated WHERE product > ? ORDER BY product LIMIT ?", (last, CHUNK_PRODUCTS)
            ).fetchall()
            if not ids:
                return
            (first,), (last,) = ids[0], ids[-1]
            rows = self._database.execute(
                "SELECT product, kind, line, counted FROM stated WHERE product BETWEEN ? AND ?", (first, last)
            )
            yield {(product, kind): (line, counted) for product, kind, line, counted in rows}

    def references(self, stated: Iterable[tuple[int, str]]) -> list[tuple[_Reference, set[int]]]:
        """The references in these lists, each with the ids of the file's products that it names, in order."""
        products = [product for product, _unused in stated]
        rows = self._database.execute(
            "SELECT r.product, r.kind, r.line, r.header, r.place, r.name, r.value, k.id FROM stated s"
            " JOIN reference r USING (product, kind, line)"
            " LEFT JOIN known k ON k.name = r.name AND k.value = r.value"
            " WHERE s.product BETWEEN ? AND ? ORDER BY r.product, r.kind, r.place",
            (min(products), max(products)),
        )
        return [
            (reference, {row[-1] for row in group} - {None})
            for reference, group in groupby(rows, key=lambda row: _Reference(*row[:-1]))
        ]


def resolve_related(
    *,
    shop: Shop,
    pending: PendingRelations,
    by_source_id: Callable[[set[int]], dict[int, int]],
    write: bool,
    journal: Journal | None = None,
    on_problem: Callable[[Problem], None],
) -> Iterator[RelatedChange]:
    """Store the related products that the file states, and return the changes.

    `by_source_id` returns the ids of existing products by those of the file's source. A name that no product has, or
    several, is a warning. Without `write`, only compares; products that do not exist yet have negative ids.
    """
    for stated in pending.chunks():
        wanted = _wanted(shop, pending.references(stated), stated, by_source_id, on_problem)
        with transaction.atomic():
            if write:
                tree.lock(shop)
            changes = _apply(shop, stated, wanted, write=write, journal=journal)
        yield from changes


def _wanted(
    shop: Shop,
    references: list[tuple[_Reference, set[int]]],
    stated: Stated,
    by_source_id: Callable[[set[int]], dict[int, int]],
    on_problem: Callable[[Problem], None],
) -> dict[tuple[int, str], list[int]]:
    existing = _existing(shop, {(each.column, each.value) for each, ids in references if not ids}, by_source_id)
    wanted: dict[tuple[int, str], list[int]] = {key: [] for key in stated}
    for reference, ids in references:
        found = ids or existing.get((reference.column, reference.value), set())
        listed = wanted[reference.product, reference.kind]
        if reason := _problem(reference, found):
            on_problem(Problem(reference.line, reference.header, reason, "warning"))
        elif (id := next(iter(found))) not in listed:
            listed.append(id)
    return wanted


def _problem(reference: _Reference, found: set[int]) -> str:
    name = quoted(f"id:{reference.value}" if reference.column == "external_id" else reference.value)
    if not found:
        return _("%(name)s is not a product in the file or the shop; ignored") % {"name": name}
    if len(found) > 1:
        text = _("%(name)s is the %(key)s of %(count)s products; ignored")
        return text % {"name": name, "key": _WORDS.get(reference.column, _("key")), "count": len(found)}
    return _("%(name)s is the product itself; ignored") % {"name": name} if reference.product in found else ""


_WORDS = {"sku": "SKU", "external_id": "ID"}


def _existing(
    shop: Shop, keys: set[tuple[str, str]], by_source_id: Callable[[set[int]], dict[int, int]]
) -> dict[tuple[str, str], set[int]]:
    """The ids of the shop's products by key; a SKU can be that of a variant."""
    values: dict[str, set[str]] = {"external_id": set(), "slug": set(), "sku": set()}
    for column, value in keys:
        values[column].add(value)
    found = {
        ("external_id", str(value)): {id} for value, id in by_source_id(set(map(int, values["external_id"]))).items()
    }
    for column in ("slug", "sku"):
        for value, product in products_by(shop, column, values[column]):
            found.setdefault((column, value), set()).add(product.id)
    skus = [value for value in values["sku"] if ("sku", value) not in found]
    variants = Variant.objects.filter(shop=shop, sku__in=skus, product__deleted_at=None)
    for value, id in variants.values_list("sku", "product_id") if skus else ():
        found.setdefault(("sku", value), set()).add(id)
    return found


def _apply(
    shop: Shop, stated: Stated, wanted: dict[tuple[int, str], list[int]], *, write: bool, journal: Journal | None
) -> list[RelatedChange]:
    products = {product for product, _unused in stated if product > 0}
    # Relations to deleted products are in no file. They stay in case the product is restored.
    rows = RelatedProduct.objects.filter(shop=shop, product_id__in=products, related_product__deleted_at=None)
    before: dict[tuple[int, str], list[RelatedProduct]] = {}
    for row in rows.order_by("sort_order", "pk"):
        before.setdefault((row.product_id, row.kind), []).append(row)
    different = {
        key: (before.get(key, []), ids)
        for key, ids in wanted.items()
        if key[0] > 0 and [row.related_product_id for row in before.get(key, [])] != ids
    }
    if write and different:
        gone = [row.pk for rows, _unused in different.values() for row in rows]
        RelatedProduct.objects.filter(shop=shop, pk__in=gone).delete()
        RelatedProduct.objects.bulk_create(
            RelatedProduct(shop=shop, product_id=product, kind=kind, related_product_id=id, sort_order=order)
            for (product, kind), (_unused, ids) in different.items()
            for order, id in enumerate(ids)
        )
        if journal:
            for (product, kind), (old, new) in different.items():
                if stated[product, kind][1] != "created":
                    journal.add(Kind.RELATED, [product], {kind: [[row.related_product_id for row in old], new]})
            journal.write()
    return _changes(shop, stated, different) if different else []


def _changes(
    shop: Shop,
    stated: Stated,
    different: dict[tuple[int, str], tuple[list[RelatedProduct], list[int]]],
) -> list[RelatedChange]:
    ids = {id for (product, _unused), (rows, new) in different.items() for id in (product, *new)}
    ids |= {row.related_product_id for rows, _unused in different.values() for row in rows}
    slugs = dict(Product.objects.filter(shop=shop, pk__in=ids).values_list("pk", "slug"))
    changes: dict[int, RelatedChange] = {}
    for (product, kind), (rows, new) in different.items():
        line, counted = stated[product, kind]
        change = changes.setdefault(product, RelatedChange(line, slugs.get(product, ""), counted))
        old = [slugs.get(row.related_product_id) for row in rows]
        change.fields[RELATED[kind]] = [old, [slugs.get(id) for id in new]]
    return list(changes.values())
