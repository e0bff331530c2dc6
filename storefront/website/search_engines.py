"""What search engines ask for: robots.txt, the sitemap, and products as structured data."""

from datetime import datetime
from typing import Any
from xml.sax.saxutils import escape

from django.http import Http404, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from storefront.shops.models import Shop
from storefront.shops.request import Request
from storefront.website import queries, texts
from storefront.website.details import Detail

# Products in one file of the sitemap, well under what search engines take.
PART = 10_000
# What search engines have no use for: what belongs to one visitor, and blocks, for which apps would be asked.
PRIVATE = ("/account", "/basket", "/cart/", "/checkout", "/orders/", "/admin/", "/api/", "/products/*/blocks")


@require_safe
def robots(request: Request) -> HttpResponse:
    if not request.shop:
        return HttpResponse("User-agent: *\nDisallow: /\n", content_type="text/plain")
    private = "".join(f"Disallow: {path}\n" for path in PRIVATE)
    sitemap = f"Sitemap: {request.shop.base_url}/sitemap.xml\n"
    return HttpResponse(f"User-agent: *\n{private}\n{sitemap}", content_type="text/plain")


@require_safe
def sitemap(request: Request) -> HttpResponse:
    """The index: categories are part 0, products parts 1 and up."""
    if not request.shop:
        raise Http404
    parts = -(-queries.sitemap_size(request.shop, request.now) // PART)
    entries = "".join(
        f"<sitemap><loc>{escape(request.shop.base_url)}/sitemap-{number}.xml</loc></sitemap>"
        for number in range(parts + 1)
    )
    return _xml("sitemapindex", entries)


@require_safe
def sitemap_part(request: Request, number: int) -> HttpResponse:
    if not request.shop:
        raise Http404
    base = request.shop.base_url
    if number == 0:
        places: list[tuple[str, datetime | None]] = [(f"{base}/", None), (f"{base}/products", None)]
        places += [
            (base + reverse("website:category", args=[slug]), moment)
            for slug, moment in queries.sitemap_categories(request.shop)
        ]
    else:
        start = (number - 1) * PART
        found = queries.sitemap_products(request.shop, request.now, start=start, end=start + PART)
        if not found:
            raise Http404
        places = [(base + reverse("website:product", args=[slug]), moment) for slug, moment in found]
    entries = (
        f"<url><loc>{escape(address)}</loc>" + (f"<lastmod>{moment:%Y-%m-%d}</lastmod>" if moment else "") + "</url>"
        for address, moment in places
    )
    return _xml("urlset", "".join(entries))


def structured_product(shop: Shop, record: dict[str, Any], detail: Detail) -> dict[str, Any]:
    """The product in schema.org's words."""
    url = shop.base_url + reverse("website:product", args=[record["slug"]])
    stock = "InStock" if detail.availability.can_sell else "OutOfStock"
    offer: dict[str, Any] = {"@type": "Offer", "url": url, "price": str(detail.price.amount)}
    if detail.price.highest or detail.price.is_from:
        offer = {"@type": "AggregateOffer", "url": url, "lowPrice": str(detail.price.amount)}
    offer |= {"priceCurrency": shop.currency, "availability": f"https://schema.org/{stock}"}
    found = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": record["name"],
        "url": url,
        "description": texts.in_short(record["short_description"] or record["description"], 500),
        "sku": record["sku"],
        "image": [media["url"] for media in record["media"]],
        "offers": offer,
    }
    return {member: value for member, value in found.items() if value}


def _xml(root: str, entries: str) -> HttpResponse:
    body = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{root}>\n'
    )
    return HttpResponse(body, content_type="application/xml")
