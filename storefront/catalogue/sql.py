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
LISTED = f"NOT p.exclude_from_catalog AND {PUBLISHED}"

# Ties break on the id, so that pages never overlap (decisions: List parameters).
SORTS = {
    None: "p.is_pinned DESC, p.sort_order, p.created_at DESC, p.id DESC",
    "newest": "p.created_at DESC, p.id DESC",
    "price_asc": "p.price, p.id",
    "price_desc": "p.price DESC, p.id DESC",
    "name": "p.sort_name, p.id",
}


# A category by itself, as integrations filter, or with all that stands under it, as shoppers expect.
CATEGORIES_MEANT = {
    "alone": "c.slug = %(category)s",
    "branch": (
        "EXISTS (SELECT 1 FROM catalogue_category a WHERE a.shop_id = %(shop)s AND a.slug = %(category)s"
        " AND a.is_active AND c._lft BETWEEN a._lft AND a._rgt)"
    ),
}


@cache
def page(vendor: str, sort: str | None, words: int, category: str | None, featured: bool, since: bool) -> str:
    """Product columns and media of one page; `limit`, `offset` and what the filters need are parameters."""
    # The page is found by ids alone, so that skipping pages does not drag whole rows along.
    return (
        f"SELECT {select_list(Product, 'p')}, {_media(vendor)} FROM catalogue_product p"
        f" WHERE p.id IN (SELECT p.id FROM catalogue_product p WHERE {_where(words, category, featured, since)}"
        f" ORDER BY {SORTS[sort]} LIMIT %(limit)s OFFSET %(offset)s) ORDER BY {SORTS[sort]}"
    )


@cache
def total(words: int, category: str | None, featured: bool, since: bool) -> str:
    """How many products the filters leave."""
    return f"SELECT count(*) FROM catalogue_product p WHERE {_where(words, category, featured, since)}"


@cache
def product(vendor: str, key: str) -> str:
    """Product columns and media of the published product whose `key` column is `%(key)s`."""
    return (
        f"SELECT {select_list(Product, 'p')}, {_media(vendor)} FROM catalogue_product p"
        f" WHERE p.shop_id = %(shop)s AND p.{key} = %(key)s AND {PUBLISHED}"
    )


@cache
def category(vendor: str, key: str) -> str:
    """Category columns and product count of the active category whose `key` column is `%(key)s`."""
    return (
        f"SELECT {select_list(Category, 'c')}, (SELECT count(*) FROM catalogue_productcategory l"
        " JOIN catalogue_product p ON p.id = l.product_id WHERE l.shop_id = %(shop)s AND l.category_id = c.id"
        f" AND p.shop_id = %(shop)s AND {LISTED}) FROM catalogue_category c"
        f" WHERE c.shop_id = %(shop)s AND c.{key} = %(key)s AND c.is_active"
    )


CATEGORIES = (
    f"SELECT {select_list(Category, 'c')}, COALESCE(n.products, 0) FROM catalogue_category c"
    " LEFT JOIN (SELECT l.category_id, count(*) AS products FROM catalogue_productcategory l"
    " JOIN catalogue_product p ON p.id = l.product_id"
    f" WHERE l.shop_id = %(shop)s AND p.shop_id = %(shop)s AND {LISTED} GROUP BY l.category_id) n"
    " ON n.category_id = c.id WHERE c.shop_id = %(shop)s AND c.is_active ORDER BY c._lft, c.id"
)

PRODUCT_CATEGORIES = (
    f"SELECT {select_list(ProductCategory, 'l')}, {select_list(Category, 'c')}"
    " FROM catalogue_productcategory l JOIN catalogue_category c ON c.id = l.category_id"
    " WHERE l.shop_id = %(shop)s AND c.shop_id = %(shop)s AND l.product_id = %(product)s AND c.is_active"
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
def _where(words: int, category: str | None, featured: bool, since: bool) -> str:
    conditions = ["p.shop_id = %(shop)s", LISTED]
    if featured:
        conditions.append("p.is_featured")
    if since:
        # A product that its date published since then is news too, though nobody touched its row.
        conditions.append("(p.updated_at >= %(since)s OR p.publish_at >= %(since)s)")
    if category:
        conditions.append(
            "p.id IN (SELECT l.product_id FROM catalogue_productcategory l"
            " JOIN catalogue_category c ON c.id = l.category_id"
            f" WHERE c.shop_id = %(shop)s AND l.shop_id = %(shop)s AND {CATEGORIES_MEANT[category]} AND c.is_active)"
        )
    if words:
        matches = " AND ".join(rf"s.text LIKE %(word{number})s ESCAPE '\'" for number in range(words))
        conditions.append(
            f"p.id IN (SELECT s.product_id FROM catalogue_productsearch s WHERE s.shop_id = %(shop)s AND {matches})"
        )
    return " AND ".join(conditions)


@cache
def _media(vendor: str) -> str:
    # Put in order by whoever reads it, since SQLite before 3.44 cannot order inside an aggregate.
    values = "m.id, m.type, m.file, m.source_url, m.alt, m.width, m.height, m.sort_order"
    array = f"json_group_array(json_array({values}))"
    if vendor != "sqlite":
        array = f"json_agg(json_build_array({values}))::text"
    return f"(SELECT {array} FROM catalogue_media m WHERE m.product_id = p.id)"
