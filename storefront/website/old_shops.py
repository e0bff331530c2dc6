"""Addresses that pages have in other shop programs, and in ours with a slash at the end."""

import re

from django.urls import reverse

from storefront.catalogue.models import Product
from storefront.catalogue.old_slugs import moved_row
from storefront.content.queries import published_page
from storefront.listing.queries import published_products
from storefront.shops.places import page_url
from storefront.shops.request import Request
from storefront.website.queries import moved_category, shown_category

# By page of ours: the paths that lead to it, in lower case and without a slash at the end; the slug is their last part.
_SLUGS = {
    "website:product": r"/products/{}|/collections/[^/]+/products/{}|/product/{}",
    "website:category": r"/categories/{}|/collections/{}|/product-category/(?:[^/]+/)*{}",
    "website:page": r"/pages/{}",
}
_SLUG = "([^/]+)"
_PATTERNS = {
    page: [re.compile(each.format(*[_SLUG] * 3)) for each in paths.split("|")] for page, paths in _SLUGS.items()
}
_PAGES = {
    "/products": "website:listing",
    "/shop": "website:listing",
    "/collections": "website:listing",
    "/collections/all": "website:listing",
    "/basket": "website:basket",
    "/cart": "website:basket",
    "/my-account": "website:account",
    "/account": "website:account",
    "/account/login": "website:account",
}


def present_path(request: Request, path: str) -> str | None:
    """The path of our page that this decoded path would have elsewhere; None unless the shop has that page. At most
    three queries."""
    path = path.rstrip("/")
    if path.casefold() in _PAGES:
        return page_url(request, _PAGES[path.casefold()])
    for page, patterns in _PATTERNS.items():
        for pattern in patterns:
            if found := pattern.fullmatch(path):
                slug = _present_slug(request, page, found[1])
                return None if slug is None else reverse(page, args=[slug])
    return None


def _present_slug(request: Request, page: str, slug: str) -> str | None:
    """The slug that a product, category or page has now which shoppers can see."""
    shop = request.shop
    if page == "website:page":
        found = published_page(shop, slug, request.language)
        return found.slug if found else None
    if page == "website:category":
        category = shown_category(shop, slug) or moved_category(shop, slug)
        return category.slug if category else None
    products = published_products(shop, request.now)
    if "\0" not in slug and products.filter(slug=slug).exists():
        return slug
    moved = moved_row(shop, Product, slug)
    return moved[1] if moved and products.filter(pk=moved[0]).exists() else None
