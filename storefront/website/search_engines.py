"""Content for search engines: robots.txt, the sitemap, and products as structured data."""

from datetime import datetime
from xml.sax.saxutils import escape, quoteattr

from django.http import Http404, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from storefront.content.queries import published_pages
from storefront.shops.models import Shop
from storefront.shops.request import Request
from storefront.shops.spoken import path_of_language
from storefront.staff import doors
from storefront.website import queries
from storefront.website.queries import Slugs
from storefront.website.versions import alternates

# A page's address, its last change, and its slug by language if it has one.
Entry = tuple[str, datetime | None, Slugs | None]

# Products per sitemap file, well below the limit of search engines (50,000 URLs).
URLS_A_PART = 10_000
# More parts than any shop has. Bounds the offset, since databases accept no arbitrarily large one.
LAST_PART = 50_000
# Paths that crawlers should not fetch: pages of one visitor, and blocks, since each fetch calls apps.
PRIVATE = (
    "/account",
    "/arrive",
    "/basket/",
    "/cart/",
    "/checkout",
    "/orders/",
    "/admin/",
    "/api/",
    "/hand-over",
    "/products/*/blocks",
)


@require_safe
def robots(request: Request) -> HttpResponse:
    if not request.shop or doors.is_closed(request.shop):
        return HttpResponse("User-agent: *\nDisallow: /\n", content_type="text/plain")
    languages = [path_of_language(request.shop, code) for code in request.shop.languages]
    private = "".join(f"Disallow: {language}{path}\n" for language in languages for path in PRIVATE)
    sitemap = f"Sitemap: {request.shop.base_url}/sitemap.xml\n"
    return HttpResponse(f"User-agent: *\n{private}\n{sitemap}", content_type="text/plain")


@require_safe
def sitemap(request: Request) -> HttpResponse:
    """The sitemap index, with parts for each language. Part 0 contains the categories and the merchant's pages, parts 1
    and up the products."""
    if not request.shop:
        raise Http404
    parts = -(-queries.sitemap_size(request.shop, request.now) // URLS_A_PART)
    bases = [request.shop.base_url + path_of_language(request.shop, code) for code in request.shop.languages]
    elements = "".join(
        f"<sitemap><loc>{escape(base)}/sitemap-{number}.xml</loc></sitemap>"
        for base in bases
        for number in range(parts + 1)
    )
    return _xml("sitemapindex", elements)


@require_safe
def sitemap_part(request: Request, number: int) -> HttpResponse:
    if not request.shop:
        raise Http404
    base = request.shop.base_url
    if number == 0:
        entries: list[Entry] = [(base + reverse(page), None, None) for page in ("website:home", "website:listing")]
        entries += [
            (base + reverse("website:category", args=[slugs[request.language]]), moment, slugs)
            for slugs, moment in queries.sitemap_categories(request.shop)
        ]
        entries += [
            (base + reverse("website:page", args=[page.slug]), page.updated_at, page.slugs)
            for page in published_pages(request.shop, request.language, with_slugs=True)
        ]
    elif number > LAST_PART:
        raise Http404
    else:
        start = (number - 1) * URLS_A_PART
        products = queries.sitemap_products(request.shop, request.now, start=start, end=start + URLS_A_PART)
        if not products:
            raise Http404
        entries = [
            (base + reverse("website:product", args=[slugs[request.language]]), moment, slugs)
            for slugs, moment in products
        ]
    return _xml("urlset", "".join(_url(request.shop, *entry) for entry in entries))


def _url(shop: Shop, url: str, changed: datetime | None, slugs: Slugs | None) -> str:
    """A page in the sitemap, with its versions in all of the shop's languages."""
    links = "".join(
        f'<xhtml:link rel="alternate" hreflang="{code}" href={quoteattr(each)}/>'
        for code, each in alternates(shop, url, slugs)
    )
    moment = f"<lastmod>{changed:%Y-%m-%d}</lastmod>" if changed else ""
    return f"<url><loc>{escape(url)}</loc>{moment}{links}</url>"


def _xml(root: str, elements: str) -> HttpResponse:
    names = ' xmlns:xhtml="http://www.w3.org/1999/xhtml"' if "<xhtml:" in elements else ""
    body = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"{names}>{elements}</{root}>\n'
    )
    return HttpResponse(body, content_type="application/xml")
