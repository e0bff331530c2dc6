"""Finds products and categories by a slug that they had before (`OldSlug`). Callers ask after no product, or category,
was found by its present slug."""

import unicodedata

from storefront.catalogue import rules
from storefront.catalogue.models import Category, OldSlug, Product
from storefront.shops.models import Shop


def moved_row(shop: Shop, model: type[Product] | type[Category], slug: str) -> tuple[int, str] | None:
    """Id and present slug of the product (or category) that had this slug, whether or not shoppers can see it. A link
    with capitals, or with accents as characters of their own, counts as that of the slug as slugs usually are. One
    query."""
    if "\0" in slug or len(slug) > rules.MAX_SLUG_LENGTH:
        return None
    key = "product" if model is Product else "category"
    usual = unicodedata.normalize("NFC", slug).lower()
    rows = OldSlug.objects.filter(shop=shop, slug__in={slug, usual}, **{f"{key}__isnull": False})
    found = {old: (id, now) for old, id, now in rows.values_list("slug", f"{key}_id", f"{key}__slug")}
    return found.get(slug) or found.get(usual)
