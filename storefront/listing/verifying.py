"""Compares the kept totals of product lists, search texts, and the matches of frequent words, with the products."""

from collections.abc import Iterator

from django.db import connection

from storefront.kit.deviations import Deviation, differing
from storefront.kit.sql import fetch
from storefront.listing.frequent_words import wrong_words
from storefront.listing.reindexing import total_differences
from storefront.listing.sql import LISTABLE
from storefront.shops.models import Shop

# Products without a search text, but for those whose text an import writes next.
_WITHOUT_TEXT = """
    SELECT p.id FROM catalogue_product p LEFT JOIN catalogue_productsearch s ON s.product_id = p.id
    WHERE p.shop_id = %(shop)s AND p.deleted_at IS NULL AND s.product_id IS NULL AND NOT EXISTS (
        SELECT 1 FROM catalogue_awaitedtexts a
        WHERE a.shop_id = p.shop_id AND p.id BETWEEN a.first_product AND a.last_product
    ) ORDER BY p.id
"""
# Texts that are searched, or not, though their products are not listed, or are.
_WRONGLY_LISTED = f"""
    SELECT s.product_id, CASE WHEN s.listed THEN 'found' ELSE 'not found' END,
        CASE WHEN s.listed THEN 'not found' ELSE 'found' END
    FROM catalogue_productsearch s JOIN catalogue_product p ON p.id = s.product_id
    WHERE s.shop_id = %(shop)s AND s.listed <> ({LISTABLE}) ORDER BY s.product_id
"""  # noqa: S608, built from a condition of this package


def deviations(shop: Shop) -> Iterator[Deviation]:
    """The shop's lists whose total is not the number of their products, its products without a search text, or
    whose text is wrongly in or out of the search, and its frequent words whose matches are not those that their texts
    say."""
    for each in total_differences(shop):
        name = f"category {each['category']}" if each["category"] else "all products"
        yield from differing("total of a list", name, each["kept"], each["counted"])
    for (product,) in fetch(connection, _WITHOUT_TEXT, {"shop": shop.pk}, prepared=False):
        yield Deviation("search text", f"product {product}", "none", "one")
    for product, stored, expected in fetch(connection, _WRONGLY_LISTED, {"shop": shop.pk}, prepared=False):
        yield Deviation("search text", f"product {product}", stored, expected)
    for text, has, should in wrong_words(shop):
        # As many, but others.
        expected = f"{should}, others" if has == should else should
        yield Deviation("frequent word", text.strip(), str(has), str(expected))
