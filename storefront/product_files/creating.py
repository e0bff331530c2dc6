"""Creates new products from parsed ones, a batch at a time, with bulk inserts per table."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import count
from typing import Any

from django.db import connection

from storefront.catalogue import events, rules
from storefront.catalogue.models import (
    BundleItem,
    Media,
    Option,
    OptionValue,
    Product,
    ProductCategory,
    ProductSearch,
    Variant,
)
from storefront.catalogue.parsing import InvalidValue
from storefront.catalogue.search_texts import SearchText
from storefront.catalogue.triggers import deferred_totals
from storefront.kit.bulk_insert import allocate_ids, bulk_table
from storefront.pictures.requesting import PictureRequests
from storefront.product_files.matching import products_by
from storefront.product_files.parsed_products import ParsedBundleItem, ParsedMedia, ParsedProduct, option_key
from storefront.product_files.references import References
from storefront.product_files.sale_periods import settled
from storefront.shops.models import Shop

Row = dict[str, Any]


def insert_products(
    *,
    shop: Shop,
    products: Sequence[ParsedProduct],
    references: References,
    pictures: PictureRequests | None = None,
    now: datetime,
) -> list[int]:
    """Create a product from each parsed product; returns their ids. The caller's transaction holds the shop's lock.
    With `pictures`, the pictures are requested from the worker.

    Raises InvalidValue for a bundle item that the shop does not have.
    """
    batch = _Batch(shop, references, now)
    slugs = unused_slugs(shop, products)
    variant_ids = iter(allocate_ids(Variant, sum(len(parsed.variants or ()) for parsed in products)))
    pictures_of = [all_pictures(parsed) for parsed in products]
    media_ids = iter(allocate_ids(Media, sum(map(len, pictures_of))))
    option_ids = iter(allocate_ids(Option, sum(len(parsed.options or ()) for parsed in products)))
    ids = list(allocate_ids(Product, len(products)))
    for id, parsed, slug, its_pictures in zip(ids, products, slugs, pictures_of, strict=True):
        batch.add(id, parsed, slug, its_pictures, variant_ids, media_ids, option_ids)
    batch.write()
    if pictures:
        pictures.insert((row["id"], row["source_url"]) for row in batch.rows[Media])
    events.emit_created(shop, ids, now)
    return ids


class _Batch:
    """The rows of a batch of new products, by table."""

    def __init__(self, shop: Shop, references: References, now: datetime) -> None:
        self.shop, self.references, self.now = shop, references, now
        self.texts: list[SearchText] = []
        self.rows: dict[Any, list[Row]] = {
            model: []
            for model in (
                Product,
                ProductSearch,
                Media,
                Variant,
                Option,
                OptionValue,
                ProductCategory,
                BundleItem,
            )
        }

    def add(
        self,
        id: int,
        parsed: ParsedProduct,
        slug: str,
        pictures: list[ParsedMedia],
        variant_ids: Iterator[int],
        media_ids: Iterator[int],
        option_ids: Iterator[int],
    ) -> None:
        fields = settled(parsed.fields, self.now)
        row = {**rules.stock_tracking_default(fields), **parsed.if_new, **fields, "id": id, "slug": slug}
        name = row["name"]
        row["sort_name"] = rules.sort_name(name)
        if row.get("status") == Product.Status.ACTIVE and "published_on" not in row:
            # rules.published_on, without the cost of a model instance.
            row["published_on"] = max(self.now, row.get("publish_at") or self.now)
        for kind, related_name in parsed.related_names.items():
            row[f"{kind}_id"] = self.references.id_of(kind, related_name)
        assert parsed.search is not None, "reading adds it to every product with a name"
        self.texts.append(parsed.search)
        # A trigger would set `listed` anyway; setting it here saves a second write.
        listed = row.get("status") == Product.Status.ACTIVE and not row.get("exclude_from_catalog")
        self.rows[ProductSearch].append({"product_id": id, "text": parsed.search.text, "listed": listed})
        self._add_categories(id, parsed)
        images = self._add_media(id, pictures, media_ids)
        if parsed.variants:
            row["default_variant_id"] = self._add_variants(id, parsed, images, variant_ids)
        if parsed.options:
            self._add_options(id, parsed, option_ids)
        if parsed.bundle_items:
            self.rows[BundleItem] += [bundle_item_row(self.shop, id, item) for item in parsed.bundle_items]
        self.rows[Product].append(row)

    def _add_categories(self, id: int, parsed: ParsedProduct) -> None:
        sort_orders: dict[int, int] = {}
        for path in parsed.categories or ():
            category = self.references.category_id(path)
            if category is not None:
                sort_orders.setdefault(category, path.sort_order or 0)
        self.rows[ProductCategory] += [
            {"product_id": id, "category_id": category, "sort_order": order} for category, order in sort_orders.items()
        ]

    def _add_media(self, id: int, pictures: list[ParsedMedia], ids: Iterator[int]) -> dict[str, int]:
        images: dict[str, int] = {}
        for order, picture in enumerate(pictures):
            row = {"sort_order": order, **picture.fields, "id": next(ids), "product_id": id, "source_url": picture.url}
            self.rows[Media].append(row)
            images.setdefault(picture.url, row["id"])
        return images

    def _add_variants(self, id: int, parsed: ParsedProduct, images: dict[str, int], ids: Iterator[int]) -> int | None:
        default = None
        for variant in parsed.variants or ():
            fields = settled(variant.fields, self.now)
            row = {**rules.stock_tracking_default(fields), **fields, "id": next(ids), "product_id": id}
            row["option_values"] = variant.option_values
            row["image_id"] = images.get(variant.image) if variant.image else None
            self.rows[Variant].append(row)
            default = row["id"] if variant.is_default else default
        return default

    def _add_options(self, id: int, parsed: ParsedProduct, ids: Iterator[int]) -> None:
        for order, option in enumerate(parsed.options or ()):
            row = {"sort_order": order, **option.fields, "id": next(ids), "product_id": id, "name": option.name}
            self.rows[Option].append(row)
            self.rows[OptionValue] += [
                {"sort_order": place, **fields, "option_id": row["id"], "label": label}
                for place, (label, fields) in enumerate(option.values)
            ]

    def write(self) -> None:
        now, shop = self.now, self.shop.pk
        for model in (OptionValue, ProductCategory, BundleItem):
            for row, id in zip(self.rows[model], allocate_ids(model, len(self.rows[model])), strict=True):
                row["id"] = id
        with deferred_totals(connection, [row["id"] for row in self.rows[Product]]):
            for model, rows in self.rows.items():
                stamps = {"created_at": now, "updated_at": now} if model in (Product, Variant, ProductCategory) else {}
                bulk_table(model).insert(rows, shop_id=shop, **stamps)
        self.references.words.add(self.texts)


def all_pictures(parsed: ParsedProduct) -> list[ParsedMedia]:
    """The product's pictures, followed by pictures that only its variants name."""
    found = list(parsed.media or ())
    if not parsed.variants:
        return found
    urls = {picture.url for picture in found}
    for variant in parsed.variants:
        if variant.image and variant.image not in urls:
            urls.add(variant.image)
            found.append(ParsedMedia(variant.image))
    return found


