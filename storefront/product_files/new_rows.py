"""Packs the rows of new products in the process that reads the file, which has more time than the one that writes to
the database. The writing process only adds values that it alone has, such as ids."""

from collections.abc import Iterator
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from storefront.catalogue import rules
from storefront.catalogue.dated.sale_periods import COLUMNS, settle
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
from storefront.catalogue.search_texts import SearchText, search_text
from storefront.catalogue.translated_slugs import given_in
from storefront.catalogue.variant_prices import follow
from storefront.kit.bulk_insert import BulkTable, Packed
from storefront.kit.money import ZERO
from storefront.kit.translations import merged
from storefront.product_files.parsed_products import (
    NAMED,
    NewRows,
    PackedVariant,
    ParsedMedia,
    ParsedProduct,
    ParsedVariant,
    ReadResult,
)
from storefront.product_files.sale_periods import settled
from storefront.product_files.stock_levels import settle_level
from storefront.shops.models import Shop

_UNPRICED: dict[str, Any] = dict.fromkeys(COLUMNS) | {"price": ZERO, "compare_price": ZERO, "is_active": True}


class NewTables:
    """Packs and inserts the rows of a shop's new products."""

    def __init__(self, shop: Shop, now: datetime) -> None:
        self.shop, self.now = shop, now
        of_shop = {"shop_id": shop.pk}
        stamped = {"shop_id": shop.pk, "created_at": now, "updated_at": now}
        related = [f"{kind}_id" for kind in NAMED]
        self.products = BulkTable(Product, stamped, later=["id", "slug", "default_variant_id", *related])
        self.search = BulkTable(ProductSearch, of_shop, later=["product_id"])
        self.media = BulkTable(Media, of_shop, later=["id", "product_id"])
        self.variants = BulkTable(Variant, stamped, later=["id", "product_id", "image_id"])
        self.options = BulkTable(Option, of_shop, later=["id", "product_id"])
        self.values = BulkTable(OptionValue, of_shop, later=["id", "option_id"])
        # All columns of these tables come from the writing process.
        self.links = BulkTable(ProductCategory, stamped, later=["id", "product_id", "category_id", "sort_order"])
        self.items = BulkTable(BundleItem, of_shop)

    def pack(self, parsed: ParsedProduct) -> NewRows:
        """The product's rows if it is new. Raises InvalidValue for a sale period that cannot be."""
        fields = settle_level(settled(parsed.fields, self.now))
        variants = [(each, self._variant(each)) for each in parsed.variants or ()]
        if variants and "price" not in fields:
            fields = fields | self._prices([row for _, row in variants])
        row = {**rules.stock_tracking_default(fields), **parsed.if_new, **fields}
        row["sort_name"] = rules.sort_name(row["name"])
        if parsed.merges_translations:
            # Without the blank cells.
            row["translations"] = merged(None, row["translations"])
        if row.get("status") == Product.Status.ACTIVE and "published_on" not in row:
            # rules.published_on, without the cost of a model instance.
            row["published_on"] = max(self.now, row.get("publish_at") or self.now)
        # A trigger would set `listed` anyway; setting it here saves a second write.
        listed = row.get("status") == Product.Status.ACTIVE and not row.get("exclude_from_catalog")
        text = _search_text(parsed, row, self.shop)
        pictures = all_pictures(parsed)
        # The first of several pictures with the same URL counts.
        places: dict[str | None, int] = {picture.url: place for place, picture in reversed([*enumerate(pictures)])}
        return NewRows(
            product=self.products.pack(row),
            search=self.search.pack({"text": text.text, "listed": listed}),
            words=text.words,
            media=[(each.url, self._picture(order, each)) for order, each in enumerate(pictures)],
            variants=[
                PackedVariant(self.variants.pack(row), places.get(each.image), each.external_id)
                for each, row in variants
            ],
            default=max((place for place, (each, _) in enumerate(variants) if each.is_default), default=None),
            options=self._options(parsed),
            slugs=given_in(row.get("translations")),
        )

    def _picture(self, order: int, picture: ParsedMedia) -> Packed:
        return self.media.pack({"sort_order": order, **picture.fields, "source_url": picture.url})

    def _variant(self, variant: ParsedVariant) -> dict[str, Any]:
        fields = settle_level(settled(variant.new_fields, self.now))
        return {**rules.stock_tracking_default(fields), **fields, "option_values": variant.option_values}

    def _prices(self, variants: list[dict[str, Any]]) -> dict[str, Any]:
        """The prices that lists sort a variable product by. Without an active variant, those of all of them."""
        product, rows = SimpleNamespace(**_UNPRICED), [SimpleNamespace(**_UNPRICED | row) for row in variants]
        if not any(row.is_active for row in rows):
            for row in rows:
                row.is_active = True
        follow(product, rows)
        settle(product, self.now)
        return {name: getattr(product, name) for name in COLUMNS}

    def _options(self, parsed: ParsedProduct) -> list[tuple[Packed, list[Packed]]]:
        return [
            (
                self.options.pack({"sort_order": order, **option.fields, "name": option.name}),
                [
                    self.values.pack({"sort_order": place, **fields, "label": label})
                    for place, (label, fields) in enumerate(option.values)
                ],
            )
            for order, option in enumerate(parsed.options or ())
        ]


def with_new_rows(results: Iterator[ReadResult], tables: NewTables) -> Iterator[ReadResult]:
    """The results of an import that only creates products, each with its packed rows instead of parsed values."""
    for parsed in results:
        if isinstance(parsed, ParsedProduct) and parsed.fields.get("name") and not parsed.refusal_if_new:
            try:
                parsed.rows = tables.pack(parsed)
            except InvalidValue:
                # The writing process raises the error again, and reports it.
                yield parsed
                continue
            parsed.fields, parsed.if_new, parsed.media, parsed.variants, parsed.options = {}, {}, None, None, None
            parsed.metafields = None
        yield parsed


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


def _search_text(parsed: ParsedProduct, row: dict[str, Any], shop: Shop) -> SearchText:
    return search_text(
        language=shop.language,
        further=shop.further_languages,
        translations=row.get("translations"),
        name=row["name"],
        sku=row.get("sku", ""),
        description=row.get("description", ""),
        brand=parsed.related_names.get("brand"),
        tags=row.get("tags"),
        attributes=row.get("attributes"),
        variants=[
            (variant.new_fields["name"], variant.fields.get("sku", ""), variant.option_values)
            for variant in parsed.variants or ()
            if variant.new_fields.get("is_active", True)
        ],
    )
