"""Stock as programs outside see it: an item for each product that has no variants, and for each variant.

Damaged pieces and the threshold of low stock are the product's own, so each of its variants shows the same.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from storefront.catalogue.models import Product, Variant
from storefront.catalogue.rules import full_name
from storefront.kit.clock import timestamp
from storefront.shops.models import Shop

Item = dict[str, Any]

# Of a product, and what is a variant's own where there is one.
_OF_BOTH = ("pk", "name", "sku", "track_inventory", "allow_backorders", "stock_qty", "updated_at")
_OF_PRODUCT = ("damaged_qty", "low_stock_threshold")
_COLUMNS = (*_OF_PRODUCT, *_OF_BOTH, *(f"variants__{name}" for name in _OF_BOTH))
_ORDER = ("pk", "variants__sort_order", "variants__pk")


@dataclass(frozen=True, kw_only=True)
class InventoryFilters:
    """What a list of stock is narrowed to; None: not by this."""

    sku: str | None = None
    product_id: int | None = None
    variant_id: int | None = None


def inventory_page(shop: Shop, filters: InventoryFilters, *, start: int, count: int) -> tuple[list[Item], int]:
    """So many items from this place on, by product and then in the order of its variants; and how many there are."""
    found = _narrowed(_stock(shop), shop, filters)
    # First the ids, which an index holds, so that a deep page passes over no rows; then what is told of them.
    page = list(found.order_by(*_ORDER).values_list("pk", "variants__pk")[start : start + count])
    items = _items(_stock(shop).filter(pk__in={product for product, _ in page}).filter(_any_of(page)))
    of_variants = filters.sku is not None or filters.variant_id is not None
    total = found.count() if of_variants else _count_all(shop, filters.product_id)
    return items, total


def stock_of(shop: Shop, products: Collection[int], variants: Collection[int] = ()) -> dict[str, Item]:
    """All items of these products, and of these variants, by item id."""
    if not products and not variants:
        return {}
    found = _stock(shop).filter(pk__in=products)
    if variants:
        of_variants = Variant.objects.filter(shop=shop, pk__in=variants).values("product")
        named = Q(pk__in=products) | Q(variants__in=variants)
        found = _stock(shop).filter(Q(pk__in=products) | Q(pk__in=of_variants)).filter(named)
    return {item["id"]: item for item in _items(found)}


def item_id(product: int, variant: int | None) -> str:
    """What names an item: `p12`, or of a variant `p12-v34`."""
    return f"p{product}" if variant is None else f"p{product}-v{variant}"


def _stock(shop: Shop) -> QuerySet[Product]:
    # Said in so many words, as the index `product_standing` has it: SQLite does not look into parameters.
    return Product.objects.filter(shop=shop, deleted_at=None).extra(where=["catalogue_product.id > 0"])


def _narrowed(found: QuerySet[Product], shop: Shop, filters: InventoryFilters) -> QuerySet[Product]:
    # In one condition, since each `filter` of its own would join the variants once more.
    wanted = Q()
    if filters.sku is not None:
        # Both tables are asked by their index of SKUs; a product's own counts only where it has no variants.
        own = Product.objects.filter(shop=shop, sku=filters.sku).values("pk")
        variants = Variant.objects.filter(shop=shop, sku=filters.sku).order_by().values("product")
        wanted &= Q(pk__in=own.union(variants)) & (Q(variants=None, sku=filters.sku) | Q(variants__sku=filters.sku))
    if filters.product_id is not None:
        wanted &= Q(pk=filters.product_id)
    if filters.variant_id is not None:
        owner = Variant.objects.filter(shop=shop, pk=filters.variant_id).values("product")
        wanted &= Q(pk__in=owner, variants=filters.variant_id)
    return found.filter(wanted)


def _any_of(page: Sequence[tuple[int, int | None]]) -> Q:
    return Q(variants=None) | Q(variants__in=[variant for _, variant in page if variant is not None])


def _count_all(shop: Shop, product_id: int | None) -> int:
    """How many there are in the shop, or of one product. Products and variants are counted each by an index, since
    counting them joined takes many times as long."""
    products, variants = _stock(shop), Variant.objects.filter(shop=shop, product__deleted_at=None)
    if product_id is not None:
        products, variants = products.filter(pk=product_id), variants.filter(product=product_id)
    of_variants = variants.aggregate(all=Count("pk"), products=Count("product", distinct=True))
    return products.count() - of_variants["products"] + of_variants["all"]


def _items(found: QuerySet[Product]) -> list[Item]:
    return [_item(row) for row in found.order_by(*_ORDER).values_list(*_COLUMNS)]


def _item(row: Sequence[Any]) -> Item:
    damaged, threshold = row[:2]
    product, name, sku, *stock = row[2:9]
    variant, variant_name, variant_sku, *stock_of_variant = row[9:]
    tracked, backorders, qty, updated_at = stock if variant is None else stock_of_variant
    return {
        "id": item_id(product, variant),
        "product_id": product,
        "variant_id": variant,
        "sku": sku if variant is None else variant_sku,
        "name": full_name(name, variant_name),
        "track_inventory": tracked,
        "allow_backorders": backorders,
        "stock_qty": qty,
        "damaged_qty": damaged,
        "low_stock_threshold": threshold,
        "updated_at": timestamp(updated_at),
    }
