"""The batches of undoing an import: first the products that it changed, then those that it created, then its categories
and brands. Each is one transaction under the shop's lock, as those of imports are."""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import nullcontext
from datetime import datetime
from typing import Any

from django.apps import apps
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from storefront.catalogue import events, search_index, tree
from storefront.catalogue.inventory.ledger import Kind as StockKind
from storefront.catalogue.inventory.ledger import stock_changes
from storefront.catalogue.models import BundleItem, Category, Product, ProductSearch, StockAdjustment
from storefront.pictures.requesting import PictureRequests
from storefront.product_files.existing import ExistingProduct, existing_products
from storefront.product_files.models import ExternalId, ExternalVariantId, ImportedChange, ProductImport
from storefront.product_files.references import MODELS
from storefront.product_files.restoring import obstacle, restore
from storefront.shops.audit_models import AuditEntry
from storefront.shops.changes import publish_change
from storefront.shops.models import Shop

BATCH_PRODUCTS = 100
STOCK_REASON = "Import undone"
MAX_REASON_LENGTH = 300
Kind = ImportedChange.Kind
Outcome = ImportedChange.Outcome
OF_PRODUCTS = (Kind.UPDATED, Kind.RELATED)
OF_LINKS: dict[Kind, tuple[Any, str]] = {
    Kind.LINKED: (ExternalId, "product"),
    Kind.VARIANT_LINKED: (ExternalVariantId, "variant"),
}
CREATED_ROWS: dict[Kind, Any] = {Kind.CATEGORY: Category, **{Kind(name): model for name, model in MODELS.items()}}
# The reason why each object stays as it is, by its id; empty if it was undone.
Verdicts = dict[int, str]


def undo_batches(
    shop: Shop, row: ProductImport, now: datetime, *, write: bool = True
) -> Iterator[tuple[int, Verdicts]]:
    """Undo the import, batch by batch. Yields how many objects were looked at so far, and the batch's verdicts.

    Without `write`, only finds the verdicts. Links to ids of a source have none.
    """
    undoing = _Undoing(shop, row, now, write)
    looked_at = 0
    for kinds, undo in undoing.steps():
        last: int | None = None
        while True:
            with transaction.atomic() if write else nullcontext():
                if write:
                    tree.lock(shop)
                rows = _next(shop, row, kinds, last)
                if not rows:
                    break
                last = min(each.object_id for each in rows)
                verdicts = undo(rows)
                if write:
                    _record(rows, verdicts)
                    publish_change(shop.pk)
            looked_at += len(verdicts)
            yield looked_at, {} if kinds[0] in OF_LINKS else verdicts


def _next(shop: Shop, row: ProductImport, kinds: Collection[Kind], last: int | None) -> list[ImportedChange]:
    """The rows of the next objects, the newest first: a bundle before its items, a category before its parents."""
    rows = ImportedChange.objects.filter(shop=shop, product_import=row.pk, kind__in=kinds, outcome=Outcome.KEPT)
    if last is not None:
        rows = rows.filter(object_id__lt=last)
    ids = rows.order_by("-object_id").values_list("object_id", flat=True).distinct()[:BATCH_PRODUCTS]
    return list(rows.filter(object_id__in=list(ids)).order_by("object_id", "pk"))


def _record(rows: list[ImportedChange], verdicts: Verdicts) -> None:
    for row in rows:
        row.reason = verdicts[row.object_id][:MAX_REASON_LENGTH]
        row.outcome = Outcome.LEFT if row.reason else Outcome.UNDONE
    ImportedChange.objects.bulk_update(rows, ["outcome", "reason"])


class _Stays(Exception):
    """Rolls back the changes of a product that stays as it is."""


