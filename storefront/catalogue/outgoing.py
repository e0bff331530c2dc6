"""What the writers of every product file need of a product."""

from typing import Any

from storefront.catalogue import records as wire
from storefront.catalogue.models import Category, Media, Product, Variant
from storefront.shops.models import Shop

Categories = dict[int, Category]


def branch(category_id: int, categories: Categories) -> list[Category]:
    """The category with those above it, from the root down; empty where it is not the shop's."""
    found: list[Category] = []
    at = categories.get(category_id)
    while at is not None and len(found) <= len(categories):
        found.append(at)
        at = categories.get(at.parent_id) if at.parent_id else None
    return found[::-1]


def branches(product: Product, categories: Categories) -> list[list[Category]]:
    """The branches that the product is in, in the tree's order."""
    found = [branch(link.category_id, categories) for link in product.category_links.all()]
    return sorted((each for each in found if each), key=lambda each: (each[-1].lft, each[-1].pk))


def addresses(shop: Shop, product: Product) -> dict[int, str]:
    """The product's pictures by id, as absolute addresses in their order."""
    return {media.pk: address(shop, media) for media in product.media.all()}


def address(shop: Shop, media: Media) -> str:
    return wire.media_url(shop, media.file.name, media.source_url) or ""


def variants(product: Product) -> list[Variant]:
    return list(product.variants.all()) if product.type == Product.Type.VARIABLE else []


def axes(product: Product) -> dict[str, list[str]]:
    """What the variants are chosen by, with the values to choose from: as the attributes say, then as they have it."""
    found: dict[str, list[str]] = {}
    for item in product.attributes:
        if item.get("variation"):
            found[item["name"]] = list(item.get("values", []))
    for variant in variants(product):
        for name, value in variant.option_values.items():
            values = found.setdefault(name, [])
            if value not in values:
                values.append(value)
    return found


def plain(number: Any) -> str:
    """A decimal without needless zeros: 0.5, 12."""
    if number is None:
        return ""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def flag(value: bool) -> str:
    return "1" if value else "0"
