"""Writing a product as a line of our own product file; `native.py` says what such a file holds."""

from typing import Any

from django.db import models

from storefront.catalogue import records as wire
from storefront.catalogue import rules
from storefront.catalogue.incoming import NAMED
from storefront.catalogue.models import Category, MeasureField, Product, Variant
from storefront.catalogue.native_members import members
from storefront.catalogue.outgoing import branch
from storefront.kit import clock, money
from storefront.shops.models import Shop


def dump(shop: Shop, product: Product, categories: dict[int, Category]) -> dict[str, Any]:
    """The product as a line of the file. Takes it as `merging.standing` reads it, and the shop's categories by id."""
    made = {"name": product.name, "slug": product.slug, "type": product.type, **_columns(product)}
    made |= {kind: row.name if (row := getattr(product, kind)) else None for kind in NAMED}
    made["media"] = [
        {"url": wire.media_url(shop, row.file.name, row.source_url), **_columns(row)} for row in product.media.all()
    ]
    made["categories"] = [_category(link, categories) for link in product.category_links.all()]
    made["variants"] = [_variant(shop, product, row) for row in product.variants.all()]
    made["options"] = [
        {**_columns(row), "type": row.type, "values": [_columns(value) for value in row.values.all()]}
        for row in product.options.all()
    ]
    if parts := list(product.bundle_items.all()):
        made["bundle_items"] = [
            {"product": row.product.slug, "variant": row.variant and row.variant.option_values, **_columns(row)}
            for row in parts
        ]
    return made


def _variant(shop: Shop, product: Product, row: Variant) -> dict[str, Any]:
    image = next((each for each in product.media.all() if each.pk == row.image_id), None)
    made = {**_columns(row), "image": wire.media_url(shop, image.file.name, image.source_url) if image else None}
    return made | ({"is_default": True} if row.pk == product.default_variant_id else {})


def _category(link: Any, categories: dict[int, Category]) -> str | dict[str, Any]:
    nodes = branch(link.category_id, categories)
    path = " > ".join(node.name for node in nodes)
    told = [_category_node(node) for node in nodes]
    if any(len(node) > 1 or ">" in node["name"] for node in told):
        return {"path": path, "sort_order": link.sort_order, "nodes": told}
    return {"path": path, "sort_order": link.sort_order} if link.sort_order else path


def _category_node(node: Category) -> dict[str, Any]:
    """The name, and what else differs from a category that a path alone makes."""
    defaults = {column.name: column.get_default() for column in Category._meta.concrete_fields}
    made = {
        name: value for name, value in _columns(node).items() if name == "name" or getattr(node, name) != defaults[name]
    }
    if node.slug != rules.slug_of(node.name, fallback="category"):
        made["slug"] = node.slug
    return made


def _columns(row: Any) -> dict[str, Any]:
    return {name: _wire(row._meta.get_field(name), getattr(row, name)) for name in members(row._meta.model)}


def _wire(column: Any, value: Any) -> Any:
    match column:
        case _ if value is None:
            return None
        case money.MoneyField():
            return money.to_wire(value)
        case MeasureField():
            return f"{value:.3f}"
        case models.DateTimeField():
            return clock.timestamp(value)
    return value
