from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from storefront import audit
from storefront.catalogue import auditing, events
from storefront.catalogue.inventory.ledger import Author, Kind, stock_changes
from storefront.catalogue.inventory.queries import Item, item_id, stock_of
from storefront.catalogue.models import Product, StockAdjustment, Variant
from storefront.catalogue.parsing import MAX_INTEGER
from storefront.catalogue.stock import InsufficientStock
from storefront.catalogue.validation import BELOW_ZERO
from storefront.kit.refusals import InvalidFields
from storefront.shops.changes import publish_change
from storefront.shops.models import Shop


class BelowZero(InsufficientStock):
    """The adjustment would remove more units than there are."""

    field = "delta"


@transaction.atomic
def adjust_stock(
    *,
    shop: Shop,
    product_id: int,
    variant_id: int | None = None,
    delta: int | None = None,
    to: int | None = None,
    reason: str,
    author: Author,
    now: datetime,
) -> Item:
    """Adjust the stock of a product, or of one of its variants, by `delta` units or `to` so many, and record who did so
    and why. Returns the item.

    Stock falls below zero only where a sale could take it there: with backorders, or if it is not tracked. Raises
    InvalidFields, and BelowZero if fewer units are left than are to be removed.
    """
    if (delta is None) == (to is None):
        raise InvalidFields(errors={"delta": [_("Send either delta or set.")]})
    product, variant = _locked(shop, product_id, variant_id)
    row = variant or product
    stock = row.stock_qty + (delta or 0) if to is None else to
    _check(row, stock, field="delta" if to is None else "set")
    delta = stock - row.stock_qty
    if delta:
        # The row is locked, so its stock is still the value that was read.
        row.stock_qty, row.updated_at = stock, now
        with stock_changes(Kind.ADJUSTED, reason=reason, author=author, now=now):
            row.save(update_fields=["stock_qty", "updated_at"])
    else:
        # The stock was counted and is correct.
        StockAdjustment.objects.create(
            shop=shop,
            product=product,
            variant=variant,
            kind=Kind.ADJUSTED,
            delta=0,
            stock_after=stock,
            reason=reason,
            made_at=now,
            **vars(author),
        )
    after = {"stock_qty": stock, "reason": reason} | ({"variant_id": variant.pk} if variant else {})
    about, before = auditing.stock_object(product, variant), {"stock_qty": stock - delta}
    audit.record(shop=shop, action="stock.adjusted", object=about, before=before, after=after, now=now)
    items = stock_of(shop, [] if variant else [product.pk], [variant.pk] if variant else [])
    if delta:
        events.emit_item_changes(shop, items, now)
        publish_change(shop.pk)
    return items[item_id(product.pk, variant.pk if variant else None)]


def _locked(shop: Shop, product_id: int, variant_id: int | None) -> tuple[Product, Variant | None]:
    """The product and variant with these ids, locked. The product comes first, as everywhere that locks both."""
    products = Product.objects.select_for_update(no_key=True)
    product = products.filter(shop=shop, pk=product_id, deleted_at=None).first()
    if product is None:
        raise InvalidFields(errors={"product_id": [_("The shop has no product with this id.")]})
    if variant_id is None:
        if Variant.objects.filter(shop=shop, product=product).exists():
            problem = _("%(name)s has variants. Adjust the stock of a variant.") % {"name": product.name}
            raise InvalidFields(errors={"variant_id": [problem]})
        return product, None
    variant = Variant.objects.select_for_update(no_key=True).filter(shop=shop, product=product, pk=variant_id).first()
    if variant is None:
        raise InvalidFields(errors={"variant_id": [_("This variant does not belong to the product.")]})
    return product, variant


def _check(row: Product | Variant, stock: int, *, field: str) -> None:
    if abs(stock) > MAX_INTEGER:
        problem = _("Stock must be from %(low)s to %(high)s.") % {"low": -MAX_INTEGER, "high": MAX_INTEGER}
        raise InvalidFields(errors={field: [problem]})
    if stock >= min(row.stock_qty, 0) or not row.track_inventory or row.allow_backorders:
        return
    if field == "set":
        raise InvalidFields(errors={field: [str(BELOW_ZERO)]})
    left = max(row.stock_qty, 0)
    raise BelowZero(_("Only %(count)s in stock.") % {"count": left}, available=left)
