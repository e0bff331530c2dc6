"""Stock as apps and integrations read it: an item for each product without variants, and for each variant.

Damaged units and the low stock threshold belong to the product, so each of its variants shows the same values.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet

from storefront.catalogue.models import Product, Variant
from storefront.catalogue.rules import full_name
from storefront.kit.clock import timestamp
from storefront.shops.models import Shop

Item = dict[str, Any]

# Columns of products and variants. A variant's own apply if there is one.
_OF_BOTH = ("pk", "name", "sku", "track_inventory", "allow_backorders", "stock_qty", "updated_at")
_OF_PRODUCT = ("damaged_qty", "low_stock_threshold")
_COLUMNS = (*_OF_PRODUCT, *_OF_BOTH, *(f"variants__{name}" for name in _OF_BOTH))
_NAMES_OF_BOTH = ("id", *_OF_BOTH[1:])
_OWN_PRODUCT = "(SELECT {} FROM catalogue_product p WHERE p.id = catalogue_variant.product_id)"
# The RETURNING columns of an UPDATE of a product or a variant: first the product's deletion time and a flag for
# variants, then the columns for `changed_item`. Subqueries, since SQLite cannot return columns of joined tables.
CHANGED_PRODUCT = ", ".join(
    [
        "deleted_at",
        "EXISTS (SELECT 1 FROM catalogue_variant v WHERE v.product_id = catalogue_product.id)",
        *_OF_PRODUCT,
        *_NAMES_OF_BOTH,
    ]
)
CHANGED_VARIANT = ", ".join(
    [
        _OWN_PRODUCT.format("deleted_at"),
        "false",
        *(_OWN_PRODUCT.format(name) for name in (*_OF_PRODUCT, "id", "name")),
        *["NULL"] * (len(_NAMES_OF_BOTH) - 2),
        *_NAMES_OF_BOTH,
    ]
)
_ORDER = ("pk", "variants__sort_order", "variants__pk")


@dataclass(frozen=True, kw_only=True)
class InventoryFilters:
    """The filters of a stock list. None: no filter."""

    sku: str | None = None
    product_id: int | None = None
    variant_id: int | None = None
    # Pairs of a product and its variant, or None for a product without variants.
    items: Sequence[tuple[int, int | None]] | None = None
    updated_since: datetime | None = None

    @property
    def counts_products(self) -> bool:
        """Returns True if the total counts whole products."""
        return self.sku is None and self.variant_id is None and self.items is None and self.updated_since is None


def inventory_page(shop: Shop, filters: InventoryFilters, *, start: int, count: int) -> tuple[list[Item], int]:
    """`count` items from index `start` on, by product and then in the order of its variants; and the total."""
    found = _filtered(_stock(shop), shop, filters)
    # Reads the ids from an index first, so that a deep page skips no table rows; then the columns of the page.
    page = list(found.order_by(*_ORDER).values_list("pk", "variants__pk")[start : start + count])
    items = _items(_stock(shop).filter(pk__in={product for product, _ in page}).filter(_is_on_page(page)))
    total = _count_all(shop, filters.product_id) if filters.counts_products else found.count()
    return items, total


def next_products(shop: Shop, *, after: int, count: int) -> list[int]:
    """The ids of the next products after this id, at most `count`."""
    return list(_stock(shop).filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)[:count])


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


def changed_item(row: Sequence[Any], now: datetime) -> dict[str, Item]:
    """The item of a row that a statement with `CHANGED_PRODUCT` or `CHANGED_VARIANT` changed at `now`, by its id."""
    item = _item([*row, *[None] * (len(_COLUMNS) - len(row))], now)
    return {item["id"]: item}


def item_id(product: int, variant: int | None) -> str:
    """The item's id: `p12` for a product, `p12-v34` for a variant."""
    return f"p{product}" if variant is None else f"p{product}-v{variant}"


