"""Writes a product as a line of a native product file; `reader.py` describes the format."""

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any

from django.db import models

from storefront.catalogue import records, rules
from storefront.catalogue.fields import as_it_is
from storefront.catalogue.models import Category, Media, ProductCategory, Variant
from storefront.product_files.existing import ExistingProduct
from storefront.product_files.export_values import Categories, category_branch
from storefront.product_files.native.members import RELATED, members
from storefront.product_files.parsed_products import NAMED
from storefront.shops.models import Shop


class ProductWriter:
    """Writes one shop's products; takes the shop's categories by id."""

    def __init__(self, shop: Shop, categories: Categories) -> None:
        self.shop, self.categories = shop, categories
        # Path of each category, and its nodes if they have more values than their names.
        self._paths: dict[int, tuple[str, list[dict[str, Any]] | None]] = {}

    def dump(self, existing: ExistingProduct) -> dict[str, Any]:
        """The product as one line's object."""
        product = existing.product
        made = {"name": product.name, "slug": product.slug, "type": product.type, **_columns(product)}
        made |= {kind: row.name if (row := getattr(product, kind)) else None for kind in NAMED}
        made["media"] = [{"url": self._url(row), **_columns(row)} for row in existing.media]
        made["categories"] = [self._category(link) for link in existing.category_links]
        made["variants"] = [self._variant(existing, row) for row in existing.variants]
        made["options"] = [
            {**_columns(row), "type": row.type, "values": [_columns(value) for value in existing.option_values[row.pk]]}
            for row in existing.options
        ]
        if existing.bundle_items:
            made["bundle_items"] = [
                {"product": row.product.slug, "variant": row.variant and row.variant.option_values, **_columns(row)}
                for row in existing.bundle_items
            ]
        made |= {RELATED[kind]: [slug for _, slug in products] for kind, products in existing.related.items()}
        return made

    def _variant(self, existing: ExistingProduct, row: Variant) -> dict[str, Any]:
        image = next((each for each in existing.media if each.pk == row.image_id), None)
        made = {**_columns(row), "image": self._url(image) if image else None}
        return made | ({"is_default": True} if row.pk == existing.product.default_variant_id else {})

    def _url(self, media: Media) -> str | None:
        return records.media_url(self.shop, media.file.name, media.source_url)

    def _category(self, link: ProductCategory) -> str | dict[str, Any]:
        if link.category_id not in self._paths:
            self._paths[link.category_id] = _described(category_branch(link.category_id, self.categories))
        path, nodes = self._paths[link.category_id]
        if nodes:
            return {"path": path, "sort_order": link.sort_order, "nodes": nodes}
        return {"path": path, "sort_order": link.sort_order} if link.sort_order else path


def _described(branch: list[Category]) -> tuple[str, list[dict[str, Any]] | None]:
    nodes = [_category_node(node) for node in branch]
    says_all = all(len(node) == 1 and ">" not in node["name"] for node in nodes)
    return " > ".join(node.name for node in branch), None if says_all else nodes


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
    names, read, dumps = _reader(row._meta.model)
    made = dict(zip(names, read(row), strict=True))
    for name, dump in dumps:
        made[name] = dump(made[name])
    return made


@cache
def _reader(model: type[models.Model]) -> tuple[list[str], Callable[[Any], tuple[Any, ...]], list[tuple[str, Any]]]:
    """The names of the model's members, a function that reads them from a row, and the conversions that some of them
    need."""
    kinds = members(model)
    return (
        list(kinds),
        attrgetter(*kinds),
        [(name, kind.dump) for name, kind in kinds.items() if kind.dump is not as_it_is],
    )
