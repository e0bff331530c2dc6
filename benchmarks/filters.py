"""Measures the filters of a shop's listings, in the database of DATABASE_URL.

python -m benchmarks.filters            # the largest shop there
"""

import os
import time
from statistics import median

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "storefront.server.settings")
django.setup()

from django.db import connection  # noqa: E402, needs Django set up
from django.db.models import Sum  # noqa: E402

from storefront.catalogue.models import Category, ListingTotal, Product  # noqa: E402
from storefront.kit import clock  # noqa: E402
from storefront.listing import queries  # noqa: E402
from storefront.listing.facet_index import index_of  # noqa: E402
from storefront.listing.facets import Chosen, facets_of  # noqa: E402
from storefront.listing.page import RELEVANCE  # noqa: E402
from storefront.listing.page_sql import MAX_MATCHES  # noqa: E402
from storefront.listing.queries import ProductFilters  # noqa: E402
from storefront.shops.models import Shop  # noqa: E402

TIMES = 21


def main() -> None:
    totals = ListingTotal.objects.filter(category=0).values("shop").annotate(size=Sum("products")).order_by("-size")
    shop = Shop.objects.get(pk=totals[0]["shop"])
    index, began, before = index_of(shop), time.perf_counter(), resident()
    index.refresh(queries.database_fetch, clock.now())
    print(f"{connection.vendor}: {len(index.listed):,} products, {len(index.brands):,} brands")
    print(f"index read in {time.perf_counter() - began:.2f} s, {resident() - before} MiB")
    top = Category.objects.filter(shop=shop, parent=None).order_by("lft")[0]
    brands = frozenset(shop.brands.order_by("pk").values_list("name", flat=True)[:1])
    colour = {"colour": frozenset(list(index.attributes["colour"].values)[:1])}
    for name, filters, chosen in (
        ("all, nothing chosen", ProductFilters(), Chosen()),
        ("all, in stock", ProductFilters(), Chosen(in_stock=True)),
        ("all, a price range, by price", ProductFilters(sort="price_asc"), Chosen(least=1000, most=5000)),
        ("all, a brand", ProductFilters(), Chosen(brands=brands)),
        ("all, a colour in stock", ProductFilters(), Chosen(in_stock=True, values=colour)),
        ("a main category", ProductFilters(category=top.slug, with_subcategories=True), Chosen()),
        (
            "a main category, a colour",
            ProductFilters(category=top.slug, with_subcategories=True),
            Chosen(values=colour),
        ),
        ("search for a frequent word, in stock", ProductFilters(q="the", sort=RELEVANCE), Chosen(in_stock=True)),
    ):
        measure(name, shop, filters, chosen)
    measure("all, in stock, after a sale", shop, ProductFilters(), Chosen(in_stock=True), sale_of=index.listed[0])


def measure(name: str, shop: Shop, filters: ProductFilters, chosen: Chosen, sale_of: int | None = None) -> None:
    spans = []
    for _ in range(TIMES):
        if sale_of:
            Product.objects.filter(shop=shop, pk=sale_of).update(updated_at=clock.now())
        now, began = clock.now(), time.perf_counter()
        facets = facets_of(shop, filters, chosen, now=now)
        # As the pages do.
        if chosen or filters.q or (filters.category and facets.total > MAX_MATCHES):
            queries.narrowed_page(shop, filters, facets.ids, page=1, per_page=24, now=now)
        else:
            queries.product_page(shop, filters, page=1, per_page=24, now=now)
        spans.append((time.perf_counter() - began) * 1000)
    print(f"{name:40} {facets.total:9,} first {spans[0]:6.1f} ms, median {median(spans):6.1f}, least {min(spans):6.1f}")


def resident() -> int:
    """MiB of this process in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 2**20


if __name__ == "__main__":
    main()
