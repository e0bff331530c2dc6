"""The shop's public pages: home, listing, category, product."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.encoding import escape_uri_path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from storefront.catalogue import records
from storefront.catalogue.models import Category, RelatedProduct
from storefront.customers.session import customer_of
from storefront.kit.api.pagination import last_page, shown_pages
from storefront.listing import page_sql, spelling
from storefront.listing import queries as listing_queries
from storefront.listing.facets import Facets, facets_of
from storefront.listing.page import RELEVANCE
from storefront.listing.queries import ProductFilters, ProductPage, languages_of_search
from storefront.listing.stop_words import without_stop_words
from storefront.shops.models import Shop
from storefront.shops.places import SHOP, origin_of, secure_base
from storefront.shops.replica_reads import page_from_replica
from storefront.shops.request import Request
from storefront.website import choices, details, pictures, queries
from storefront.website.cards import ProductCard, product_cards
from storefront.website.filters import FilterForm, Given, filter_form, read_filters
from storefront.website.home import home_context
from storefront.website.looks import looks_once
from storefront.website.moved import NoSuchPage, lead_on
from storefront.website.structured import structured_product

PER_PAGE = 24
# Characters of a search. More are left out (R-LIM-4).
MAX_SEARCH_LENGTH = 200
# Related products on a product's page and in the basket.
RELATED_PRODUCTS = 4
SORTS = {
    "": gettext_lazy("Recommended"),
    "newest": gettext_lazy("Newest first"),
    "price_asc": gettext_lazy("Price, low to high"),
    "price_desc": gettext_lazy("Price, high to low"),
    "name": pgettext_lazy("order of a list", "Name"),
}
# Pages linked on each side of the current one in the pager.
NEAR = 2


def require_shop(page: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Responds 404 on a host that belongs to no shop (R-CALL-12)."""

    @wraps(page)
    def guarded(request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.shop:
            raise Http404(_("There is no shop at this address."))
        return page(request, *args, **kwargs)

    return guarded


def form_page(page: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A shop's page with a form: takes GET, HEAD and POST, and is not cached."""
    return require_http_methods(["GET", "HEAD", "POST"])(never_cache(require_shop(page)))


def posted_page(page: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """What a form of a shop's page is posted to."""
    return require_POST(never_cache(require_shop(page)))


@require_safe
@require_shop
@page_from_replica
def home(request: Request) -> HttpResponse:
    context = home_context(
        request.shop, looks_once(request), customer_of(request), now=request.now, language=request.language
    )
    return render(request, "website/home.html", context)


@require_safe
@require_shop
def listing(request: Request) -> HttpResponse:
    query = request.GET
    category = _filtered_category(request, query.get("category", ""))
    if category and not query.get("q"):
        return redirect_to_category(request, category)
    return _listing(request, category, search=query.get("q", "").strip()[:MAX_SEARCH_LENGTH])


@require_safe
@require_shop
def category(request: Request, slug: str) -> HttpResponse:
    found = queries.shown_category(request.shop, slug, request.language)
    if found is not None:
        return _listing(request, found) if found.slug == slug else lead_on(request, "website:category", found.slug)
    moved = queries.moved_category(request.shop, slug, request.language)
    if moved is None:
        raise Http404(_("This category does not exist or is no longer available."))
    return lead_on(request, "website:category", moved.slug)


@require_safe
@require_shop
@page_from_replica
def product(request: Request, slug: str) -> HttpResponse:
    record = listing_queries.product_record_of_page(request.shop, slug, now=request.now, language=request.language)
    if record is None:
        raise Http404(_("This product does not exist or is no longer available."))
    if record["slug"] != slug:
        return lead_on(request, "website:product", record["slug"])
    return product_page(request, record, given=request.GET.dict())


def product_page(request: Request, record: dict[str, Any], *, given: dict[str, str], status: int = 200, **more: Any):
    """The page of a product. `given`: what the visitor has chosen, by form field; `more`: more template context."""
    if request.place == SHOP:
        # Forms of the page lead to pages of the secure host, on which the shopper types.
        request.page_sources = {"form-action": (origin_of(secure_base(request.shop)),)}  # type: ignore[attr-defined]
    detail = details.product_detail(
        request.shop, record, given, customer_of(request), request.now, language=request.language
    )
    home_category = record["categories"][-1] if record["categories"] else None
    context = {
        "product": detail.record,
        "detail": detail,
        "slugs": record.get("slugs"),
        "canonical": record["canonical_url"]
        or request.shop.base_url + reverse("website:product", args=[record["slug"]]),
        "noindex": record["noindex"],
        "script_texts": choices.script_texts(),
        "structured": structured_product(request.shop, record, detail, queries.pages_once(request)),
        "crumbs": _crumbs(request, record["categories"]),
        "current_category": home_category,
        "related": _related(request, record, home_category),
        **more,
    }
    return render(request, "website/product.html", context, status=status)


def _crumbs(request: Request, categories: list[dict[str, Any]]) -> list[Any]:
    """The product's last category with all its ancestors."""
    if not categories:
        return []
    home = categories[-1]
    shown = [category for category in categories if _is_above(category, home)]
    ids = {None, *(category["id"] for category in shown)}
    if all(category["parent_id"] in ids for category in shown):
        return shown
    return [*queries.categories_above(request.shop, home["_lft"], home["_rgt"], request.language), home]


def _is_above(category: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(category["_lft"] <= other["_lft"] and category["_rgt"] >= other["_rgt"])


def _related(request: Request, record: dict[str, Any], category: dict[str, Any] | None) -> list[ProductCard]:
    """Cards of the product's up-sells, and after them of others in its category."""
    shop, now = request.shop, request.now
    speaking: dict[str, Any] = {"now": now, "language": request.language}
    rows = queries.related_records(
        shop, [record["id"]], RelatedProduct.Kind.UP_SELL, count=RELATED_PRODUCTS, **speaking
    )
    if category is not None and len(rows) < RELATED_PRODUCTS:
        shown = {record["id"], *(row["id"] for row in rows)}
        filters = ProductFilters(category=category.get("main_slug", category["slug"]))
        others = listing_queries.first_products(shop, filters, count=RELATED_PRODUCTS + len(shown), **speaking)
        rows += [row for row in others if row["id"] not in shown]
    return product_cards(shop, rows[:RELATED_PRODUCTS], customer_of(request), now)


def redirect_to_category(request: Request, category: Category) -> HttpResponse:
    """Redirect from the listing, filtered by category, to the category's own page, which is the canonical one."""
    given = read_filters(request.GET, with_price=True)
    query = urlencode([*_kept(request, category=None), *given.pairs])
    response = redirect("website:category", category.slug)
    if query:
        response["Location"] += "?" + query
    return response


def _filtered_category(request: Request, slug: str) -> Category | None:
    if not slug:
        return None
    shop, language = request.shop, request.language
    return queries.shown_category(shop, slug, language) or queries.moved_category(shop, slug, language)


def _listing(request: Request, category: Category | None, search: str = "") -> HttpResponse:
    shop, now = request.shop, request.now
    sort = _sort(request)
    page = _page_number(request.GET.get("page", "1"))
    language = request.language
    filters = _filters(category, search, sort, language)
    given = read_filters(request.GET, with_price=_sees_list_prices(request))
    below = queries.subcategories(shop, category, language) if category else queries.main_categories(shop, language)
    filters, facets, corrected = _narrowed(shop, filters, given, below, now)
    found = _products(shop, filters, facets, page, now)
    last = last_page(found.total, PER_PAGE)
    if page > last:
        raise NoSuchPage(_("This page does not exist."))
    above = queries.categories_above(shop, category.lft, category.rgt, language) if category else []
    path = reverse("website:category", args=[category.slug]) if category else reverse("website:listing")
    words = listing_queries.words_of(shop, facets.ids, language)
    form = filter_form(shop, request.path, given, facets, _kept(request, category=category), words=words)
    query = urlencode([*form.kept, *form.pairs])
    banner = category.banner.url if category and category.banner else None
    context = {
        "category": category,
        "current_category": category and {"slug": category.slug, "above": [other.slug for other in above]},
        "crumbs": above,
        "filters": form,
        "subcategories": _category_links(below, form, search),
        # For search engines, if the category has no description of its own.
        "plain_summary": _summary(shop, category),
        "banner": pictures.picture(shop, banner, pictures.BANNER),
        "search": search,
        "corrected": corrected,
        "cards": product_cards(shop, found.rows, customer_of(request), now),
        "total": found.total,
        "sort": sort,
        "sorts": {**SORTS, "": _("Relevance")} if search else SORTS,
        "page": page,
        "pages": list(shown_pages(page, last, near=NEAR, ends=1)),
        "last": last,
        # The pager's links repeat search, order and filters.
        "query": query,
        "slugs": queries.slugs_of_category(shop, category) if category else None,
        "canonical": (category and category.canonical_url) or f"{shop.base_url}{path}" + (f"?page={page}" * (page > 1)),
        # Search engines index each listing once, in the default order, and neither search results nor what is filtered.
        "noindex": bool(search or sort or form.chips) or (category is not None and category.noindex),
    }
    response = render(request, "website/listing.html", context)
    # The URL leaves out empty fields of the form.
    response["HX-Push-Url"] = escape_uri_path(request.path) + (f"?{query}" if query else "")
    return response


def _filters(category: Category | None, search: str, sort: str, language: str) -> ProductFilters:
    slug, order = queries.main_slug(category) if category else None, sort or (RELEVANCE if search else None)
    return ProductFilters(
        q=search,
        for_shoppers=True,
        category=slug,
        with_subcategories=True,
        sort=order,
        members=records.page_members(),
        language=language,
    )


def _summary(shop: Shop, category: Category | None) -> str:
    if category is None:
        return _("All products at %(shop)s.") % {"shop": shop.name}
    return _("%(name)s at %(shop)s.") % {"name": category.name, "shop": shop.name}


def _narrowed(
    shop: Shop, filters: ProductFilters, given: Given, below: list[Category], now: datetime
) -> tuple[ProductFilters, Facets, str | None]:
    """The filtered list; and if nothing matches the search, the one instead of it: without stop words, or corrected."""
    facets = facets_of(shop, filters, given.chosen, categories=below, now=now)
    if not filters.q or facets.total_without:
        return filters, facets, None
    fewer = replace(filters, q=without_stop_words(filters.q, languages_of_search(shop, filters.language)))
    for q in _instead(shop, filters, fewer, now):
        instead = replace(filters, q=q)
        nearest = facets_of(shop, instead, given.chosen, categories=below, now=now)
        # A correction is a word of the whole shop, which may match nothing in this category.
        if nearest.total_without:
            return instead, nearest, q
    return filters, facets, None


def _instead(shop: Shop, filters: ProductFilters, fewer: ProductFilters, now: datetime) -> Iterator[str]:
    if fewer.q != filters.q:
        yield fewer.q
    if corrected := spelling.nearest_spelling(shop, fewer, now=now):
        yield corrected


def _sees_list_prices(request: Request) -> bool:
    """Returns True if the visitor sees list prices, by which lists are sorted and filtered, and not those of a customer
    group."""
    customer = customer_of(request)
    return customer is None or customer.group_id is None


def _products(shop: Shop, filters: ProductFilters, facets: Facets, page: int, now: datetime) -> ProductPage:
    # Saves the database from counting a large category, too.
    is_large = filters.category is not None and facets.total > page_sql.MAX_IDS
    if facets.chosen or filters.q or is_large:
        return listing_queries.narrowed_page(shop, filters, facets.ids, page=page, per_page=PER_PAGE, now=now)
    return listing_queries.product_page(shop, filters, page=page, per_page=PER_PAGE, now=now)


def _category_links(below: list[Category], form: FilterForm, search: str) -> list[tuple[Category, str, int]]:
    """Categories of the listed products, each with the URL and the number of these products."""
    links = []
    for each in below:
        if count := form.facets.categories[each.pk]:
            kept = [pair for pair in form.kept if pair[0] != "category"]
            path = reverse("website:category", args=[each.slug])
            if search:
                path, kept = reverse("website:listing"), [*kept, ("category", each.slug)]
            query = urlencode([*kept, *form.pairs])
            links.append((each, f"{path}?{query}" if query else path, count))
    return links


def _sort(request: Request) -> str:
    sort = request.GET.get("sort", "")
    return sort if sort in SORTS else ""


def _kept(request: Request, *, category: Category | None) -> list[tuple[str, str]]:
    """The search and order, which the listing's links and forms repeat besides its filters."""
    search = request.GET.get("q", "").strip()[:MAX_SEARCH_LENGTH] if request.path == reverse("website:listing") else ""
    kept = [("q", search), ("category", category.slug if category and search else ""), ("sort", _sort(request))]
    return [(name, value) for name, value in kept if value]


def _page_number(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 7 or int(text) < 1:
        raise NoSuchPage(_("This page does not exist."))
    return int(text)
