"""The shop's public pages: home, listing, category, product."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from storefront.catalogue.models import Category, RelatedProduct
from storefront.customers.session import customer_of
from storefront.kit.pagination import last_page, shown_pages
from storefront.listing import queries as listing_queries
from storefront.listing import spelling
from storefront.listing.page import RELEVANCE
from storefront.listing.queries import ProductFilters
from storefront.shops.models import Shop
from storefront.shops.request import Request
from storefront.website import details, pictures, queries, search_engines
from storefront.website.cards import ProductCard, product_cards
from storefront.website.pictures import Picture

PER_PAGE = 24
# Characters of a search. More are left out (R-LIM-4).
LONGEST_SEARCH = 200
# Number of products that a product's page and the basket offer besides.
RELATED_PRODUCTS = 4
SORTS = {
    "": "Recommended",
    "newest": "Newest first",
    "price_asc": "Price, low to high",
    "price_desc": "Price, high to low",
    "name": "Name",
}
# Pages linked on each side of the current one in the pager.
NEAR = 2


def require_shop(page: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Responds 404 on a host that belongs to no shop (R-CALL-12)."""

    @wraps(page)
    def guarded(request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.shop:
            raise Http404("There is no shop at this address.")
        return page(request, *args, **kwargs)

    return guarded


@require_safe
@require_shop
def home(request: Request) -> HttpResponse:
    shop, now = request.shop, request.now
    featured = listing_queries.first_products(shop, ProductFilters(featured=True), count=9, now=now)
    newest = listing_queries.first_products(shop, ProductFilters(sort="newest"), count=17, now=now)
    # A featured product is not shown a second time.
    featured_ids = {row["id"] for row in featured}
    newest = [row for row in newest if row["id"] not in featured_ids][:8]
    lead = featured[0] if featured else None
    # Both grids together, so that prices and stock are read once.
    cards = {card.slug: card for card in product_cards(shop, [*featured, *newest], customer_of(request))}
    categories = queries.main_categories(shop)
    images = queries.category_pictures(shop, categories, now)
    context = {
        "lead": lead,
        "lead_card": cards[lead["slug"]] if lead else None,
        "lead_picture": _lead_picture(shop, lead) if lead else None,
        "featured": [cards[row["slug"]] for row in featured[1:]],
        "newest": [cards[row["slug"]] for row in newest],
        "categories": [
            (category, pictures.picture(shop, images[category.pk], pictures.CARD)) for category in categories
        ],
        "canonical": shop.base_url + "/",
    }
    return render(request, "website/home.html", context)


def _lead_picture(shop: Shop, lead: dict[str, Any]) -> Picture | None:
    return pictures.first_picture(shop, lead, pictures.LARGE, pictures.awaited_media(shop, lead["media"][:1]))


@require_safe
@require_shop
def listing(request: Request) -> HttpResponse:
    query = request.GET
    category = queries.active_category(request.shop, query["category"]) if query.get("category") else None
    if category and not query.get("q"):
        return redirect_to_category(request, category)
    return _listing(request, category, search=query.get("q", "").strip()[:LONGEST_SEARCH])


@require_safe
@require_shop
def category(request: Request, slug: str) -> HttpResponse:
    found = queries.active_category(request.shop, slug)
    if found is None:
        raise Http404("This category does not exist or is no longer available.")
    return _listing(request, found)


@require_safe
@require_shop
def product(request: Request, slug: str) -> HttpResponse:
    record = listing_queries.product_record(request.shop, slug, now=request.now)
    if record is None:
        raise Http404("This product does not exist or is no longer available.")
    if record["slug"] != slug:
        return redirect("website:product", record["slug"], permanent=True)
    return product_page(request, record, given=request.GET.dict())


def product_page(request: Request, record: dict[str, Any], *, given: dict[str, str], status: int = 200, **more: Any):
    """The page of a product. `given`: what the visitor has chosen, by form field; `more`: more template context."""
    detail = details.product_detail(request.shop, record, given, customer_of(request))
    home_category = record["categories"][-1] if record["categories"] else None
    context = {
        "product": detail.record,
        "detail": detail,
        "canonical": record["canonical_url"]
        or request.shop.base_url + reverse("website:product", args=[record["slug"]]),
        "noindex": record["noindex"],
        "structured": search_engines.structured_product(request.shop, record, detail),
        "crumbs": [
            category for category in record["categories"] if home_category and _is_above(category, home_category)
        ],
        "current_category": home_category,
        "related": _related(request, record, home_category),
        **more,
    }
    return render(request, "website/product.html", context, status=status)


def _is_above(category: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(category["_lft"] <= other["_lft"] and category["_rgt"] >= other["_rgt"])


def _related(request: Request, record: dict[str, Any], category: dict[str, Any] | None) -> list[ProductCard]:
    """Cards of the product's up-sells, and after them of others in its category."""
    shop, now = request.shop, request.now
    rows = queries.related_records(shop, [record["id"]], RelatedProduct.Kind.UP_SELL, count=RELATED_PRODUCTS, now=now)
    if category is not None and len(rows) < RELATED_PRODUCTS:
        shown = {record["id"], *(row["id"] for row in rows)}
        filters = ProductFilters(category=category["slug"])
        others = listing_queries.first_products(shop, filters, count=RELATED_PRODUCTS + len(shown), now=now)
        rows += [row for row in others if row["id"] not in shown]
    return product_cards(shop, rows[:RELATED_PRODUCTS], customer_of(request))


def redirect_to_category(request: Request, category: Category) -> HttpResponse:
    """Redirect from the listing, filtered by category, to the category's own page, which is the canonical one."""
    sort = request.GET.get("sort", "")
    response = redirect("website:category", category.slug)
    if sort in SORTS and sort:
        response["Location"] += "?" + urlencode({"sort": sort})
    return response


def _listing(request: Request, category: Category | None, search: str = "") -> HttpResponse:
    shop, now = request.shop, request.now
    sort = request.GET.get("sort", "")
    sort = sort if sort in SORTS else ""
    page = _page_number(request.GET.get("page", "1"))
    filters = ProductFilters(
        q=search,
        category=category.slug if category else None,
        with_subcategories=True,
        sort=sort or (RELEVANCE if search else None),
    )
    found = listing_queries.product_page(shop, filters, page=page, per_page=PER_PAGE, now=now)
    corrected = spelling.nearest_spelling(shop, filters, now=now) if search and not found.total else None
    if corrected:
        instead = replace(filters, q=corrected)
        found = listing_queries.product_page(shop, instead, page=page, per_page=PER_PAGE, now=now)
        # A category may lack what the shop has.
        corrected = corrected if found.total else None
    last = last_page(found.total, PER_PAGE)
    if page > last:
        raise Http404("This page does not exist.")
    above = queries.category_path(shop, category) if category else []
    path = reverse("website:category", args=[category.slug]) if category else reverse("website:listing")
    context = {
        "category": category,
        "current_category": category and {"slug": category.slug, "above": [other.slug for other in above]},
        "crumbs": above,
        "subcategories": queries.subcategories(shop, category) if category else [],
        "banner": pictures.picture(shop, _banner(category), pictures.BANNER) if category else None,
        "search": search,
        "corrected": corrected,
        "sort": sort,
        "sorts": {**SORTS, "": "Relevance"} if search else SORTS,
        "cards": product_cards(shop, found.rows, customer_of(request)),
        "total": found.total,
        "page": page,
        "pages": list(shown_pages(page, last, near=NEAR, ends=1)),
        "last": last,
        # The pager's links repeat the search and the order.
        "query": urlencode({key: value for key, value in (("q", search), ("sort", sort)) if value}),
        "canonical": (category and category.canonical_url) or f"{shop.base_url}{path}" + (f"?page={page}" * (page > 1)),
        # Search engines index each listing once, in the default order, and no search results.
        "noindex": bool(search or sort) or (category is not None and category.noindex),
    }
    return render(request, "website/listing.html", context)


def _banner(category: Category) -> str | None:
    return category.banner.url if category.banner else None


def _page_number(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 7 or int(text) < 1:
        raise Http404("This page does not exist.")
    return int(text)
