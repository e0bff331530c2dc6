"""Values of a product that the writers of all file formats share."""

from html import unescape
from typing import Any

from storefront.catalogue import records
from storefront.catalogue.models import Category, Media, Product, Variant
from storefront.product_files.existing import ExistingProduct
from storefront.shops.models import Shop

Categories = dict[int, Category]


def category_branch(category_id: int, categories: Categories) -> list[Category]:
    """The category and its ancestors, root first; empty if the category is not the shop's."""
    found: list[Category] = []
    category = categories.get(category_id)
    while category is not None and len(found) <= len(categories):
        found.append(category)
        category = categories.get(category.parent_id) if category.parent_id else None
    return found[::-1]


def category_branches(existing: ExistingProduct, categories: Categories) -> list[list[Category]]:
    """The branches of the product's categories, in the order of the tree."""
    found = [category_branch(link.category_id, categories) for link in existing.category_links]
    return sorted((each for each in found if each), key=lambda each: (each[-1].lft, each[-1].pk))


def picture_urls(shop: Shop, existing: ExistingProduct) -> dict[int, str]:
    """The absolute URLs of the product's pictures by media id, in order."""
    return {media.pk: picture_url(shop, media) for media in existing.media}


def picture_url(shop: Shop, media: Media) -> str:
    return records.media_url(shop, media.file.name, media.source_url) or ""


def variants_of(existing: ExistingProduct) -> list[Variant]:
    return existing.variants if existing.product.type == Product.Type.VARIABLE else []


def variation_attributes(existing: ExistingProduct) -> dict[str, list[str]]:
    """The attributes that variants are chosen by, with their values; the product's list comes first."""
    # A dictionary's keys are distinct and keep their order.
    found: dict[str, dict[str, None]] = {}
    for item in existing.product.attributes:
        if item.get("variation"):
            found[item["name"]] = dict.fromkeys(item.get("values", []))
    for variant in variants_of(existing):
        for name, value in variant.option_values.items():
            found.setdefault(name, {})[value] = None
    return {name: list(values) for name, values in found.items()}


def encoded(text: str) -> str:
    """The text as it is, but for one that an import would decode (`parsers.decoded`)."""
    return text.replace("&", "&amp;") if "&" in text and unescape(text) != text else text


def plain_number(number: Any) -> str:
    """A decimal without trailing zeros: 0.5, 12; empty for None."""
    if number is None:
        return ""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def flag(value: bool) -> str:
    return "1" if value else "0"
