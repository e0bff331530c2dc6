"""Loads everything about products and variants that a cart needs, in few queries: price, options, bundle items, image,
stock."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson
from django.db import connection

from storefront.carts import sql
from storefront.carts.models import CartLine
from storefront.carts.rules import OfferedOption, OfferedValue
from storefront.catalogue.dated.sale_periods import end_preorder, settle
from storefront.catalogue.digital_files import needs_file
from storefront.catalogue.models import Product, Variant
from storefront.catalogue.records import media_url
from storefront.catalogue.rules import full_name
from storefront.catalogue.stock import Kind
from storefront.kit.money_field import from_hundredths
from storefront.kit.sql import fetch, unwrapped
from storefront.shops.models import Shop

# Ids of a product and its variant, if any.
Sold = tuple[int, int | None]
Stock = tuple[Kind, int]
# Sellable pieces by stock; None without a limit.
Levels = Mapping[Stock, int | None]


@dataclass(slots=True)
class Purchasable:
    """A product, or one of its variants, with what a cart line copies or checks. `levels` includes its bundle items."""

    product: Product
    variant: Variant | None = None
    image: str | None = None
    options: list[OfferedOption] = field(default_factory=list)
    bundle_items: list[dict[str, Any]] = field(default_factory=list)
    levels: dict[Stock, int | None] = field(default_factory=dict)
    has_unsold_item: bool = False
    lacks_file: bool = False
    is_subscription: bool = False

    @property
    def name(self) -> str:
        return full_name(self.product.name, self.variant.name if self.variant else None)

    def is_for_sale(self, now: datetime) -> bool:
        """Returns True if the product is published, its variant active (R-CART-25), and everything in it can be sold:
        no bundle with an item that bundles cannot sell (`_is_unsold`), no download without a file, and no subscription,
        which no shop can charge yet (R-CART-51)."""
        is_active = self.variant is None or self.variant.is_active
        is_delivered = not (self.has_unsold_item or self.lacks_file or self.is_subscription)
        return self.product.is_published(now) and is_active and is_delivered

    @property
    def needs_variant(self) -> bool:
        return self.product.type == Product.Type.VARIABLE and self.variant is None


def load_purchasables(shop: Shop, wanted: Collection[Sold], now: datetime) -> dict[Sold, Purchasable]:
    """Purchasables by product and variant id, published or not. Ids that the shop does not have are left out.

    Prices and pre-orders are those of `now`, whether or not the worker has let a sale begin or a pre-order end.
    """
    products = _products(shop, {product_id for product_id, _ in wanted})
    variants = _variants(shop, {variant_id for _, variant_id in wanted if variant_id is not None})
    found = _purchasables(shop, wanted, products, variants, now)
    for purchasable in found.values():
        purchasable.image = _image(shop, purchasable.product, purchasable.variant)
    return found


def purchasables_of(
    shop: Shop, lines: Iterable[CartLine], now: datetime, known: Mapping[Sold, Purchasable] | None = None
) -> dict[Sold, Purchasable]:
    """The purchasables of lines that were read with their products and variants, without pictures.

    No query. Those of `known` are taken as they are.
    """
    known = known or {}
    unknown = [line for line in lines if (line.product_id, line.variant_id) not in known]
    products: dict[int, Any] = {line.product_id: line.product for line in unknown}
    variants = {line.variant.pk: line.variant for line in unknown if line.variant_id is not None and line.variant}
    sold = dict.fromkeys((line.product_id, line.variant_id) for line in unknown)
    return {**known, **_purchasables(shop, sold, products, variants, now)}


def offered_variants(shop: Shop, product_ids: Collection[int]) -> dict[int, list[dict[str, Any]]]:
    """By product, `{id, name}` of its active variants, at most 100 each."""
    offered = Variant.objects.filter(shop=shop, product_id__in=product_ids, is_active=True)
    found: dict[int, list[dict[str, Any]]] = {}
    for product_id, id, name in offered.order_by("sort_order", "id").values_list("product_id", "id", "name"):
        found.setdefault(product_id, []).append({"id": id, "name": name})
    return {product_id: variants[:100] for product_id, variants in found.items()}


def stock_levels(shop: Shop, stocks: Iterable[Stock]) -> dict[Stock, int | None]:
    """Sellable pieces by stock; None without a limit. A stock that does not exist is absent."""
    stocks = set(stocks)
    levels: dict[Stock, int | None] = {}
    products = {id for kind, id in stocks if kind != "variant"}
    if products:
        for product in Product.objects.filter(shop=shop, pk__in=products).only(*sql.PRODUCT.names):
            levels |= _levels_of(product, None, [])
    variants = {id for kind, id in stocks if kind == "variant"}
    if variants:
        for variant in Variant.objects.filter(shop=shop, pk__in=variants).only(*sql.VARIANT.names):
            levels["variant", variant.pk] = _level(variant)
    return levels


def _purchasables(
    shop: Shop, wanted: Iterable[Sold], products: dict[int, Any], variants: dict[int, Variant], now: datetime
) -> dict[Sold, Purchasable]:
    for row in (*products.values(), *variants.values()):
        settle(row, now)
    for product in products.values():
        end_preorder(product, now)
    found = {}
    for product_id, variant_id in wanted:
        product = products.get(product_id)
        variant = variants.get(variant_id) if variant_id is not None else None
        if product is None or (variant_id is not None and (variant is None or variant.product_id != product_id)):
            continue
        items = _bundle_parts(product)
        found[product_id, variant_id] = Purchasable(
            product=product,
            variant=variant,
            options=_options(product),
            bundle_items=[_item_snapshot(item) for item in items],
            levels=_levels_of(product, variant, items),
            has_unsold_item=any(map(_is_unsold, items)),
            is_subscription=any(each.billing_interval for each in (product, *items)),
            lacks_file=any(each.has_no_file and needs_file(each) for each in (product, *items)),
        )
    return found


def _products(shop: Shop, ids: Collection[int]) -> dict[int, Any]:
    if not ids:
        return {}
    found = {}
    database = unwrapped(connection)
    given = {"shop": shop.pk} | {f"id{number}": id for number, id in enumerate(ids)}
    for row in fetch(database, sql.products(len(ids)), given):
        product: Any = sql.PRODUCT.instance(database, row)
        product.has_no_file, product.option_rows, product.item_rows = row[len(sql.PRODUCT) : -2]
        product.picture_file, product.picture_source = row[-2:]
        found[product.pk] = product
    return found


def _variants(shop: Shop, ids: Collection[int]) -> dict[int, Variant]:
    if not ids:
        return {}
    rows = Variant.objects.filter(shop=shop, pk__in=ids).select_related("image")
    return {row.pk: row for row in rows.only(*sql.VARIANT.names, "image__file", "image__source_url")}


def _options(product: Any) -> list[OfferedOption]:
    found: dict[int, OfferedOption] = {}
    for id, name, type, required, max_length, value_id, label, price in orjson.loads(product.option_rows or "[]"):
        option = found.get(id)
        if option is None:
            option = found[id] = OfferedOption(id, name, type, bool(required), [], max_length)
        if value_id is not None:
            option.values.append(OfferedValue(value_id, label, from_hundredths(price)))
    return list(found.values())


def _bundle_parts(product: Any) -> list[sql.BundlePart]:
    return [sql.BundlePart(*row) for row in orjson.loads(product.item_rows)] if product.item_rows else []


def _is_unsold(part: sql.BundlePart) -> bool:
    """Returns True if a bundle with this item cannot be sold: the item's variant is inactive; or it is a gift card,
    which would not be sent; or a bundle, whose own items would not be counted."""
    return not part.is_active or part.is_gift_card or part.type == Product.Type.BUNDLE


def _item_snapshot(part: sql.BundlePart) -> dict[str, Any]:
    name = part.name if part.variant_name is None else f"{part.name} – {part.variant_name}"
    return {
        "product_id": part.product_id,
        "variant_id": part.variant_id,
        "name": name,
        "sku": part.sku,
        "qty": part.qty,
    }


def _levels_of(product: Product, variant: Variant | None, parts: Iterable[sql.BundlePart]) -> dict[Stock, int | None]:
    levels: dict[Stock, int | None] = {("product", product.pk): _level(product)}
    # Damaged units are never backordered, so their count is always the limit.
    levels["damaged", product.pk] = product.damaged_qty
    if variant is not None:
        levels["variant", variant.pk] = _level(variant)
    for part in parts:
        stock: Stock = ("product", part.product_id) if part.variant_id is None else ("variant", part.variant_id)
        levels[stock] = _level(part)
    return levels


def _level(row: Product | Variant | sql.BundlePart) -> int | None:
    if not isinstance(row, Product) and not row.is_active:
        return 0
    return None if not row.track_inventory or row.allow_backorders else max(row.stock_qty, 0)


def _image(shop: Shop, product: Any, variant: Variant | None) -> str | None:
    """URL of the variant's picture, or else of the product's first one; None without one (R-CART-23)."""
    if variant is not None and variant.image is not None:
        return media_url(shop, variant.image.file.name, variant.image.source_url)
    return media_url(shop, product.picture_file, product.picture_source)
