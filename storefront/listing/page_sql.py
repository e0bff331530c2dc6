# ruff: noqa: S608, the statements consist of column lists and conditions of this file; values are parameters.
"""The SQL of the product list, built once per combination of filters.

Every statement takes `%(shop)s` and `%(now)s`; its function names the other parameters. A page is found in one of two
ways, and `page.py` chooses: *scanned*, along the index of its order until it is full, testing each row; or *sorted*:
all matching rows are found by the index of a filter, then sorted. A page whose products are cached is read by ids.
"""

from dataclasses import replace
from functools import cache, lru_cache

from storefront.catalogue import records
from storefront.catalogue.dated import dates
from storefront.catalogue.shown import SHOWN
from storefront.listing import words_sql
from storefront.listing.dialect import dialect
from storefront.listing.orders import COLUMNS, after, order_by, select_keys, sort_columns
from storefront.listing.orders import ORDERS as ORDERS
from storefront.listing.sql import HIDDEN, LISTABLE, LISTED, next_dates
from storefront.listing.words_sql import Shape

# Matches of a search that are found at once for its total and its page, and ids that a list takes as a filter.
MAX_MATCHES, MAX_IDS = 20_000, 2000

# Cached statements of each kind: up to 30 kilobytes each, and built again in a fraction of a millisecond.
MAX_SQL_TEXTS = 64

# The columns of `state` up to the number of products without filters, and the place of the one before it.
STATE_COLUMNS, HIDES = 10, 8

# A category alone, as integrations filter, or with its subcategories, as shoppers expect.
CATEGORIES_MEANT = {
    "alone": "c.slug = %(category)s",
    "branch": (
        "EXISTS (SELECT 1 FROM catalogue_category a WHERE a.shop_id = %(shop)s AND a.slug = %(category)s"
        " AND c._lft BETWEEN a._lft AND a._rgt)"
    ),
}


# Products that a date has changed since `%(since)s` without a write to their row.
_TURNED = f"p.id IN (SELECT t.id FROM ({dates.turned()}) t)"
# Products that were updated since then, or changed or published by a date, although their rows were not written.
RECENT = f"(p.updated_at >= %(since)s OR p.publish_at >= %(since)s OR {_TURNED})"

_LISTED = f"p.shop_id = %(shop)s AND {LISTED}"

# The members of the records, or None for those that lists show.
Members = frozenset[str] | None


@lru_cache(MAX_SQL_TEXTS)
def state(shape: Shape, *, nothing_hidden: bool = False) -> str:
    """One row: the list's version, `sql.next_dates`, whether dates hide products now, how many products
    the shop lists without filters, how many with them, and the matches.

    A total that is not stored is counted only if the version is not `cached_version`; else it is `cached_total`. The
    matches are the ids, with commas between, of the products that a counted search finds, whatever their dates, so that
    the search index is read once; NULL if they are more than MAX_MATCHES, or the list is no search.

    With `nothing_hidden`, the total of a search is right only if dates hide no products now. PostgreSQL then plans the
    statement once, which takes longer than running it.
    """
    if shape.has_stored_total:
        return with_state(f"{_stored_total(shape)} - {_hidden(_row_conditions(shape))}", "NULL")
    known = "s.version = CAST(%(cached_version)s AS bigint)"
    total = f"CASE WHEN {known} THEN CAST(%(cached_total)s AS bigint) ELSE {{counted}} END"
    if not shape.has_words or shape.since:
        return with_state(total.format(counted=_counted_total(shape)), "NULL")
    counted = "(SELECT count(*) FROM d)"
    if not nothing_hidden:
        counted = f"({counted} - {_hidden(_row_conditions(shape))})"
    few = f"NOT {known} AND (SELECT count(*) FROM d) <= {MAX_MATCHES}"
    matches = f"CASE WHEN {few} THEN (SELECT {dialect.JOINED_IDS} FROM d) END"
    return f"WITH d AS MATERIALIZED ({ids_of(shape)}) {with_state(total.format(counted=counted), matches)}"


@lru_cache(MAX_SQL_TEXTS)
def all_matches(shape: Shape) -> str:
    """The same of the whole list, without subtracting what dates hide, with the ids of all products that the search
    finds, however many."""
    matches = f"(SELECT COALESCE({dialect.JOINED_IDS}, '') FROM d)"
    return f"WITH d AS MATERIALIZED ({ids_of(shape)}) {with_state('s.products', matches)}"


@cache
def stored_state(shape: Shape) -> str:
    """The same for a list whose total is stored, without subtracting what dates hide."""
    return with_state(_stored_total(shape), "NULL")


