"""Baselines: the values that an export of an existing product would have, so that an update changes only values that
differ in the file.

A CSV format cannot hold all of a product: its export lacks a bundle's items, or gives the price of a variable product
as that of its cheapest variant. An update ignores values that are the same in the product's own export.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from storefront.catalogue.models import Category, Variant
from storefront.product_files.csv_reading import clean_value
from storefront.product_files.existing import ExistingProduct
from storefront.product_files.export_values import variants_of
from storefront.product_files.parsed_products import ParsedMetafield, ParsedProduct, ParsedVariant, ReadResult
from storefront.product_files.rows import ColumnIndex
from storefront.product_files.shopify import headers as shopify_headers
from storefront.product_files.shopify import reader as shopify_reader
from storefront.product_files.shopify import writer as shopify_writer
from storefront.product_files.woocommerce import headers
from storefront.product_files.woocommerce import reader as woocommerce_reader
from storefront.product_files.woocommerce import writer as woocommerce_writer
from storefront.shops.models import Shop


class Baselines:
    """The baselines of one shop's products in the format of one file."""

    def __init__(self, shop: Shop, format: str, now: datetime) -> None:
        self.shop, self.format, self.now = shop, format, now
        self._categories: dict[int, Category] | None = None
        # Readers by the header of their rows, which most products share.
        self._readers: dict[tuple[str, ...], Callable[[list[list[str]]], ReadResult]] = {}

    def clear(self) -> None:
        """Forget the shop's categories, so that they are read again when needed."""
        self._categories = None

    def differing(
        self, parsed: ParsedProduct, existing: ExistingProduct, variant_rows: list[Variant | None]
    ) -> ParsedProduct:
        """The parsed product without the values that this existing product's export has, too. `variant_rows` are the
        existing variants that the parsed ones are."""
        if self.format not in ("woocommerce", "shopify"):
            return parsed
        baseline = self._baseline(existing, parsed.fields.get("dimension_unit") or "cm")
        if baseline is None:
            return parsed
        # By the lines of their rows; WooCommerce's first row is the product alone.
        first = 2 if self.format == "woocommerce" else 1
        exported = variants_of(existing)
        own = {exported[variant.line - first].pk: variant for variant in baseline.variants or ()}
        return _without(parsed, baseline, [own.get(row.pk) if row else None for row in variant_rows])

    def _baseline(self, existing: ExistingProduct, unit: str) -> ParsedProduct | None:
        if self._categories is None:
            self._categories = {row.pk: row for row in Category.objects.filter(shop=self.shop)}
        builder: Any
        if self.format == "woocommerce":
            builder = woocommerce_writer.RowBuilder.for_one(self.shop, self._categories, existing, unit)
        else:
            builder = shopify_writer.RowBuilder.for_one(self.shop, self._categories, existing)
        rows = [[clean_value(row.get(header, "")) for header in builder.header] for row in builder.rows(existing)]
        found = self._reader(tuple(builder.header))(rows)
        return found if isinstance(found, ParsedProduct) else None

    def _reader(self, header: tuple[str, ...]) -> Callable[[list[list[str]]], ReadResult]:
        if header not in self._readers:
            reader: Any
            if self.format == "woocommerce":
                reader, column_of = woocommerce_reader, headers.column_of
            else:
                reader, column_of = shopify_reader, shopify_headers.column_of
            columns = ColumnIndex([(each, column_of(each)) for each in header])
            self._readers[header] = reader.product_reader(columns, shop=self.shop, now=self.now)
        return self._readers[header]


def _without(parsed: ParsedProduct, baseline: ParsedProduct, own_variants: list[ParsedVariant | None]) -> ParsedProduct:
    """The parsed product without the values that equal the baseline. `own_variants` are those of the baseline, as they
    belong to the parsed ones."""
    return replace(
        parsed,
        fields=_differing(parsed.fields, baseline.fields),
        related_names=_differing(parsed.related_names, baseline.related_names),
        categories=None if parsed.categories == baseline.categories else parsed.categories,
        media=None if parsed.media == baseline.media else parsed.media,
        metafields=_metafields_without(parsed.metafields, baseline.metafields or []),
        variants=parsed.variants
        and [_variant_without(*each) for each in zip(parsed.variants, own_variants, strict=True)],
    )


def _metafields_without(
    stated: list[ParsedMetafield] | None, own: list[ParsedMetafield]
) -> list[ParsedMetafield] | None:
    """The metafields of the keys for which the product's export has others; columns of other products are blank."""
    if stated is None:
        return None

    def of_key(found: list[ParsedMetafield], key: str) -> list[ParsedMetafield]:
        return [each for each in found if each.key == key and each.values is not None]

    return [each for each in stated if of_key(stated, each.key) != of_key(own, each.key)]


def _variant_without(variant: ParsedVariant, own: ParsedVariant | None) -> ParsedVariant:
    if own is None:
        return variant
    is_same_image = variant.image == own.image
    return replace(
        variant,
        fields=_differing(variant.fields, own.fields),
        states_image=variant.states_image and not is_same_image,
        states_options=variant.states_options and variant.key != own.key,
    )


def _differing(stated: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in stated.items() if name not in own or own[name] != value}
