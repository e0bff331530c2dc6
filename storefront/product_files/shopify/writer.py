"""Writes products like Shopify's own export, with the classic headers that old and new versions of Shopify read."""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import islice, zip_longest
from typing import Any

from storefront.catalogue.models import Product, Variant
from storefront.kit.money import to_wire
from storefront.product_files import translated_columns
from storefront.product_files.csv_reading import MAX_COLUMNS
from storefront.product_files.existing import ExistingProduct
from storefront.product_files.export_values import (
    Categories,
    category_branches,
    encoded,
    picture_url,
    plain_number,
    variants_of,
    variation_attributes,
)
from storefront.product_files.losses import Held
from storefront.product_files.shopify.headers import ANY
from storefront.product_files.shopify.metafields import cell_of, header_of, without_variations
from storefront.shops.models import Shop

Row = dict[str, str]

HEADER = (
    *("Handle", "Title", "Body (HTML)", "Vendor", "Product Category", "Type", "Tags", "Published"),
    *(f"Option{number} {part}" for number in (1, 2, 3) for part in ("Name", "Value")),
    *("Variant SKU", "Variant Grams", "Variant Inventory Tracker", "Variant Inventory Qty"),
    *("Variant Inventory Policy", "Variant Fulfillment Service", "Variant Price", "Variant Compare At Price"),
    *("Variant Requires Shipping", "Variant Taxable", "Variant Barcode", "Image Src", "Image Position"),
    *("Image Alt Text", "Gift Card", "SEO Title", "SEO Description", "Variant Image", "Variant Weight Unit"),
    *("Variant Tax Code", "Cost per item", "Status"),
)
_GRAMS = Decimal(1000)
# The maximum that Shopify supports.
MAX_OPTIONS = 3
# More columns than this reader takes would make the file useless.
MAX_METAFIELDS = MAX_COLUMNS - len(HEADER)


# Columns of a product, and of a variant.
_HELD = (
    "name description tags status exclude_from_catalog is_gift_card meta_title meta_description sku barcode price "
    "compare_price cost_price weight track_inventory stock_qty allow_backorders is_taxable requires_shipping tic_code "
    "attributes translations"
)
_HELD_OF_VARIANTS = "sku barcode price compare_price cost_price weight track_inventory stock_qty allow_backorders"


class RowBuilder:
    """Builds the header and the rows of Shopify's CSV for one shop's products."""

    byte_order_mark = False

    def __init__(self, shop: Shop, categories: Categories, metafields: Iterable[str]) -> None:
        """`metafields` are the headers of the attributes that get columns."""
        self.shop, self.categories = shop, categories
        self.metafields = set(islice(metafields, MAX_METAFIELDS))
        self.header = [*HEADER, *translated_columns.headers(shop.further_languages), *sorted(self.metafields)]
        self.held = Held(_HELD, _HELD_OF_VARIANTS, alt=True, others=self._other_losses)

    @classmethod
    def for_all(cls, shop: Shop, categories: Categories) -> "RowBuilder":
        """A builder for all of the shop's products."""
        products = Product.objects.filter(shop=shop, deleted_at=None).order_by("pk")
        headers: dict[str, None] = {}
        for attributes in products.values_list("attributes", flat=True).iterator():
            headers.update(dict.fromkeys(_headers(attributes)))
            if len(headers) >= MAX_METAFIELDS:
                break
        return cls(shop, categories, headers)

    @classmethod
    def for_one(cls, shop: Shop, categories: Categories, existing: ExistingProduct) -> "RowBuilder":
        """A builder for one product."""
        return cls(shop, categories, _headers(existing.product.attributes))

    def rows(self, existing: ExistingProduct) -> Iterator[Row]:
        """A row with the product, its first variant and first picture; then a row per further variant or picture."""
        media = existing.media
        # An option for which every variant allows any value is left out.
        chosen = {name for each in variants_of(existing) for name in each.option_values}
        names = [name for name in variation_attributes(existing) if name in chosen][:MAX_OPTIONS]
        variants = [self._variant(existing, each, names) for each in variants_of(existing)] if names else []
        pictures = [
            {"Image Src": picture_url(self.shop, each), "Image Position": str(order), "Image Alt Text": each.alt}
            for order, each in enumerate(media, 1)
        ]
        product_values = self._product(existing, names)
        empty: Row = {}
        for variant, picture in zip_longest(variants or [self._simple(existing.product)], pictures, fillvalue=empty):
            yield {"Handle": existing.product.slug, **product_values, **variant, **picture}
            product_values = {}

    def _product(self, existing: ExistingProduct, names: list[str]) -> Row:
        product = existing.product
        row = {
            "Title": encoded(product.name),
            "Body (HTML)": product.description,
            "Vendor": encoded(product.brand.name) if product.brand else "",
            "Tags": ", ".join(map(encoded, product.tags)),
            "Published": "true",
            "Gift Card": _word(product.is_gift_card),
            "SEO Title": product.meta_title or "",
            "SEO Description": product.meta_description or "",
            "Status": _status(product),
            **translated_columns.cells(product, self.shop.further_languages),
        }
        row |= {
            header: cell_of(each.get("values", []))
            for each in without_variations(product.attributes)
            if (header := header_of(each)) in self.metafields
        }
        # There is room for one path, and for one category without parents as the type.
        paths = [[encoded(node.name) for node in each] for each in category_branches(existing, self.categories)]
        if paths:
            row["Product Category"] = " > ".join(paths[0])
        row["Type"] = next((path[0] for path in paths[1:] if len(path) == 1), "")
        return row | {f"Option{number} Name": encoded(name) for number, name in enumerate(names, 1)}

    def _other_losses(self, existing: ExistingProduct) -> Iterator[str]:
        product = existing.product
        if product.exclude_from_catalog and product.status != Product.Status.ACTIVE:
            yield "That it is hidden from product lists, while it is no active product"
        if product.type == Product.Type.DIGITAL:
            yield "That it is a digital product"
        if product.tax_class_id:
            yield "Tax class"
        if any(existing.related.values()):
            yield "Related products"
        if not translated_columns.holds(product, self.shop.further_languages):
            yield translated_columns.NOT_HELD
        paths = category_branches(existing, self.categories) if len(existing.category_links) > 1 else []
        if len(paths) > 2 or any(len(path) > 1 for path in paths[1:]):
            yield "Categories beyond one path and one type"
        attributes = without_variations(product.attributes)
        if any({*attribute} - {"name", "values", "variation", "metafield"} for attribute in attributes):
            yield "Other members of attributes"
        if any(header_of(attribute) not in self.metafields for attribute in attributes):
            yield "Attributes beyond the columns of a file"
        if variants_of(existing):
            yield from _losses_of_variants(existing)

    def _simple(self, product: Product) -> Row:
        options = {"Option1 Name": "Title", "Option1 Value": "Default Title"}
        return {**options, **_variant_values(product, product), "Variant Grams": _grams(product.weight)}

    def _variant(self, existing: ExistingProduct, variant: Variant, names: list[str]) -> Row:
        product = existing.product
        row = _variant_values(product, variant) | {"Variant Grams": _grams(variant.weight or product.weight)}
        if not variant.is_active:
            # Shopify has no such variants: this one sells nothing there.
            row |= {
                "Variant Inventory Tracker": "shopify",
                "Variant Inventory Qty": "0",
                "Variant Inventory Policy": "deny",
            }
        image = next((each for each in existing.media if each.pk == variant.image_id), None)
        row["Variant Image"] = picture_url(self.shop, image) if image else ""
        for number, name in enumerate(names, 1):
            # Shopify cannot express that any value fits; `Any` is an ordinary value there.
            row[f"Option{number} Value"] = encoded(variant.option_values.get(name, ANY))
        return row