def bundle_item_row(shop: Shop, bundle: int, item: ParsedBundleItem) -> Row:
    """The bundle item as a row. Raises InvalidValue if the shop has no such product or variant."""
    product = Product.objects.filter(shop=shop, slug=item.product, deleted_at=None).values_list("pk", flat=True).first()
    if product is None:
        raise InvalidValue(f"the shop has no product {item.product} to be part of the bundle")
    variant = None
    if item.variant is not None:
        candidates = Variant.objects.filter(shop=shop, product=product).values_list("pk", "option_values")
        wanted = option_key(item.variant)
        variant = next((pk for pk, values in candidates if option_key(values) == wanted), None)
        if variant is None:
            raise InvalidValue(f"the product {item.product} has no such variant to be part of the bundle")
    return {"bundle_id": bundle, "product_id": product, "variant_id": variant, **item.fields}


def unused_slugs(shop: Shop, products: Sequence[ParsedProduct]) -> list[str]:
    """A slug for each product that no existing product and no other product of the batch has.

    Tries the product's own slug, then that with the source id or the SKU, then that with a number. The second step
    spares a shop with a thousand products of one name the search for a free number.
    """
    # A slug that the file states is free, or the product would have been found by it.
    taken = _taken(shop, {parsed.slug for parsed in products if parsed.slug != parsed.keys.slug})
    first = Counter(parsed.slug for parsed in products)
    longer = {
        parsed.line: _longer_slug(parsed) for parsed in products if parsed.slug in taken or first[parsed.slug] > 1
    }
    taken |= _taken(shop, set(filter(None, longer.values())))
    slugs = []
    for parsed in products:
        candidates = [slug for slug in (parsed.slug, longer.get(parsed.line)) if slug]
        slug = next((slug for slug in candidates if slug not in taken), "") or _numbered(shop, candidates[-1], taken)
        taken.add(slug)
        slugs.append(slug)
    return slugs


def _taken(shop: Shop, slugs: set[str]) -> set[str]:
    return {slug for slug, _ in products_by(shop, "slug", slugs)}


def _longer_slug(parsed: ParsedProduct) -> str | None:
    """The slug with the source's id or the SKU."""
    keys = parsed.keys
    suffix = str(keys.external_id or "") or (rules.slug_of(keys.sku, fallback="") if keys.sku else "")
    return f"{parsed.slug[:200]}-{suffix}" if suffix else None


def _numbered(shop: Shop, slug: str, taken: set[str]) -> str:
    slug = slug[:200]
    existing = Product.objects.filter(shop=shop, deleted_at=None, slug__startswith=f"{slug}-")
    taken = taken | set(existing.values_list("slug", flat=True))
    return next(numbered for n in count(2) if (numbered := f"{slug}-{n}") not in taken)