def _stock(shop: Shop) -> QuerySet[Product]:
    # A literal condition, as in the partial index `product_standing`: SQLite does not match parameters with it.
    return Product.objects.filter(shop=shop, deleted_at=None).extra(where=["catalogue_product.id > 0"])


def _filtered(found: QuerySet[Product], shop: Shop, filters: InventoryFilters) -> QuerySet[Product]:
    # One condition, since each call of `filter` would join the variants again.
    wanted = Q()
    if filters.sku is not None:
        # Both tables are searched by their index of SKUs. A product's own SKU counts only if it has no variants.
        own = Product.objects.filter(shop=shop, sku=filters.sku).values("pk")
        variants = Variant.objects.filter(shop=shop, sku=filters.sku).order_by().values("product")
        wanted &= Q(pk__in=own.union(variants)) & (Q(variants=None, sku=filters.sku) | Q(variants__sku=filters.sku))
    if filters.product_id is not None:
        wanted &= Q(pk=filters.product_id)
    if filters.variant_id is not None:
        owner = Variant.objects.filter(shop=shop, pk=filters.variant_id).values("product")
        wanted &= Q(pk__in=owner, variants=filters.variant_id)
    if filters.items is not None:
        wanted &= Q(pk__in={product for product, _ in filters.items}) & _is_on_page(filters.items)
    if (since := filters.updated_since) is not None:
        wanted &= Q(variants=None, updated_at__gte=since) | Q(variants__updated_at__gte=since)
    return found.filter(wanted)


def _is_on_page(page: Sequence[tuple[int, int | None]]) -> Q:
    return Q(variants=None) | Q(variants__in=[variant for _, variant in page if variant is not None])


def _count_all(shop: Shop, product_id: int | None) -> int:
    """Count the items of the shop, or of one product. Products and variants are counted separately, each by an index,
    since counting the join takes many times as long."""
    products, variants = _stock(shop), Variant.objects.filter(shop=shop, product__deleted_at=None)
    if product_id is not None:
        products, variants = products.filter(pk=product_id), variants.filter(product=product_id)
    of_variants = variants.aggregate(all=Count("pk"), products=Count("product", distinct=True))
    return products.count() - of_variants["products"] + of_variants["all"]


def _items(found: QuerySet[Product]) -> list[Item]:
    return [_item(row) for row in found.order_by(*_ORDER).values_list(*_COLUMNS)]


# An item as PostgreSQL writes it, of a product `p` and a variant `v`, which is null if the product has none. A test
# holds that it is the same as `_item`.
ITEM_JSON = """jsonb_build_object(
    'id', 'p' || p.id || coalesce('-v' || v.id, ''),
    'product_id', p.id,
    'variant_id', v.id,
    'sku', CASE WHEN v.id IS NULL THEN p.sku ELSE v.sku END,
    'name', CASE WHEN coalesce(v.name, '') = '' THEN p.name WHEN starts_with(v.name, p.name) THEN v.name
        ELSE p.name || ' – ' || v.name END,
    'track_inventory', CASE WHEN v.id IS NULL THEN p.track_inventory ELSE v.track_inventory END,
    'allow_backorders', CASE WHEN v.id IS NULL THEN p.allow_backorders ELSE v.allow_backorders END,
    'stock_qty', CASE WHEN v.id IS NULL THEN p.stock_qty ELSE v.stock_qty END,
    'damaged_qty', p.damaged_qty,
    'low_stock_threshold', p.low_stock_threshold,
    'updated_at', to_char(
        CASE WHEN v.id IS NULL THEN p.updated_at ELSE v.updated_at END AT TIME ZONE 'UTC',
        'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
    )
)"""


def _item(row: Sequence[Any], changed_at: datetime | None = None) -> Item:
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
        # SQLite has no booleans.
        "track_inventory": bool(tracked),
        "allow_backorders": bool(backorders),
        "stock_qty": qty,
        "damaged_qty": damaged,
        "low_stock_threshold": threshold,
        "updated_at": timestamp(changed_at or updated_at),
    }
