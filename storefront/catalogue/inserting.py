"""Makes new products of records, a batch at a time, each table written wide."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import count
from typing import Any

from django.db import connection

from storefront.catalogue import events, rules
from storefront.catalogue.bulk import allocate_ids, wide
from storefront.catalogue.incoming import BundlePart, MediaRecord, ProductRecord, Unfit, option_key
from storefront.catalogue.matching import ids_by
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
from storefront.catalogue.references import References
from storefront.catalogue.triggers import noted_together
from storefront.shops.models import Shop

Row = dict[str, Any]


def insert_products(*, shop: Shop, records: Sequence[ProductRecord], references: References, now: datetime) -> None:
    """Make a product of each record. The caller's transaction holds the shop's lock.

    Raises Unfit for a part of a bundle that the shop does not have.
    """
    batch = _Batch(shop, references, now)
    slugs = free_slugs(shop, records)
    variant_ids = iter(allocate_ids(Variant, sum(len(record.variants or ()) for record in records)))
    media_ids = iter(allocate_ids(Media, sum(len(pictures(record)) for record in records)))
    option_ids = iter(allocate_ids(Option, sum(len(record.options or ()) for record in records)))
    for id, record, slug in zip(allocate_ids(Product, len(records)), records, slugs, strict=True):
        batch.add(id, record, slug, variant_ids, media_ids, option_ids)
    batch.write()
    events.tell_of_import(shop, [row["id"] for row in batch.rows[Product]], now)


class _Batch:
    """The rows of every table that a batch of new products fills."""

    def __init__(self, shop: Shop, references: References, now: datetime) -> None:
        self.shop, self.references, self.now = shop, references, now
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
        record: ProductRecord,
        slug: str,
        variant_ids: Iterator[int],
        media_ids: Iterator[int],
        option_ids: Iterator[int],
    ) -> None:
        row = {**rules.counts_stock(record.fields), **record.if_new, **record.fields, "id": id, "slug": slug}
        name = row["name"]
        row["sort_name"] = rules.sort_name(name)
        if row.get("status") == Product.Status.ACTIVE and "published_on" not in row:
            # rules.published_on, without the cost of a model instance.
            row["published_on"] = max(self.now, row.get("publish_at") or self.now)
        for kind, named in record.named.items():
            row[f"{kind}_id"] = self.references.named(kind, named)
        text = rules.search_text(name, row.get("description", ""), row.get("sku", ""))
        # A trigger makes sure of `listed`; being told saves it a second write.
        listed = row.get("status") == Product.Status.ACTIVE and not row.get("exclude_from_catalog")
        self.rows[ProductSearch].append({"product_id": id, "text": text, "listed": listed})
        self._add_categories(id, record)
        images = self._add_media(id, record, media_ids) if record.media or record.variants else {}
        if record.variants:
            row["default_variant_id"] = self._add_variants(id, record, images, variant_ids)
        if record.options:
            self._add_options(id, record, option_ids)
        if record.bundle_items:
            self.rows[BundleItem] += [bundle_row(self.shop, id, part) for part in record.bundle_items]
        self.rows[Product].append(row)

    def _add_categories(self, id: int, record: ProductRecord) -> None:
        places: dict[int, int] = {}
        for path in record.categories or ():
            category = self.references.category(path)
            if category is not None:
                places.setdefault(category, path.sort_order or 0)
        self.rows[ProductCategory] += [
            {"product_id": id, "category_id": category, "sort_order": order} for category, order in places.items()
        ]

    def _add_media(self, id: int, record: ProductRecord, ids: Iterator[int]) -> dict[str, int]:
        images: dict[str, int] = {}
        for order, picture in enumerate(pictures(record)):
            row = {"sort_order": order, **picture.fields, "id": next(ids), "product_id": id, "source_url": picture.url}
            self.rows[Media].append(row)
            images[picture.url] = row["id"]
        return images

    def _add_variants(self, id: int, record: ProductRecord, images: dict[str, int], ids: Iterator[int]) -> int | None:
        default = None
        for variant in record.variants or ():
            row = {**rules.counts_stock(variant.fields), **variant.fields, "id": next(ids), "product_id": id}
            row["option_values"] = variant.option_values
            row["image_id"] = images.get(variant.image) if variant.image else None
            self.rows[Variant].append(row)
            default = row["id"] if variant.is_default else default
        return default

    def _add_options(self, id: int, record: ProductRecord, ids: Iterator[int]) -> None:
        for order, option in enumerate(record.options or ()):
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
        with noted_together(connection, [row["id"] for row in self.rows[Product]]):
            for model, rows in self.rows.items():
                stamps = {"created_at": now, "updated_at": now} if model in (Product, Variant, ProductCategory) else {}
                wide(model).insert(rows, shop_id=shop, **stamps)


def pictures(record: ProductRecord) -> list[MediaRecord]:
    """The product's pictures, and after them those that only its variants name."""
    found = {picture.url: picture for picture in record.media or ()}
    for variant in record.variants or ():
        if variant.image and variant.image not in found:
            found[variant.image] = MediaRecord(variant.image)
    return list(found.values())


def bundle_row(shop: Shop, bundle: int, part: BundlePart) -> Row:
    """The part as a row. Raises Unfit where the shop has no such product or variant."""
    product = Product.objects.filter(shop=shop, slug=part.product, deleted_at=None).values_list("pk", flat=True).first()
    if product is None:
        raise Unfit(f"the shop has no product {part.product} to be part of the bundle")
    variant = None
    if part.variant is not None:
        candidates = Variant.objects.filter(shop=shop, product=product).values_list("pk", "option_values")
        wanted = option_key(part.variant)
        variant = next((pk for pk, values in candidates if option_key(values) == wanted), None)
        if variant is None:
            raise Unfit(f"the product {part.product} has no such variant to be part of the bundle")
    return {"bundle_id": bundle, "product_id": product, "variant_id": variant, **part.fields}


def free_slugs(shop: Shop, records: Sequence[ProductRecord]) -> list[str]:
    """A slug for each record that no standing product and no other record of the batch has.

    The name's own first; then, so that a shop's thousand `Traditional 56 Oz` need no counting, with the source id
    or the SKU behind it; then with a number.
    """
    wishes = [_wishes(record) for record in records]
    stated = {slug for wish in wishes for slug in wish}
    taken = {slug for slug, _ in ids_by(shop, "slug", stated)}
    slugs = []
    for wish in wishes:
        slug = next((slug for slug in wish if slug not in taken), "") or _numbered(shop, wish[-1], taken)
        taken.add(slug)
        slugs.append(slug)
    return slugs


def _wishes(record: ProductRecord) -> list[str]:
    mark = str(record.if_new.get("legacy_source_id") or "")
    if not mark and record.fields.get("sku"):
        mark = rules.slug_of(record.fields["sku"], fallback="")
    return [record.slug, f"{record.slug[:200]}-{mark}"] if mark else [record.slug]


def _numbered(shop: Shop, slug: str, taken: set[str]) -> str:
    slug = slug[:200]
    standing = Product.objects.filter(shop=shop, deleted_at=None, slug__startswith=f"{slug}-")
    taken = taken | set(standing.values_list("slug", flat=True))
    return next(numbered for n in count(2) if (numbered := f"{slug}-{n}") not in taken)
