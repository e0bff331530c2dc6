# ruff: noqa: S608, the statements consist of column lists and conditions of this file; values are parameters.
"""The SQL of single products and of categories, and the conditions that all reads of the catalogue share.

Written by hand so that conditions are literals: partial indexes cannot serve parameters. Every statement takes
`%(shop)s`; `%(now)s` is the moment that decides which products are public.
"""

from functools import cache, lru_cache

from storefront.catalogue import records
from storefront.catalogue.listable import listable

# Which products are public (R-CAT-2). `queries.published` is the same for the ORM, `Product.is_published` for one row;
# a test compares the three.
_ON_TIME = "(p.publish_at IS NULL OR p.publish_at <= %(now)s) AND (p.unpublish_at IS NULL OR p.unpublish_at > %(now)s)"
PUBLISHED = f"p.status = 'active' AND p.deleted_at IS NULL AND {_ON_TIME}"
# Products that lists show.
LISTABLE = listable("p")
LISTED = f"{LISTABLE} AND {_ON_TIME}"
# Products that dates hide from lists now: two disjoint conditions, each a range of its own index.
HIDDEN = (
    "p.publish_at > %(now)s",
    "p.unpublish_at <= %(now)s AND (p.publish_at IS NULL OR p.publish_at <= %(now)s)",
)


@lru_cache(64)
def product(key: str, members: frozenset[str] | None = None) -> str:
    """The record of the published product whose `key` column is `%(key)s`, as the single read shows it, or with these
    members alone."""
    record = records.whole_product() if members is None else records.chosen_product(members)
    return f"SELECT {record} FROM catalogue_product p WHERE p.shop_id = %(shop)s AND p.{key} = %(key)s AND {PUBLISHED}"


# How many products of a category lists show (R-CAT-36): the stored total minus those that a date hides now.
_LISTED_IN = (
    "(SELECT CAST(COALESCE(sum(t.products), 0) AS bigint) FROM catalogue_listingtotal t"
    " WHERE t.shop_id = %(shop)s AND t.category = c.id)"
    " - COALESCE((SELECT h.products FROM hidden h WHERE h.category_id = c.id), 0)"
)
_HIDDEN_IN = " UNION ALL ".join(
    f"SELECT p.id FROM catalogue_product p WHERE p.shop_id = %(shop)s AND {LISTABLE} AND {hidden}" for hidden in HIDDEN
)


@cache
def categories() -> str:
    """The records of the active categories with their product counts, in the tree's order."""
    return f"{_categories()} ORDER BY c._lft, c.id"


@cache
def category(key: str) -> str:
    """The same for the active category whose `key` column is `%(key)s`."""
    return f"{_categories()} AND c.{key} = %(key)s"


def _categories() -> str:
    """The active categories; others are in no answer (R-CAT-34)."""
    return (
        f"WITH hidden AS (SELECT l.category_id, count(*) AS products FROM ({_HIDDEN_IN}) p"
        " JOIN catalogue_productcategory l ON l.product_id = p.id GROUP BY l.category_id)"
        f" SELECT {records.category(('products_count', _LISTED_IN))} FROM catalogue_category c"
        " WHERE c.shop_id = %(shop)s AND c.is_active"
    )
