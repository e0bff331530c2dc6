from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from storefront.catalogue import auditing, events
from storefront.catalogue.events import Snapshot
from storefront.catalogue.inventory import Item, item_id, stock_of
from storefront.catalogue.models import Product, StockAdjustment, Variant
from storefront.catalogue.parsing import LARGEST_INTEGER
from storefront.catalogue.stock import InsufficientStock
from storefront.kit.refusals import InvalidFields
from storefront.shops import audit
from storefront.shops.changes import publish_change
from storefront.shops.models import ApiToken, Shop, User

# The reason of adjustments by forms that do not ask for one.
BY_FORM = "Changed in the admin"


class BelowZero(InsufficientStock):
    """The adjustment would remove more units than there are."""

    field = "delta"


@dataclass(frozen=True, kw_only=True)
class Author:
    """Who adjusts stock. Exactly one of these is set."""

    installation_id: int | None = None
    token: ApiToken | None = None
    user: User | None = None


@dataclass(frozen=True)
class AdjustBy:
    """Add so many units; a negative number removes units."""

    units: int


@dataclass(frozen=True)
class AdjustTo:
    """Set the stock to so many units."""

    units: int


@transaction.atomic
def adjust_stock(
    *,
    shop: Shop,
    product_id: int,
    variant_id: int | None = None,
    change: AdjustBy | AdjustTo,
    reason: str,
    author: Author,
    now: datetime,
) -> Item:
    """Adjust the stock of a product, or of one of its variants, and record who did so and why. Returns the item.

    Stock falls below zero only where a sale could take it there: with backorders, or if it is not tracked. Raises
    InvalidFields, and BelowZero if fewer units are left than are to be removed.
    """
    product, variant = _locked(shop, product_id, variant_id)
    row = variant or product
    delta = change.units if isinstance(change, AdjustBy) else change.units - row.stock_qty
    stock = row.stock_qty + delta
    _check(row, change, stock)
    if delta:
        # The row is locked, so its stock is still the value that was read.
        row.stock_qty, row.updated_at = stock, now
        row.save(update_fields=["stock_qty", "updated_at"])
    StockAdjustment.objects.create(
        shop=shop,
        product=product,
        variant=variant,
        delta=delta,
        stock_after=stock,
        reason=reason,
        installation_id=author.installation_id,
        token=author.token,
        user=author.user,
        made_at=now,
    )
    after = {"stock_qty": stock, "reason": reason} | ({"variant_id": variant.pk} if variant else {})
    about, before = auditing.stock_object(product, variant), {"stock_qty": stock - delta}
    audit.record(shop=shop, action="stock.adjusted", object=about, before=before, after=after, now=now)
    of_variants = [variant.pk] if variant else []
    items = stock_of(shop, [] if variant else [product.pk], of_variants)
    if delta:
        events.emit_item_changes(shop, items, now)
        publish_change(shop.pk)
    return items[item_id(product.pk, variant.pk if variant else None)]


def record_adjustments(*, shop: Shop, before: Snapshot, user: User, now: datetime) -> None:
    """Record the stock changes that a form of the admin has made since `before`. Call it in the form's transaction."""
    after = stock_of(shop, list(before.products))
    pairs = [(was, after[key]) for key, was in before.stock.items() if key in after]
    StockAdjustment.objects.bulk_create(
        StockAdjustment(
            shop=shop,
            product_id=item["product_id"],
            variant_id=item["variant_id"],
            delta=item["stock_qty"] - was["stock_qty"],
            stock_after=item["stock_qty"],
            reason=BY_FORM,
            user=user,
            made_at=now,
        )
        for was, item in pairs
        if item["stock_qty"] != was["stock_qty"]
    )


def _locked(shop: Shop, product_id: int, variant_id: int | None) -> tuple[Product, Variant | None]:
    """The product and variant with these ids, locked. The product comes first, as everywhere that locks both."""
    products = Product.objects.select_for_update(no_key=True)
    product = products.filter(shop=shop, pk=product_id, deleted_at=None).first()
    if product is None:
        raise InvalidFields(errors={"product_id": ["The shop has no product with this id."]})
    if variant_id is None:
        if Variant.objects.filter(shop=shop, product=product).exists():
            raise InvalidFields(errors={"variant_id": [f"{product.name} has variants. Adjust the stock of a variant."]})
        return product, None
    variant = Variant.objects.select_for_update(no_key=True).filter(shop=shop, product=product, pk=variant_id).first()
    if variant is None:
        raise InvalidFields(errors={"variant_id": ["This variant does not belong to the product."]})
    return product, variant


def _check(row: Product | Variant, change: AdjustBy | AdjustTo, stock: int) -> None:
    field = "delta" if isinstance(change, AdjustBy) else "set"
    if abs(stock) > LARGEST_INTEGER:
        raise InvalidFields(errors={field: [f"Stock must be from -{LARGEST_INTEGER} to {LARGEST_INTEGER}."]})
    if stock >= 0 or not row.track_inventory or row.allow_backorders:
        return
    if isinstance(change, AdjustTo):
        raise InvalidFields(
            errors={field: ["Stock can be below 0 only if backorders are allowed or stock is not tracked."]}
        )
    raise BelowZero(f"Only {max(row.stock_qty, 0)} in stock.", available=max(row.stock_qty, 0))