def with_state(*columns: str) -> str:
    """One row: the columns of `state` up to the number of products without filters (STATE_COLUMNS), then these."""
    source = f"FROM catalogue_product p WHERE p.shop_id = %(shop)s AND {LISTABLE} AND"
    # ORDER BY with LIMIT instead of EXISTS, for which PostgreSQL would rather read the whole table than an index
    # without any row.
    hides = " OR ".join(
        f"(SELECT p.id {source} {hidden} ORDER BY p.{column} LIMIT 1) IS NOT NULL"
        for column, hidden in zip(("publish_at", "unpublish_at"), HIDDEN, strict=True)
    )
    return (
        f"SELECT s.version, {', '.join(next_dates())}, {hides}, s.products, {', '.join(columns)} FROM (SELECT"
        " CAST(COALESCE(sum(version), 0) AS bigint) AS version, CAST(COALESCE(sum(products), 0) AS bigint) AS products"
        " FROM catalogue_listingtotal WHERE shop_id = %(shop)s AND category = 0) s"
    )


@lru_cache(MAX_SQL_TEXTS)
def scanned_page(shape: Shape, sort: str | None, anchored: bool, members: Members = None) -> str:
    """The records and sort columns of one page: `limit` rows after `offset`, counted from the start of the list or, if
    `anchored`, after the row whose sort columns are `a0` and on. `span` is the sum of limit and offset."""
    conditions = " AND ".join([_LISTED, *_row_conditions(shape)])
    keys = select_keys(sort)
    scans = [
        f"SELECT {keys} FROM catalogue_product p WHERE {conditions}{beyond} ORDER BY {order_by(sort)}"
        for beyond in (after(sort) if anchored else ("",))
    ]
    if len(scans) == 1:
        return _page(sort, scans[0], members)
    union = " UNION ALL ".join(f"SELECT * FROM ({scan} LIMIT %(span)s) part" for scan in scans)
    return _page(sort, f"SELECT w.id FROM ({union}) w ORDER BY {order_by(sort, 'w')}", members)


@lru_cache(MAX_SQL_TEXTS)
def sorted_page(shape: Shape, sort: str | None, members: Members = None) -> str:
    """The records and sort columns of one page: `limit` rows after `offset`."""
    ids = _recent_ids(shape) if shape.since else ids_of(shape)
    found = dialect.found_by_ids(ids, select_keys(sort), _LISTED)
    return _page(sort, f"SELECT f.id FROM ({found}) f ORDER BY {order_by(sort, 'f')}", members)


@lru_cache(MAX_SQL_TEXTS)
def ranked_page(shape: Shape, found_by: Shape, members: Members = None) -> str:
    """The records and ids of one page of a search, the most relevant first: `limit` rows after `offset`. Reads the
    text of every match. `found_by` is the search itself, or `ids` if its matches are known."""
    found = dialect.found_texts(f"{select_keys(None)}, {words_sql.rank(shape)} AS rank", _LISTED)
    record = records.product() if members is None else records.chosen_product(members)
    return (
        f"WITH d AS MATERIALIZED ({ids_of(found_by)}), g AS MATERIALIZED (SELECT f.id, row_number() OVER"
        f" (ORDER BY f.rank, {order_by(None, 'f')}) AS place FROM ({found}) f ORDER BY place"
        " LIMIT %(limit)s OFFSET %(offset)s)"
        f" SELECT {record}, p.id FROM g JOIN catalogue_product p ON p.id = g.id ORDER BY g.place"
    )


@lru_cache(MAX_SQL_TEXTS)
def page_by_ids(sort: str | None, members: Members = None) -> str:
    """The records and sort columns of the products with `ids`, `ids` being what `dialect.ids_parameter` returns.

    Products that are no longer listed are left out: one may have been unlisted since the version was read.
    """
    # The plus makes the databases look up the ids and not scan the shop's index.
    return _records(sort, f"p.id {dialect.AMONG_IDS} AND +{_LISTED}", members)


@cache
def positions(sort: str | None) -> str:
    """The position and the sort columns of every `step`th row of the unfiltered list."""
    keys = select_keys(sort)
    names = ", ".join(column for column, _ in COLUMNS[sort])
    return (
        f"SELECT place, {names} FROM (SELECT {keys}, row_number() OVER (ORDER BY {order_by(sort)}) AS place"
        f" FROM catalogue_product p WHERE {_LISTED}) w WHERE place %% %(step)s = 0"
    )


@cache
def ordered_ids(sort: str | None) -> str:
    """The ids of `limit` rows of the whole list after `offset`."""
    return (
        f"SELECT p.id FROM catalogue_product p WHERE {_LISTED}"
        f" ORDER BY {order_by(sort)} LIMIT %(limit)s OFFSET %(offset)s"
    )


def _page(sort: str | None, rows: str, members: Members) -> str:
    # The page is found by its sort columns alone, so that skipped rows are read from the index only.
    ids = f"SELECT g.id FROM ({rows} LIMIT %(limit)s OFFSET %(offset)s) g"
    return _records(sort, f"p.id IN ({ids})", members)


def _records(sort: str | None, condition: str, members: Members) -> str:
    # Sort columns as the database has them.
    keys = ", ".join(map(dialect.PLAIN.format, sort_columns(sort)))
    record = records.product() if members is None else records.chosen_product(members)
    return f"SELECT {record}, {keys} FROM catalogue_product p WHERE {condition} ORDER BY {order_by(sort)}"


