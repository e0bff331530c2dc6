# ruff: noqa: S608, what is put together here is column lists and conditions of this file; values are parameters.
"""The SQL of the catalogue's reads, built once per combination of filters.

Written by hand so that its conditions are literals, which is what lets partial indexes serve it. Every statement
takes `%(shop)s`; `%(now)s` is the moment that decides what is public.
"""

from functools import cache

from storefront.catalogue.models import Category, Option, OptionValue, Product, ProductCategory, Variant
from storefront.catalogue.records import select_list

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
def product(vendor: str, key: str) -> str:
    """Product columns and media of the published product whose `key` column is `%(key)s`."""
    return (
        f"SELECT {select_list(Product, 'p')}, {media(vendor)} FROM catalogue_product p"
        f" WHERE p.shop_id = %(shop)s AND p.{key} = %(key)s AND {PUBLISHED}"
    )


# How many products lists show of a category: those that the database has counted, less those that a date hides now.
_LISTED_IN = (
    "(SELECT CAST(COALESCE(sum(t.products), 0) AS bigint) FROM catalogue_listingtotal t"
    " WHERE t.shop_id = %(shop)s AND t.category = c.id)"
    " - COALESCE((SELECT h.products FROM hidden h WHERE h.category_id = c.id), 0)"
)
_CATEGORIES = (
    "WITH hidden AS (SELECT l.category_id, count(*) AS products FROM ("
    + " UNION ALL ".join(
        f"SELECT p.id FROM catalogue_product p WHERE p.shop_id = %(shop)s AND {LISTABLE} AND {part}" for part in HIDDEN
    )
    + ") p JOIN catalogue_productcategory l ON l.product_id = p.id GROUP BY l.category_id)"
    f" SELECT {select_list(Category, 'c')}, {_LISTED_IN} FROM catalogue_category c"
    " WHERE c.shop_id = %(shop)s AND c.is_active"
)
# Category columns and product count of the active categories, in the tree's order.
CATEGORIES = f"{_CATEGORIES} ORDER BY c._lft, c.id"


@cache
def category(vendor: str, key: str) -> str:
    """Category columns and product count of the active category whose `key` column is `%(key)s`."""
    return f"{_CATEGORIES} AND c.{key} = %(key)s"


# The pluses keep SQLite from going by the shop's indexes, which hold all its links and categories; a product has few.
PRODUCT_CATEGORIES = (
    f"SELECT {select_list(ProductCategory, 'l')}, {select_list(Category, 'c')}"
    " FROM catalogue_productcategory l JOIN catalogue_category c ON c.id = l.category_id"
    " WHERE +l.shop_id = %(shop)s AND +c.shop_id = %(shop)s AND l.product_id = %(product)s AND c.is_active"
    " ORDER BY c._lft, c.id"
)

VARIANTS = (
    f"SELECT {select_list(Variant, 'v')}, m.file, m.source_url FROM catalogue_variant v"
    " LEFT JOIN catalogue_media m ON m.id = v.image_id"
    " WHERE v.shop_id = %(shop)s AND v.product_id = %(product)s ORDER BY v.sort_order, v.id"
)

OPTIONS = (
    f"SELECT {select_list(Option, 'o')}, {select_list(OptionValue, 'e')} FROM catalogue_option o"
    " LEFT JOIN catalogue_optionvalue e ON e.option_id = o.id"
    " WHERE o.shop_id = %(shop)s AND o.product_id = %(product)s ORDER BY o.sort_order, o.id, e.sort_order, e.id"
)


@cache
def media(vendor: str) -> str:
    # Put in order by whoever reads it, since SQLite before 3.44 cannot order inside an aggregate.
    values = "m.id, m.type, m.file, m.source_url, m.alt, m.width, m.height, m.sort_order"
    array = f"json_group_array(json_array({values}))"
    if vendor != "sqlite":
        array = f"json_agg(json_build_array({values}))::text"
    return f"(SELECT {array} FROM catalogue_media m WHERE m.product_id = p.id)"
