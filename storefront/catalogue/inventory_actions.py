from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from storefront.catalogue import events
from storefront.catalogue.events import Known
from storefront.catalogue.inventory import Item, item_id, stock_of
from storefront.catalogue.models import Product, StockAdjustment, Variant
from storefront.catalogue.stock import InsufficientStock
from storefront.catalogue.validation import LARGEST_INTEGER
from storefront.kit.refusals import InvalidFields
from storefront.shops.changes import changed
from storefront.shops.models import ApiToken, Shop, User

# The reason of a change that a merchant made in a form, where none is asked for.
BY_FORM = "Changed in the admin"


class BelowZero(InsufficientStock):
    """More was to be taken away than there is."""

    field = "delta"


@dataclass(frozen=True, kw_only=True)
class Author:
    """Who puts a stock right: one of them."""

    installation_id: int | None = None
    token: ApiToken | None = None
    user: User | None = None


@dataclass(frozen=True)
class By:
    """So many pieces more, or, below zero, fewer."""

    pieces: int


@dataclass(frozen=True)
class To:
    """To so many pieces, however many there were."""

    pieces: int


@transaction.atomic
def adjust_stock(
    *,
    shop: Shop,
    product_id: int,
    variant_id: int | None = None,
    change: By | To,
    reason: str,
    author: Author,
    now: datetime,
) -> Item:
    """Put the stock of a product, or of one of its variants, right, and write down who did so and why: the item then.

    Stock passes below zero only where a sale may take it there: where it is backordered or not counted. Raises
    InvalidFields, and BelowZero where fewer pieces are left than are to go.
    """
    product, variant = _locked(shop, product_id, variant_id)
    row = variant or product
    delta = change.pieces if isinstance(change, By) else change.pieces - row.stock_qty
    stock = row.stock_qty + delta
    _check(row, change, stock)
    if delta:
        # What stands locked can only be what it was read as.
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
    of_variants = [variant.pk] if variant else []
    items = stock_of(shop, [] if variant else [product.pk], of_variants)
    if delta:
        events.tell_of_items(shop, items, now)
        changed(shop.pk)
    return items[item_id(product.pk, variant.pk if variant else None)]


def note_adjustments(*, shop: Shop, before: Known, user: User, now: datetime) -> None:
    """Write down which stocks somebody of the staff has changed in a form, part of whose transaction this is."""
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
    """The rows that are meant, which nobody else changes now: the product before its variant, as all who lock both."""
    products = Product.objects.select_for_update(no_key=True)
    product = products.filter(shop=shop, pk=product_id, deleted_at=None).first()
    if product is None:
        raise InvalidFields(errors={"product_id": ["The shop has no such product."]})
    if variant_id is None:
        if Variant.objects.filter(shop=shop, product=product).exists():
            raise InvalidFields(errors={"variant_id": [f"{product.name} is sold by its variants: name one of them."]})
        return product, None
    variant = Variant.objects.select_for_update(no_key=True).filter(shop=shop, product=product, pk=variant_id).first()
    if variant is None:
        raise InvalidFields(errors={"variant_id": ["Not a variant of this product."]})
    return product, variant


def _check(row: Product | Variant, change: By | To, stock: int) -> None:
    field = "delta" if isinstance(change, By) else "set"
    if abs(stock) > LARGEST_INTEGER:
        raise InvalidFields(errors={field: [f"Stock goes from -{LARGEST_INTEGER} to {LARGEST_INTEGER}."]})
    if stock >= 0 or not row.track_inventory or row.allow_backorders:
        return
    if isinstance(change, To):
        raise InvalidFields(errors={field: ["Below 0 only where backorders are allowed or stock is not tracked."]})
    raise BelowZero(f"There are only {max(row.stock_qty, 0)} to take away.", available=max(row.stock_qty, 0))