def _losses_of_variants(existing: ExistingProduct) -> Iterator[str]:
    product, variants = existing.product, variants_of(existing)
    if product.default_variant_id:
        yield "Variant selected at first"
    if product.sku or product.barcode:
        yield "SKU and barcode of a product with variants"
    chosen = [{*each.option_values.items()} for each in variants]
    options = variation_attributes(existing)
    if len({name for values in chosen for name, _ in values}) > MAX_OPTIONS:
        yield "Options beyond the third"
    if {(name, value) for name, values in options.items() for value in values} - set().union(*chosen):
        yield "Values of options that no variant has"
    if len({frozenset(each.option_values) for each in variants}) > 1:
        yield "Variants for any value of an option"


def _headers(attributes: list[dict[str, Any]]) -> list[str]:
    return [header_of(each) for each in without_variations(attributes)]


def _status(product: Product) -> str:
    """Shopify's `unlisted` is an active product that is in no list."""
    is_unlisted = product.status == Product.Status.ACTIVE and product.exclude_from_catalog
    return "unlisted" if is_unlisted else product.status


def _variant_values(product: Product, row: Any) -> Row:
    return {
        "Variant SKU": _as_text(row.sku),
        "Variant Inventory Tracker": "shopify" if row.track_inventory else "",
        "Variant Inventory Qty": str(row.stock_qty),
        "Variant Inventory Policy": "continue" if row.allow_backorders else "deny",
        "Variant Fulfillment Service": "manual",
        "Variant Price": to_wire(row.price) or "",
        "Variant Compare At Price": (to_wire(row.compare_price) or "") if row.compare_price else "",
        "Variant Requires Shipping": _word(product.requires_shipping),
        "Variant Taxable": _word(product.is_taxable),
        "Variant Barcode": _as_text(row.barcode or ""),
        "Variant Weight Unit": "kg",
        "Variant Tax Code": product.tic_code or "",
        "Cost per item": plain_number(row.cost_price or None),
    }


def _as_text(code: str) -> str:
    """The code, with a second apostrophe if it begins with one: Shopify removes the first."""
    return f"'{code}" if code.startswith("'") else code


def _grams(kilograms: Decimal) -> str:
    return plain_number(kilograms * _GRAMS)


def _word(value: bool) -> str:
    return "true" if value else "false"
