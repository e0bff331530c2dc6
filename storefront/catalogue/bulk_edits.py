"""Changes many products at once: prices, stock, status, categories. Applies exactly the change that was shown before,
to all of them or to none."""

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from django.db import transaction
from django.db.models import QuerySet
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.catalogue.actions import update_product
from storefront.catalogue.dated import sale_periods
from storefront.catalogue.digital_files import without_file
from storefront.catalogue.inventory.ledger import Author, Kind, stock_changes
from storefront.catalogue.models import Category, Product, Variant
from storefront.catalogue.rules import full_name
from storefront.kit.money import CENT, quantize
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.shops.models import Shop

# Products that one edit can change, since it is one transaction.
MAX_PRODUCTS = 500


class TooManyProducts(Refusal):
    code, field = "too_many_products", "products"
    message = format_lazy(_lazy("Choose at most {count} products at once."), count=MAX_PRODUCTS)


class ChangedSince(Refusal):
    code, field = "changed_since", "products"
    message = _lazy("Something has changed since this was shown. Nothing was done; please look again.")


class EditRefused(Refusal):
    """One of the products cannot be changed in this way. The message names it."""

    code, field = "edit_refused", "products"


@dataclass(frozen=True, kw_only=True)
class BulkEdit:
    """The requested changes; None and empty change nothing. `percent` and `by` are relative, and can be negative."""

    price: tuple[Literal["set", "percent", "by"], Decimal] | None = None
    stock: tuple[Literal["set", "by"], int] | None = None
    status: str = ""
    add_category: Category | None = None
    remove_category: Category | None = None


@dataclass
class Edited:
    """The planned change of one product: `changes` for `update_product`, and `lines` that describe them to people as
    (what, of which variant, before, after)."""

    product: Product
    changes: dict[str, Any] = field(default_factory=dict)
    lines: list[tuple[str, str, str, str]] = field(default_factory=list)


def plan_edit(shop: Shop, products: QuerySet[Product], edit: BulkEdit) -> list[Edited]:
    """Plan the edit for these products. Leaves out products that would not change, and deleted ones.

    Raises TooManyProducts, and EditRefused for a price or a stock below zero.
    """
    found = list(
        products.filter(shop=shop, deleted_at=None)
        .order_by("pk")
        .prefetch_related("variants", "categories")[: MAX_PRODUCTS + 1]
    )
    if len(found) > MAX_PRODUCTS:
        raise TooManyProducts
    planned = [_edited(product, edit, shop.currency) for product in found]
    if edit.status == Product.Status.ACTIVE:
        lacking = without_file(shop, [each.product.pk for each in planned if "status" in each.changes])
        if lacking:
            names = ", ".join(product.name for product in lacking)
            raise EditRefused(_("Buyers would not get a file: %(names)s.") % {"names": names})
    return [each for each in planned if each.changes]


def digest_of(planned: Collection[Edited]) -> str:
    """A digest of the planned changes, which differs for any other plan."""
    contents = [(each.product.pk, each.lines) for each in planned]
    return hashlib.sha256(repr(contents).encode()).hexdigest()


@transaction.atomic
def apply_edit(
    *, shop: Shop, products: QuerySet[Product], edit: BulkEdit, digest: str, author: Author, now: datetime
) -> int:
    """Apply the edit that `plan_edit` returned with this digest. Returns how many products were changed.

    Raises ChangedSince if the plan has changed since, EditRefused, and what `plan_edit` raises.
    """
    ids = list(products.filter(shop=shop).order_by("pk").values_list("pk", flat=True)[: MAX_PRODUCTS + 1])
    # Products before their variants, each in the order of their ids, as sales lock them.
    rows = Product.objects.filter(shop=shop, pk__in=ids)
    list(rows.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
    variants = Variant.objects.filter(shop=shop, product__in=ids).select_for_update(no_key=True).order_by("pk")
    list(variants.values_list("pk", flat=True))
    planned = plan_edit(shop, rows, edit)
    if digest_of(planned) != digest:
        raise ChangedSince
    with stock_changes(Kind.EDITED, author=author, now=now):
        for each in planned:
            try:
                update_product(shop=shop, product=each.product, now=now, **each.changes)
            except InvalidFields as refusal:
                texts = [text for all_texts in (refusal.errors or {}).values() for text in all_texts]
                raise EditRefused(f"{each.product.name}: {' '.join(texts)}") from None
    return len(planned)


def _edited(product: Product, edit: BulkEdit, currency: str) -> Edited:
    edited = Edited(product)
    entries: dict[int, dict[str, Any]] = {}
    changes: list[tuple[Product | Variant, str, Any, Any]] = [
        *_prices(product, edit, currency),
        *_stocks(product, edit),
    ]
    for row, name, before, after in changes:
        if after == before:
            continue
        if after < 0:
            raise EditRefused(
                _("%(product)s: the %(value)s would be below zero.")
                % {"product": full_name(product.name, _variant_name(row)), "value": name}
            )
        column = "price" if name == "price" else "stock_qty"
        if isinstance(row, Variant):
            entries.setdefault(row.pk, {"id": row.pk})[column] = after
        else:
            edited.changes[column] = after
        edited.lines.append((name, _variant_name(row), str(before), str(after)))
    if entries:
        edited.changes["variants"] = list(entries.values())
    if edit.status and edit.status != product.status:
        edited.changes["status"] = edit.status
        after_status = Product.Status(edit.status).label
        edited.lines.append(("status", "", str(product.get_status_display()), str(after_status)))
    _edit_categories(edited, edit)
    return edited


def _variant_name(row: Product | Variant) -> str:
    return row.name if isinstance(row, Variant) else ""


def _prices(
    product: Product, edit: BulkEdit, currency: str
) -> Iterator[tuple[Product | Variant, str, Decimal, Decimal]]:
    if edit.price is None:
        return
    variants = list(product.variants.all())
    # The product's own price is 0 if each variant has a price.
    rows: list[Product | Variant] = [*([product] if product.price or not variants else []), *variants]
    for row in rows:
        if sale_periods.holds(row):
            raise EditRefused(f"{full_name(product.name, _variant_name(row))}: {sale_periods.PRICE_HOLDS}")
        yield row, "price", row.price, _price_after(row.price, *edit.price, currency)


def _price_after(price: Decimal, how: str, number: Decimal, currency: str) -> Decimal:
    if how == "percent":
        return quantize(price * (100 + number) / 100, currency)
    return (number if how == "set" else price + number).quantize(CENT)


def _stocks(product: Product, edit: BulkEdit) -> Iterator[tuple[Product | Variant, str, int, int]]:
    """The tracked stocks: those of the variants of a product with variants, else its own."""
    if edit.stock is None:
        return
    how, number = edit.stock
    rows: list[Product | Variant] = [*product.variants.all()]
    for row in rows or [product]:
        if row.track_inventory:
            yield row, "stock", row.stock_qty, number if how == "set" else row.stock_qty + number


def _edit_categories(edited: Edited, edit: BulkEdit) -> None:
    before = {category.pk: category.name for category in edited.product.categories.all()}
    after = dict(before)
    if edit.add_category is not None:
        after[edit.add_category.pk] = edit.add_category.name
    if edit.remove_category is not None:
        after.pop(edit.remove_category.pk, None)
    if after.keys() != before.keys():
        edited.changes["categories"] = list(after)
        was, becomes = (", ".join(sorted(each.values())) or "none" for each in (before, after))
        edited.lines.append(("categories", "", was, becomes))
