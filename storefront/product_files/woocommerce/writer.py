"""Writes products like WooCommerce's own export: a row for a variable product, then a row for each variation.

The additional columns `Slug` and `Storefront source` are for an import into this service; WooCommerce ignores them.
The ids are those of this shop, which the source names.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial

from storefront.catalogue.dated.sale_periods import holds
from storefront.catalogue.models import Product, RelatedProduct, Variant
from storefront.kit.money import to_wire
from storefront.product_files import translated_columns
from storefront.product_files.existing import ExistingProduct
from storefront.product_files.export_values import (
    Categories,
    category_branches,
    encoded,
    flag,
    picture_urls,
    plain_number,
    variants_of,
    variation_attributes,
)
from storefront.product_files.losses import Held
from storefront.shops.models import Shop

Row = dict[str, str]

BEFORE_MEASURES = (
    *("ID", "Type", "SKU", "GTIN, UPC, EAN, or ISBN", "Name", "Slug", "Published", "Is featured?"),
    *(
        "Visibility in catalog",
        "Short description",
        "Description",
        "Date sale price starts",
        "Date sale price ends",
        "Tax status",
        "Tax class",
        "In stock?",
        "Stock",
    ),
    *("Low stock amount", "Backorders allowed?", "Weight (kg)"),
)
AFTER_MEASURES = (
    *("Sale price", "Regular price", "Categories", "Tags", "Images", "Download limit", "Download expiry days"),
    *("Parent", "Upsells", "Cross-sells", "Position", "Brands", "Cost of goods", "Storefront source"),
    *("Meta: _yoast_wpseo_title", "Meta: _yoast_wpseo_metadesc", "Meta: _yoast_wpseo_canonical"),
)
ATTRIBUTE_PARTS = ("name", "value(s)", "visible", "global", "default")
_BREAK = re.compile(r"\\n|\n")
_CENTIMETRES = Decimal("2.54")


# Columns of a product, and of a variant.
_HELD = (
    "sku barcode name status is_featured exclude_from_catalog short_description description sale_price is_taxable "
    "track_inventory stock_qty low_stock_threshold allow_backorders weight length width height price compare_price "
    "tags max_downloads download_expiry_days sort_order cost_price meta_title meta_description canonical_url "
    "requires_shipping attributes translations"
)
_HELD_OF_VARIANTS = (
    "sku barcode price compare_price cost_price weight track_inventory stock_qty allow_backorders is_active sale_price"
)


class RowBuilder:
    """Builds the header and the rows of WooCommerce's CSV for one shop's products."""

    # WooCommerce's own files begin with a BOM.
    byte_order_mark = True

    def __init__(self, shop: Shop, categories: Categories, unit: str, attributes: int) -> None:
        """`unit` is the unit of lengths, `cm` or `in`; `attributes` is the number of attributes that get columns."""
        self.shop, self.categories, self.unit = shop, categories, unit
        self.held = Held(_HELD, _HELD_OF_VARIANTS, alt=False, others=partial(_other_losses, shop))
        self.header = [
            *BEFORE_MEASURES,
            *(f"{side} ({self.unit})" for side in ("Length", "Width", "Height")),
            *AFTER_MEASURES,
            *translated_columns.headers(shop.further_languages),
            *(f"Attribute {number} {part}" for number in range(1, attributes + 1) for part in ATTRIBUTE_PARTS),
        ]

    @classmethod
    def for_all(cls, shop: Shop, categories: Categories) -> "RowBuilder":
        """A builder for all of the shop's products."""
        products = Product.objects.filter(shop=shop, deleted_at=None)
        units = products.exclude(dimension_unit=None).order_by().values_list("dimension_unit", flat=True).distinct()
        attributes = max(map(len, products.values_list("attributes", flat=True).iterator()), default=0)
        option_values = Variant.objects.filter(shop=shop).values_list("option_values", flat=True)
        # Variants can have options that are not among the attributes.
        attributes += max(map(len, option_values.iterator()), default=0)
        return cls(shop, categories, "in" if set(units) == {"in"} else "cm", attributes)

    @classmethod
    def for_one(cls, shop: Shop, categories: Categories, existing: ExistingProduct, unit: str) -> "RowBuilder":
        """A builder for one product, with lengths in this unit."""
        attributes = len(variation_attributes(existing)) + len(existing.product.attributes)
        return cls(shop, categories, unit, attributes)

    def rows(self, existing: ExistingProduct) -> Iterator[Row]:
        """The rows of the product and its variations."""
        yield self._product(existing)
        names, pictures = list(variation_attributes(existing)), picture_urls(self.shop, existing)
        for variant in variants_of(existing):
            yield self._variation(existing.product, variant, names, pictures)

    def _product(self, existing: ExistingProduct) -> Row:
        product, found = existing.product, variants_of(existing)
        row = {
            "ID": str(product.pk),
            "Storefront source": self.shop.domain,
            "Type": _type(product, bool(found)),
            "SKU": product.sku,
            "GTIN, UPC, EAN, or ISBN": product.barcode or "",
            "Name": encoded(product.name),
            "Slug": product.slug,
            "Published": "1" if product.status == Product.Status.ACTIVE else "-1",
            "Is featured?": flag(product.is_featured),
            "Visibility in catalog": "hidden" if product.exclude_from_catalog else "visible",
            "Short description": _text(product.short_description),
            "Description": _text(product.description),
            "Tax status": "taxable" if product.is_taxable else "none",
            "Tax class": encoded(product.tax_class.name) if product.tax_class else "",
            "Low stock amount": str(product.low_stock_threshold or ""),
            "Categories": _listed(
                " > ".join(_step(node.name) for node in each) for each in category_branches(existing, self.categories)
            ),
            "Tags": _listed(map(encoded, product.tags)),
            "Images": ", ".join(picture_urls(self.shop, existing).values()),
            "Download limit": str(product.max_downloads or ""),
            "Download expiry days": str(product.download_expiry_days or ""),
            "Upsells": _related(existing, RelatedProduct.Kind.UP_SELL),
            "Cross-sells": _related(existing, RelatedProduct.Kind.CROSS_SELL),
            "Position": str(product.sort_order),
            "Meta: _yoast_wpseo_title": product.meta_title or "",
            "Meta: _yoast_wpseo_metadesc": product.meta_description or "",
            "Meta: _yoast_wpseo_canonical": product.canonical_url or "",
            "Brands": _listed([_step(product.brand.name)]) if product.brand else "",
            "Cost of goods": plain_number(product.cost_price or None),
            **translated_columns.cells(product, self.shop.further_languages),
            **_stock(product),
            **self._measures(product),
            **_attributes(existing),
        }
        return row if found else row | self._prices(product)

    def _measures(self, product: Product) -> Row:
        factor = _CENTIMETRES if self.unit == "cm" and product.dimension_unit == "in" else Decimal(1)
        sides = {"Length": product.length, "Width": product.width, "Height": product.height}
        measures = {
            f"{name} ({self.unit})": plain_number(None if side is None else side * factor)
            for name, side in sides.items()
        }
        return {"Weight (kg)": plain_number(product.weight or None), **measures}

    def _variation(self, product: Product, variant: Variant, names: list[str], pictures: dict[int, str]) -> Row:
        """`names` are those of the attributes that variants are chosen by; `pictures` are URLs by id."""
        row = {
            "Type": "variation",
            "Storefront source": self.shop.domain,
            "SKU": variant.sku,
            "GTIN, UPC, EAN, or ISBN": variant.barcode or "",
            "Name": encoded(f"{product.name} - {variant.name}"),
            "Published": flag(variant.is_active),
            "Is featured?": "0",
            "Visibility in catalog": "visible",
            "Tax status": "taxable" if product.is_taxable else "none",
            "Tax class": "parent",
            "Weight (kg)": plain_number(variant.weight),
            "Images": pictures.get(variant.image_id or 0, ""),
            # By id, since several products can share an SKU.
            "Parent": f"id:{product.pk}",
            "Position": str(variant.sort_order),
            "Cost of goods": plain_number(variant.cost_price or None),
            **_stock(variant),
            **self._prices(variant),
        }
        for number, name in enumerate(names, 1):
            row |= {f"Attribute {number} name": encoded(name), f"Attribute {number} global": "0"}
            row[f"Attribute {number} value(s)"] = _listed([encoded(variant.option_values.get(name, ""))])
        return row

    def _prices(self, row: Product | Variant) -> Row:
        """Without a sale period, a compare price above the price is a sale; WooCommerce cannot store a lower one."""
        if row.sale_price is not None:
            regular = row.compare_price if holds(row) else row.price
            dates = {"Date sale price starts": row.sale_from, "Date sale price ends": row.sale_until}
            written = {name: self._moment(moment) for name, moment in dates.items()}
            return {"Sale price": to_wire(row.sale_price) or "", "Regular price": to_wire(regular) or "", **written}
        if row.compare_price > row.price:
            return {"Sale price": to_wire(row.price) or "", "Regular price": to_wire(row.compare_price) or ""}
        return {"Sale price": "", "Regular price": to_wire(row.price) or ""}

    def _moment(self, moment: datetime | None) -> str:
        """Format the time in the shop's time zone, as WooCommerce expects it."""
        return f"{self.shop.local_time(moment):%Y-%m-%d %H:%M:%S}" if moment else ""