def _stored_total(shape: Shape) -> str:
    if not shape.category:
        return "s.products"
    return (
        "(SELECT CAST(COALESCE(sum(t.products), 0) AS bigint) FROM catalogue_listingtotal t"
        f" WHERE t.shop_id = %(shop)s AND t.category = ({_categories(shape)}))"
    )


def _counted_total(shape: Shape) -> str:
    if shape.since:
        return f"({' + '.join(f'(SELECT count(*) FROM {source})' for source in _recent(shape))})"
    if shape.ids or shape == Shape(category=shape.category):
        # Ids and category links of drafts exist, too.
        return f"(SELECT count(*) FROM {dialect.products_of(ids_of(shape), _LISTED)})"
    # Counted by indexes alone, since product rows are far wider; then minus what dates hide now.
    return f"((SELECT count(*) FROM ({ids_of(shape)}) d) - {_hidden(_row_conditions(shape))})"


def _hidden(conditions: list[str]) -> str:
    """How many products that match the conditions are hidden by a date now."""
    counts = (
        "(SELECT count(*) FROM catalogue_product p WHERE "
        + " AND ".join(["p.shop_id = %(shop)s", LISTABLE, hidden, *conditions])
        + ")"
        for hidden in HIDDEN
    )
    return f"({' + '.join(counts)})"


def ids_of(shape: Shape) -> str:
    """The ids of the products that match every filter but `since`, whatever their dates. For a category without other
    filters, drafts too."""
    found = []
    if shape.ids:
        found.append(dialect.WANTED_IDS)
    if shape.has_words:
        column, texts = _matches(shape)
        found.append((column, f"SELECT {column} AS id FROM {texts}"))
    if shape.featured:
        featured = f"FROM catalogue_product p WHERE p.shop_id = %(shop)s AND {LISTABLE} AND p.is_featured"
        found.append(("p.id", f"SELECT p.id {featured}"))
    if shape.category:
        once = "DISTINCT " if shape.category == "branch" else ""
        links = "FROM catalogue_productcategory l WHERE l.shop_id = %(shop)s"
        found.append(
            (
                "l.product_id",
                f"SELECT {once}l.product_id AS id {links} AND l.category_id IN ({_categories(shape)})",
            )
        )
    (column, first), *others = found
    return first + "".join(f" AND {column} IN ({other})" for _, other in others)


def _recent(shape: Shape) -> list[str]:
    """The listed products that were updated since then, and those that were published, or whose prices were changed, by
    their date since then without an update: disjoint FROM clauses, each a range of indexes of its own."""
    others = replace(shape, since=False)
    rest = "" if others.is_unfiltered else f" AND p.id IN ({ids_of(others)})"
    return [
        f"catalogue_product p WHERE {_LISTED} AND {recent}{rest}"
        for recent in (
            "p.id IN (SELECT h.product_id FROM catalogue_lastchange h"
            " WHERE h.shop_id = %(shop)s AND h.updated_at >= %(since)s)",
            "p.publish_at >= %(since)s AND p.updated_at < %(since)s",
            f"{_TURNED} AND p.updated_at < %(since)s AND NOT COALESCE(p.publish_at >= %(since)s, false)",
        )
    ]


def _recent_ids(shape: Shape) -> str:
    return " UNION ALL ".join(f"SELECT p.id FROM {source}" for source in _recent(shape))


def _matches(shape: Shape) -> tuple[str, str]:
    """The shop's listed search texts that contain the words: the column with their products' ids, and a FROM clause."""
    conditions = [*words_sql.words(shape), *words_sql.short_words(shape)]
    has_others = bool(shape.category or shape.featured)
    return dialect.matches(conditions, is_indexed=bool(shape.long_words), has_others=has_others)


def _row_conditions(shape: Shape) -> list[str]:
    """The filters as conditions on one row of a scan, besides being listed."""
    conditions = []
    if shape.ids:
        conditions.append(f"p.id IN ({ids_of(Shape(ids=True))})")
    if shape.featured:
        conditions.append("p.is_featured")
    if shape.since:
        conditions.append(RECENT)
    if shape.category:
        # A scalar subquery, since a planner would turn an EXISTS into a join.
        conditions.append(
            "(SELECT true FROM catalogue_productcategory l WHERE l.product_id = p.id"
            f" AND l.category_id IN ({_categories(shape)}) LIMIT 1)"
        )
    if words := [*words_sql.words(shape, indexed=False), *words_sql.short_words(shape)]:
        conditions.append(f"(SELECT {' AND '.join(words)} FROM catalogue_productsearch s WHERE s.product_id = p.id)")
    return conditions


def _categories(shape: Shape) -> str:
    assert shape.category is not None
    return (
        "SELECT c.id FROM catalogue_category c WHERE c.shop_id = %(shop)s"
        f" AND {CATEGORIES_MEANT[shape.category]} AND {SHOWN}"
    )
