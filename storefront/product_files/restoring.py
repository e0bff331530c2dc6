"""Puts one product back to what it was before an import: all of it, or nothing.

`obstacle` compares each value that the import changed with the value now, and returns why the product stays as it is.
What the import did not touch may have changed, and stays. These are no obstacles:

- stock that was sold or returned since: the difference that the import made is taken back;
- a sale price that began or ended since: prices are compared as they are at this moment;
- a picture that was fetched since.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.catalogue.dated import sale_periods
from storefront.catalogue.models import Media, Product, RelatedProduct, StockAdjustment, Variant
from storefront.kit.plain_names import plain_name
from storefront.product_files.existing import ExistingProduct
from storefront.product_files.journal import TABLES, rows_of
from storefront.shops.models import Shop

StockKind = StockAdjustment.Kind
# Columns that follow from others, so that they are restored and not compared.
_DERIVED = {"sort_name", "published_on"}
_OF_FILE = ("file", "width", "height")
_STOCKS = ("stock_qty", "damaged_qty")
# The order in which rows that an import added are removed again: those that refer to others first.
_REMOVAL = [name for name in reversed(TABLES) if name != "product"]
# Rows that may be removed with a variant.
_LOST_WITH_VARIANT = {
    "carts.CartLine",
    "catalogue.ExternalVariantId",
    "catalogue.PastPrice",
    "catalogue.StockAdjustment",
}
# What changed, in words for people, by table.
_CHANGED = {
    "media": _lazy("its pictures changed since"),
    "options": _lazy("its options changed since"),
    "values": _lazy("its options changed since"),
    "variants": _lazy("its variants changed since"),
    "categories": _lazy("its categories changed since"),
    "bundle_items": _lazy("its bundle changed since"),
}

Content = dict[str, Any]
Related = dict[str, list[list[int]]]


def obstacle(
    shop: Shop,
    existing: ExistingProduct,
    content: Content,
    related: Related,
    *,
    sold_variants: Callable[[Iterable[int]], set[int]],
    now: datetime,
) -> str:
    """Return the reason why the import's changes of this product cannot be taken back; empty if they can."""
    if existing.product.deleted_at:
        return _("it was deleted since")
    rows = rows_of(existing)
    for name, parts in content.items():
        found = {row.pk: row for row in rows[name]}
        if "all" in parts and sorted(found) != parts["all"]:
            return str(_CHANGED[name])
        for _id, row, values in _pairs(parts.get("changed", {}), found):
            if row is None:
                return str(_CHANGED[name])
            if column := _changed_since(shop, name, row, {key: each[1] for key, each in values.items()}, now):
                of = f"{row.name}: " if isinstance(row, Variant) else ""
                text = _("%(column)s changed since") if of else _("its %(column)s changed since")
                return of + text % {"column": _(plain_name(column.removesuffix("_id")))}
        for _id, row, values in _pairs(parts.get("added", {}), found):
            if row is None or _changed_since(shop, name, row, values, now):
                return str(_CHANGED[name])
            if name == "variants" and (use := _use_of(row, sold_variants)):
                return use
    for kind, (_before, after) in related.items():
        if [id for id, _order in existing.related.get(kind, ())] != _living(shop, after):
            return _("its related products changed since")
    return _missing(shop, content)


def restore(
    shop: Shop, existing: ExistingProduct, content: Content, related: Related, now: datetime
) -> list[tuple[int, str]]:
    """Put the values back, within the caller's transaction. Returns ids and addresses of pictures to fetch again.

    Raises IntegrityError if a value is taken by now, such as a slug."""
    rows = rows_of(existing)
    for name in _REMOVAL:
        ids = [int(id) for id in content.get(name, {}).get("added", {})]
        if ids:
            TABLES[name].objects.filter(shop=shop, pk__in=ids).delete()
    wanted: list[tuple[int, str]] = []
    for name, model in TABLES.items():
        removed = content.get(name, {}).get("removed", {})
        restored = [_row(model, shop, int(id), values, now) for id, values in removed.items()]
        model.objects.bulk_create(restored)
        if model is Media:
            wanted = [(row.pk, row.source_url) for row in restored if row.source_url and not row.file]
    for name in [*(name for name in TABLES if name != "product"), "product"]:
        found = {row.pk: row for row in rows[name]}
        for _id, row, values in _pairs(content.get(name, {}).get("changed", {}), found):
            _write(name, row, values, now)
    for kind, (before, after) in related.items():
        listed = {*before, *after}
        RelatedProduct.objects.filter(
            shop=shop, product=existing.product.pk, kind=kind, related_product__in=listed
        ).delete()
        RelatedProduct.objects.bulk_create(
            RelatedProduct(
                shop=shop, product_id=existing.product.pk, kind=kind, related_product_id=id, sort_order=order
            )
            for order, id in enumerate(before)
        )
    Product.objects.filter(shop=shop, pk=existing.product.pk).update(updated_at=now)
    return wanted