def _other_losses(shop: Shop, existing: ExistingProduct) -> Iterator[str]:
    product = existing.product
    if not translated_columns.holds(product, shop.further_languages):
        yield translated_columns.NOT_HELD
    if product.status == Product.Status.ARCHIVED:
        yield "That it is archived: it becomes a draft"
    if any({*attribute} - {"name", "values", "variation"} for attribute in product.attributes):
        yield "Keys of metafields"
    priced: Sequence[Product | Variant] = variants_of(existing) or [product]
    if any(0 < row.compare_price <= row.price and row.sale_price is None for row in priced):
        yield "Previous prices that are not higher than the price"


def _related(existing: ExistingProduct, kind: str) -> str:
    """The related products by id, since products can share a SKU."""
    return ", ".join(f"id:{id}" for id, _ in existing.related.get(kind, ()))


def _type(product: Product, variable: bool) -> str:
    words = ["variable" if variable or product.type == Product.Type.VARIABLE else "simple"]
    words += ["downloadable"] if product.type == Product.Type.DIGITAL else []
    words += [] if product.requires_shipping else ["virtual"]
    return ", ".join(words)


def _attributes(existing: ExistingProduct) -> Row:
    row: Row = {}
    product, by_variants = existing.product, variation_attributes(existing)
    others = {item["name"]: item.get("values", []) for item in product.attributes if item["name"] not in by_variants}
    default = next((each for each in variants_of(existing) if each.pk == product.default_variant_id), None)
    # Attributes that variants are chosen by come first, so that variation rows can use the same numbers.
    for number, (name, values) in enumerate([*by_variants.items(), *others.items()], 1):
        row |= {f"Attribute {number} name": encoded(name)}
        row[f"Attribute {number} value(s)"] = _listed(map(encoded, values))
        row |= {f"Attribute {number} visible": "1", f"Attribute {number} global": "0"}
        if default is not None:
            row[f"Attribute {number} default"] = encoded(default.option_values.get(name, ""))
    return row


def _stock(row: Product | Variant) -> Row:
    backorders = {"Backorders allowed?": flag(row.allow_backorders)}
    if not row.track_inventory:
        return {"In stock?": "1", "Stock": "", **backorders}
    return {"In stock?": flag(row.stock_qty > 0 or row.allow_backorders), "Stock": str(row.stock_qty), **backorders}


def _text(text: str) -> str:
    return _BREAK.sub(lambda found: "\\n" if found[0] == "\n" else "\\\\n", text)


def _listed(values: Iterable[str]) -> str:
    return ", ".join(value.replace(",", "\\,") for value in values)


def _step(name: str) -> str:
    return name.replace("&", "&amp;").replace(">", "&gt;")
