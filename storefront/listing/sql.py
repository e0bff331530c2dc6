# ruff: noqa: S608, the statements consist of column lists and conditions of this file; values are parameters.
"""The SQL of single products and of categories, and the conditions that all reads of the catalogue share.

Written by hand so that conditions are literals: partial indexes cannot serve parameters. Every statement takes
`%(shop)s`; `%(now)s` is the moment that decides which products are public.
"""

from collections.abc import Iterator
from functools import cache, lru_cache

from storefront.catalogue import records
from storefront.catalogue.dated import dates
from storefront.catalogue.listable import listable
from storefront.catalogue.shown import SHOWN
from storefront.listing.dialect import dialect

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
def product(key: str, members: frozenset[str] | None = None, with_translations: bool = False) -> str:
    """The record of the published product whose `key` column is `%(key)s`, as the single read shows it, or with these
    members alone; and the next moments at which dates change it. `with_translations`: its categories have theirs."""
    if members is None:
        record = records.whole_product(with_translations=with_translations)
    else:
        record = records.chosen_product(members)
    changes_at = ", ".join(
        (
            dialect.PLAIN_TIME.format("p.unpublish_at"),
            "CASE WHEN p.available_from > %(now)s THEN p.available_from END",
            dates.next_sale_turn("p"),
            f"(SELECT min({dates.next_sale_turn('v')}) FROM catalogue_variant v WHERE v.product_id = p.id)",
        )
    )
    row = f"catalogue_product p WHERE p.shop_id = %(shop)s AND p.{key} = %(key)s AND {PUBLISHED}"
    return f"SELECT {record}, {changes_at} FROM {row}"


def next_dates() -> Iterator[str]:
    """The next moments at which a date publishes and unpublishes a product, each as a column; then the first ones at
    which sale prices of products begin and end, pre-orders end, and sale prices of variants begin and end: these can
    have passed, if the worker has not written the change yet."""
    yield from next_publications()
    for table, columns in (("product", (*dates.SALE_TURNS, "available_from")), ("variant", dates.SALE_TURNS)):
        for column in columns:
            yield _first(
                f"r.{column}", f"catalogue_{table} r WHERE r.shop_id = %(shop)s AND {dates.pending('r', column)}"
            )


def next_publications() -> Iterator[str]:
    """The first two of these."""
    for column in ("publish_at", "unpublish_at"):
        listed = f"catalogue_product r WHERE r.shop_id = %(shop)s AND {listable('r')}"
        yield _first(f"r.{column}", f"{listed} AND r.{column} > %(now)s")


def _first(column: str, rows: str) -> str:
    # ORDER BY with LIMIT instead of min(): PostgreSQL reuses a generic plan only if it looks no more expensive than one
    # for this moment, and for any moment it estimates that a third of all products is later.
    return f"(SELECT {dialect.PLAIN_TIME.format(column)} FROM {rows} ORDER BY {column} LIMIT 1)"


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
def categories(*, with_translations: bool = False) -> str:
    """The records of the categories that are shown with their product counts, in the tree's order; and the next moments
    at which dates change a count."""
    return f"{_categories(with_translations)} ORDER BY c._lft, c.id"


@cache
def category(key: str, *, with_translations: bool = False) -> str:
    """The same for the category whose `key` column is `%(key)s`."""
    return f"{_categories(with_translations)} AND c.{key} = %(key)s"


def _categories(with_translations: bool) -> str:
    """The categories that are shown; others are in no answer (R-CAT-34)."""
    record = records.category(("products_count", _LISTED_IN), with_translations=with_translations)
    return (
        f"WITH hidden AS (SELECT l.category_id, count(*) AS products FROM ({_HIDDEN_IN}) p"
        " JOIN catalogue_productcategory l ON l.product_id = p.id GROUP BY l.category_id)"
        f" SELECT {record}, {', '.join(next_publications())}"
        f" FROM catalogue_category c WHERE c.shop_id = %(shop)s AND {SHOWN}"
    )