def _write(table: str, row: Any, values: dict[str, list[Any]], now: datetime) -> None:
    before = _parsed(type(row), {name: each[0] for name, each in values.items()})
    for name in _STOCKS:
        if name in values:
            # Sales since stay taken.
            before[name] = getattr(row, name) + values[name][0] - values[name][1]
    if "sale_price" in before:
        before |= _settled(before, now)
    if hasattr(row, "updated_at"):
        before["updated_at"] = now
    # By `update`, so that a picture's file is not opened for its size.
    type(row).objects.filter(pk=row.pk).update(**before)


def _row(model: Any, shop: Shop, id: int, values: dict[str, Any], now: datetime) -> Any:
    parsed = _parsed(model, values)
    if "sale_price" in parsed:
        parsed |= _settled(parsed, now)
    if any(field.attname == "updated_at" for field in model._meta.concrete_fields):
        parsed["updated_at"] = now
    return model(shop=shop, **{**parsed, "id": id})


def _changed_since(shop: Shop, table: str, row: Any, after: dict[str, Any], now: datetime) -> str:
    """The first column of the row that differs from what the import left."""
    expected = _parsed(type(row), after)
    ignored = set(_DERIVED)
    if isinstance(row, Media) and not expected.get("file", row.file):
        ignored |= set(_OF_FILE)
    if "sale_price" in expected:
        actual = _settled({name: getattr(row, name) for name in sale_periods.COLUMNS}, now)
        expected |= _settled(expected, now)
    else:
        actual = {}
    for name, value in expected.items():
        present = actual.get(name, getattr(row, name))
        if name in ignored or present == value:
            continue
        if name in _STOCKS and _only_sold(shop, table, row, name, value):
            continue
        return name
    return ""


def _use_of(variant: Variant, sold_variants: Callable[[Iterable[int]], set[int]]) -> str:
    """Return what became of a variant that the import added, and that would be lost with it: a sale, a price of a
    customer group, a file. Carts lose it as they do when the admin removes it."""
    if sold_variants([variant.pk]):
        return _("its variant %(name)s was sold since") % {"name": variant.name}
    for relation in Variant._meta.related_objects:
        rows: Any = relation.related_model
        is_lost = relation.on_delete in (models.CASCADE, models.PROTECT) and rows._meta.label not in _LOST_WITH_VARIANT
        if is_lost and rows._default_manager.filter(**{relation.field.name: variant}).exists():
            return _("its variant %(name)s has a %(what)s since") % {
                "name": variant.name,
                "what": rows._meta.verbose_name,
            }
    return ""


def _only_sold(shop: Shop, table: str, row: Any, column: str, after: int) -> bool:
    """Returns True if the stock was only sold and returned since the import left it at `after`."""
    product, variant = (row.product_id, row.pk) if table == "variants" else (row.pk, None)
    changes = StockAdjustment.objects.filter(
        shop=shop, product=product, variant=variant, of_damaged=column == "damaged_qty"
    ).order_by("-id")
    for kind, stock in changes.values_list("kind", "stock_after").iterator(chunk_size=100):
        if kind in (StockKind.IMPORTED, StockKind.CREATED) and stock == after:
            return True
        if kind not in (StockKind.SOLD, StockKind.RETURNED):
            return False
    return False


def _settled(values: dict[str, Any], now: datetime) -> dict[str, Any]:
    """The prices of a row at this time."""
    row = SimpleNamespace(**{name: values[name] for name in sale_periods.COLUMNS})
    sale_periods.settle(row, now)
    return vars(row)


def _parsed(model: Any, values: dict[str, Any]) -> dict[str, Any]:
    fields = {field.attname: field for field in model._meta.concrete_fields}
    return {name: fields[name].to_python(value) for name, value in values.items() if name != "id"}


def _pairs(stored: dict[str, Any], found: dict[int, Any]) -> Iterator[tuple[int, Any, Any]]:
    """Each id with the row that has it now, or None, and the stored values."""
    for id, values in stored.items():
        yield int(id), found.get(int(id)), values


def _living(shop: Shop, ids: list[int]) -> list[int]:
    living = set(Product.objects.filter(shop=shop, pk__in=ids, deleted_at=None).values_list("pk", flat=True))
    return [id for id in ids if id in living]


def _missing(shop: Shop, content: Content) -> str:
    """A sentence part if a category, brand or product that the values before refer to is gone."""
    wanted: dict[Any, set[int]] = {}
    for name, parts in content.items():
        before = [{key: each[0] for key, each in values.items()} for values in parts.get("changed", {}).values()]
        for values in [*before, *parts.get("removed", {}).values()]:
            for field in TABLES[name]._meta.concrete_fields:
                if isinstance(field, models.ForeignKey) and values.get(field.attname) is not None:
                    wanted.setdefault(field.related_model, set()).add(values[field.attname])
    put_back = {TABLES[name]: {int(id) for id in parts.get("removed", {})} for name, parts in content.items()}
    for model, ids in wanted.items():
        ids -= put_back.get(model, set())
        if model.objects.filter(shop=shop, pk__in=ids).count() < len(ids):
            return _("a %(what)s that it had is gone") % {"what": model._meta.verbose_name}
    return ""