class _Undoing:
    """The steps of undoing one import. Each takes rows of the journal and returns their verdicts."""

    def __init__(self, shop: Shop, row: ProductImport, now: datetime, write: bool) -> None:
        self.shop, self.row, self.now, self.write = shop, row, now, write

    def steps(self) -> list[tuple[tuple[Kind, ...], Callable[[list[ImportedChange]], Verdicts]]]:
        return [
            (OF_PRODUCTS, self._restore),
            ((Kind.CREATED,), self._delete),
            ((Kind.LINKED,), self._unlink),
            ((Kind.VARIANT_LINKED,), self._unlink),
            *(((kind,), self._remove) for kind in CREATED_ROWS),
        ]

    def _restore(self, rows: list[ImportedChange]) -> Verdicts:
        by_product: dict[int, list[ImportedChange]] = {}
        for row in rows:
            by_product.setdefault(row.object_id, []).append(row)
        found = existing_products(self.shop, list(by_product), lock=self.write)
        verdicts = {}
        for id, changes in by_product.items():
            verdicts[id] = self._restore_one(found[id], changes) if id in found else _("a product that is gone")
        if self.write:
            search_index.write_texts(self.shop, [id for id, reason in verdicts.items() if not reason])
        return verdicts

    def _restore_one(self, existing: ExistingProduct, changes: list[ImportedChange]) -> str:
        """Take back the changes of one product, the last first, all of them or none."""
        product = existing.product
        reason = self._obstacle(existing, changes[-1])
        if not reason and self.write:
            try:
                with transaction.atomic(), self._emitting(product.pk), self._stock():
                    for change in reversed(changes):
                        if change is not changes[-1]:
                            # An import that was interrupted and ran again can change a product twice.
                            existing = existing_products(self.shop, [product.pk])[product.pk]
                            reason = self._obstacle(existing, change)
                        if reason:
                            raise _Stays
                        self._take_back(existing, change)
            except IntegrityError:
                # Such as a slug that another product has now, or stock that would fall below zero.
                reason = _("a value that it had cannot be restored any more")
            except _Stays:
                pass
        return f"{product.name}: {reason}" if reason else ""

    def _obstacle(self, existing: ExistingProduct, change: ImportedChange) -> str:
        content, related = _contents(change)
        return obstacle(self.shop, existing, content, related, sold_variants=self._sold_variants, now=self.now)

    def _take_back(self, existing: ExistingProduct, change: ImportedChange) -> None:
        wanted = restore(self.shop, existing, *_contents(change), self.now)
        if wanted and self.row.fetch_pictures:
            PictureRequests(self.shop, self.now, self.row.pk).insert(wanted)

    def _delete(self, rows: list[ImportedChange]) -> Verdicts:
        """Delete products that the import created, as the admin does."""
        ids = [row.object_id for row in rows]
        products = Product.objects.filter(shop=self.shop, pk__in=ids).order_by("pk")
        if self.write:
            products = products.select_for_update(no_key=True)
        names = {product.pk: product for product in products.only("name", "deleted_at")}
        reasons = self._reasons_to_keep(ids)
        verdicts = {}
        for id in ids:
            gone = id not in names or names[id].deleted_at
            reason = "" if gone else reasons.get(id, "")
            verdicts[id] = f"{names[id].name}: {reason}" if reason else ""
        going = [id for id in ids if id in names and not names[id].deleted_at and not verdicts[id]]
        if self.write and going:
            with self._emitting(*going):
                products.filter(pk__in=going).update(deleted_at=self.now, updated_at=self.now)
            ProductSearch.objects.filter(product__in=going).delete()
        return verdicts

    def _reasons_to_keep(self, ids: list[int]) -> Verdicts:
        """The reason for each of these new products that was sold or changed since.

        Every change of a product but those of the worker, such as a fetched picture, is in the audit log or in the
        journal of a later import."""
        found: Verdicts = {}
        later = ImportedChange.objects.filter(
            shop=self.shop, object_id__in=ids, kind__in=OF_PRODUCTS, product_import__gt=self.row.pk
        ).exclude(outcome=Outcome.UNDONE)
        entries = AuditEntry.objects.filter(shop=self.shop, object_type="product", object_id__in=ids).exclude(
            actor_kind=AuditEntry.Kind.WORKER
        )
        rows: Any
        for rows in (later, entries):
            found |= dict.fromkeys(rows.values_list("object_id", flat=True), _("it was changed since"))
        items = BundleItem.objects.filter(shop=self.shop, product__in=ids, bundle__deleted_at=None)
        items = items.exclude(bundle__in=[id for id in ids if id not in found])
        found |= dict.fromkeys(items.values_list("product_id", flat=True), _("it is part of a bundle"))
        taken = StockAdjustment.objects.filter(shop=self.shop, product__in=ids, kind=StockKind.SOLD)
        for sold in (taken, _order_lines(self.shop).filter(product__in=ids)):
            found |= dict.fromkeys(sold.values_list("product_id", flat=True), _("it was sold since"))
        return found

    def _unlink(self, rows: list[ImportedChange]) -> Verdicts:
        """Forget the source's ids that the import gave to products and variants which it did not create."""
        model, owner = OF_LINKS[Kind(rows[0].kind)]
        for row in rows if self.write else ():
            model.objects.filter(**row.content, **{owner: row.object_id}).delete()
        return dict.fromkeys((row.object_id for row in rows), "")

    def _remove(self, rows: list[ImportedChange]) -> Verdicts:
        """Remove categories, brands and the like that the import created, unless something uses them."""
        kind = Kind(rows[0].kind)
        model = CREATED_ROWS[kind]
        found = model.objects.filter(shop=self.shop).in_bulk([row.object_id for row in rows])
        verdicts = {}
        for row in reversed(rows):
            existing, reason = found.get(row.object_id), ""
            if existing is not None:
                reason = _use_of(existing, row.content)
                if not reason and self.write:
                    existing.delete()
            verdicts[row.object_id] = f"{kind.label} {existing}: {reason}" if reason else ""
        if self.write and model is Category:
            tree.renumber(self.shop)
        return verdicts

    def _emitting(self, *ids: int) -> Any:
        if not events.has_apps(self.shop):
            return nullcontext()
        return events.emitting_changes(self.shop, *ids, now=self.now)

    def _stock(self) -> Any:
        reference = self.row.file_name[:100]
        return stock_changes(StockKind.IMPORTED, reason=STOCK_REASON, reference=reference, now=self.now)

    def _sold_variants(self, ids: Iterable[int]) -> set[int]:
        taken = StockAdjustment.objects.filter(shop=self.shop, variant__in=list(ids), kind=StockKind.SOLD)
        lines = _order_lines(self.shop).filter(variant__in=list(ids))
        return {id for rows in (taken, lines) for id in rows.values_list("variant_id", flat=True)}


def _contents(change: ImportedChange) -> tuple[dict[str, Any], dict[str, Any]]:
    """The changes of the product's rows, and those of its related products."""
    return ({}, change.content) if change.kind == Kind.RELATED else (change.content, {})


def _order_lines(shop: Shop) -> Any:
    # By name, since orders are a room below this one: only whether a product has lines matters here.
    return apps.get_model("orders", "OrderLine")._default_manager.filter(shop=shop)


def _use_of(row: Any, content: dict[str, Any]) -> str:
    """The reason why a row that an import created stays: it was changed since, or something refers to it."""
    if row.name != content["name"] or getattr(row, "updated_at", None) != getattr(row, "created_at", None):
        return _("it was changed since")
    for relation in row._meta.related_objects:
        rows = relation.related_model._default_manager.filter(**{relation.field.name: row})
        if relation.related_model is Product:
            rows = rows.filter(deleted_at=None)
        elif any(each.name == "product" for each in relation.related_model._meta.fields):
            rows = rows.filter(product__deleted_at=None)
        if rows.exists():
            return _("something uses it")
    return ""
