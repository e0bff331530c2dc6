"""Suggestions for what a shopper types into the search field."""

from django.http import HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from storefront.listing import queries
from storefront.listing.page import RELEVANCE
from storefront.listing.queries import ProductFilters, ProductPage
from storefront.shops.request import Request
from storefront.website.pages import MAX_SEARCH_LENGTH, require_shop

MAX_SUGGESTIONS = 8
# Fewer letters would match nearly every product.
MIN_LETTERS = 2
# How long browsers and proxies may use an answer, in seconds.
MAX_AGE = 60


@require_safe
@require_shop
def suggestions(request: Request) -> HttpResponse:
    """The products that match `q` best, as a JSON list of {name, url}. The same for all visitors."""
    q = request.GET.get("q", "").strip()[:MAX_SEARCH_LENGTH]
    page = ProductPage([], 0)
    if len(q) >= MIN_LETTERS:
        members = frozenset({"id", "name", "slug"})
        language = request.language
        filters = ProductFilters(q=q, for_shoppers=True, sort=RELEVANCE, members=members, language=language)
        page = queries.product_page(request.shop, filters, page=1, per_page=MAX_SUGGESTIONS, now=request.now)
    found = [{"name": row["name"], "url": reverse("website:product", args=[row["slug"]])} for row in page.rows]
    # Not cached beyond the next date that changes the list.
    left = MAX_AGE if page.until is None else max(0, int((page.until - request.now).total_seconds()))
    return JsonResponse(found, safe=False, headers={"Cache-Control": f"public, max-age={min(MAX_AGE, left)}"})
