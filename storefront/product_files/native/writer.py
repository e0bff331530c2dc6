"""Writes a product as a line of a native product file; `reader.py` describes the format."""

from typing import Any

from storefront.catalogue import records, rules
from storefront.catalogue.models import Category, Product, Variant
from storefront.product_files.export_values import category_branch
from storefront.product_files.native.members import RELATED, members
from storefront.product_files.parsed_products import NAMED
from storefront.shops.models import Shop


def dump(shop: Shop, product: Product, categories: dict[int, Category]) -> dict[str, Any]:
    """The product as one line's object. Takes a product from `existing_products`, and the shop's categories by id."""
    made = {"name": product.name, "slug": product.slug, "type": product.type, **_columns(product)}
    made |= {kind: row.name if (row := getattr(product, kind)) else None for kind in NAMED}
    made["media"] = [
        {"url": records.media_url(shop, row.file.name, row.source_url), **_columns(row)} for row in product.media.all()
    ]
    made["categories"] = [_category(link, categories) for link in product.category_links.all()]
    made["variants"] = [_variant(shop, product, row) for row in product.variants.all()]
    made["options"] = [
        {**_columns(row), "type": row.type, "values": [_columns(value) for value in row.values.all()]}
        for row in product.options.all()
    ]
    if bundle_items := list(product.bundle_items.all()):
        made["bundle_items"] = [
            {"product": row.product.slug, "variant": row.variant and row.variant.option_values, **_columns(row)}
            for row in bundle_items
        ]
    for kind, name in RELATED.items():
        if slugs := [row.related_product.slug for row in product.related.all() if row.kind == kind]:
            made[name] = slugs
    return made


def _variant(shop: Shop, product: Product, row: Variant) -> dict[str, Any]:
    image = next((each for each in product.media.all() if each.pk == row.image_id), None)
    made = {**_columns(row), "image": records.media_url(shop, image.file.name, image.source_url) if image else None}
    return made | ({"is_default": True} if row.pk == product.default_variant_id else {})


def _category(link: Any, categories: dict[int, Category]) -> str | dict[str, Any]:
    nodes = category_branch(link.category_id, categories)
    path = " > ".join(node.name for node in nodes)
    described = [_category_node(node) for node in nodes]
    if any(len(node) > 1 or ">" in node["name"] for node in described):
        return {"path": path, "sort_order": link.sort_order, "nodes": described}
    return {"path": path, "sort_order": link.sort_order} if link.sort_order else path


def _category_node(node: Category) -> dict[str, Any]:
    """The name, and every value that differs from those of a category created from a path alone."""
    defaults = {column.name: column.get_default() for column in Category._meta.concrete_fields}
    made = {
        name: value for name, value in _columns(node).items() if name == "name" or getattr(node, name) != defaults[name]
    }
    if node.slug != rules.slug_of(node.name, fallback="category"):
        made["slug"] = node.slug
    return made


def _columns(row: Any) -> dict[str, Any]:
    return {name: kind.dump(getattr(row, name)) for name, kind in members(row._meta.model).items()}
