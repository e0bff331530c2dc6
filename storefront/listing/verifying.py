"""Compares the kept totals of product lists with the products."""

from collections.abc import Iterator

from storefront.kit.deviations import Deviation, differing
from storefront.listing.reindexing import total_differences
from storefront.shops.models import Shop


def deviations(shop: Shop) -> Iterator[Deviation]:
    """The shop's lists whose total is not the number of their products."""
    for each in total_differences(shop):
        name = f"category {each['category']}" if each["category"] else "all products"
        yield from differing("total of a list", name, each["kept"], each["counted"])
