"""Compares the kept totals of product lists, and the matches of frequent words, with the products."""

from collections.abc import Iterator

from storefront.kit.deviations import Deviation, differing
from storefront.listing.frequent_words import wrong_words
from storefront.listing.reindexing import total_differences
from storefront.shops.models import Shop


def deviations(shop: Shop) -> Iterator[Deviation]:
    """The shop's lists whose total is not the number of their products, and its frequent words whose matches are not
    those that their texts say."""
    for each in total_differences(shop):
        name = f"category {each['category']}" if each["category"] else "all products"
        yield from differing("total of a list", name, each["kept"], each["counted"])
    for text, has, should in wrong_words(shop):
        # As many, but others.
        expected = f"{should}, others" if has == should else should
        yield Deviation("frequent word", text.strip(), str(has), str(expected))
