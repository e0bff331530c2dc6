# ruff: noqa: S608, what is put together here is column lists and conditions of this file; values are parameters.
"""The SQL of the catalogue's reads, built once per combination of filters.

Written by hand so that its conditions are literals, which is what lets partial indexes serve it. Every statement
takes `%(shop)s`; `%(now)s` is the moment that decides what is public.
"""

from functools import cache

from storefront.catalogue import records

# Which products are public (decisions, section 2). `queries.published` says the same for the ORM, and
# `Product.is_published` of one row; a test holds the three together.
PUBLISHED = (
    "p.status = 'active' AND p.deleted_at IS NULL"
    " AND (p.publish_at IS NULL OR p.publish_at <= %(now)s)"
    " AND (p.unpublish_at IS NULL OR p.unpublish_at > %(now)s)"
)
# What lists show: `models.LISTABLE`, and the dates.
LISTABLE = "p.status = 'active' AND p.deleted_at IS NULL AND NOT p.exclude_from_catalog"
LISTED = f"NOT p.exclude_from_catalog AND {PUBLISHED}"
# What dates keep out of the lists now, in two parts that share nothing, each a range of its own index.
HIDDEN = (
    "p.publish_at > %(now)s",
    "p.unpublish_at <= %(now)s AND (p.publish_at IS NULL OR p.publish_at <= %(now)s)",
)


@cache
def product(key: str) -> str:
    """The record of the published product whose `key` column is `%(key)s`, with all that the single read shows."""
    return (
        f"SELECT {records.whole_product()} FROM catalogue_product p"
        f" WHERE p.shop_id = %(shop)s AND p.{key} = %(key)s AND {PUBLISHED}"
    )


# How many products lists show of a category: those that the database has counted, less those that a date hides now.
_LISTED_IN = (
    "(SELECT CAST(COALESCE(sum(t.products), 0) AS bigint) FROM catalogue_listingtotal t"
    " WHERE t.shop_id = %(shop)s AND t.category = c.id)"
    " - COALESCE((SELECT h.products FROM hidden h WHERE h.category_id = c.id), 0)"
)
_HIDDEN_IN = " UNION ALL ".join(
    f"SELECT p.id FROM catalogue_product p WHERE p.shop_id = %(shop)s AND {LISTABLE} AND {part}" for part in HIDDEN
)


@cache
def categories() -> str:
    """The records of the active categories with their product counts, in the tree's order."""
    return f"{_categories()} ORDER BY c._lft, c.id"


@cache
def category(key: str) -> str:
    """The same of the active category whose `key` column is `%(key)s`."""
    return f"{_categories()} AND c.{key} = %(key)s"


def _categories() -> str:
    return (
        f"WITH hidden AS (SELECT l.category_id, count(*) AS products FROM ({_HIDDEN_IN}) p"
        " JOIN catalogue_productcategory l ON l.product_id = p.id GROUP BY l.category_id)"
        f" SELECT {records.category(('products_count', _LISTED_IN))} FROM catalogue_category c"
        " WHERE c.shop_id = %(shop)s AND c.is_active"
    )
