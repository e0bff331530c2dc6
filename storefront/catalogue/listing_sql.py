# ruff: noqa: S608, what is put together here is column lists and conditions of this file; values are parameters.
"""The SQL of the product list, built once per combination of filters.

Every statement takes `%(shop)s` and `%(now)s`; what else one needs, its function says. A page is found in one of two
ways, and `listing` chooses: *walked*, along the index of its order until it is full, looking at each row whether it
fits; or *gathered*, all that fits by the index of a filter, then put in order. What stands on it by then is *known*.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

from storefront.catalogue import records
from storefront.catalogue.sql import HIDDEN, LISTABLE, LISTED
from storefront.catalogue.triggers import SHOP_BITS

# The columns of each order, and whether they descend. Ties break on the id, so that pages never overlap
# (decisions: List parameters).
ORDERS: dict[str | None, tuple[tuple[str, bool], ...]] = {
    None: (("is_pinned", True), ("sort_order", False), ("created_at", True), ("id", True)),
    "newest": (("created_at", True), ("id", True)),
    "price_asc": (("price", False), ("id", False)),
    "price_desc": (("price", True), ("id", True)),
    "name": (("sort_name", False), ("id", False)),
}

# A category by itself, as integrations filter, or with all that stands under it, as shoppers expect.
CATEGORIES_MEANT = {
    "alone": "c.slug = %(category)s",
    "branch": (
        "EXISTS (SELECT 1 FROM catalogue_category a WHERE a.shop_id = %(shop)s AND a.slug = %(category)s"
        " AND a.is_active AND c._lft BETWEEN a._lft AND a._rgt)"
    ),
}


@dataclass(frozen=True)
class Shape:
    """Which filters a list has: everything about them but their values.

    `category` is a key of CATEGORIES_MEANT. `long_words` can be looked up in the search index (parameters `word0` and
    on, and `match` for SQLite), `short_words` cannot (`short0` and on). `since` is of `updated_since`.
    """

    vendor: str
    category: str | None = None
    featured: bool = False
    since: bool = False
    long_words: int = 0
    short_words: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether nothing is filtered away."""
        return not (self.category or self.featured or self.since or self.long_words or self.short_words)

    @property
    def is_kept(self) -> bool:
        """Whether the total is among those that the database keeps."""
        return self.is_whole or self == Shape(self.vendor, category="alone")

    @property
    def is_gatherable(self) -> bool:
        """Whether an index leads to what fits."""
        return bool(self.category or self.featured or self.since or self.long_words)


def order_by(sort: str | None, alias: str = "p") -> str:
    return ", ".join(f"{alias}.{column}{' DESC' if descends else ''}" for column, descends in ORDERS[sort])


@cache
def state(shape: Shape) -> str:
    """One row: the list's version, the next moments at which a date publishes and unpublishes something, whether dates
    hide anything now, how many products the shop lists without filters, how many with them.

    A total that is not kept is only counted if the version is not `known_version`; else it is `known_total`.
    """
    if shape.is_kept:
        return _state(shape.vendor, f"{_kept_total(shape)} - {_hidden(_fits(shape))}")
    return _state(
        shape.vendor,
        "CASE WHEN s.version = CAST(%(known_version)s AS bigint) THEN CAST(%(known_total)s AS bigint)"
        f" ELSE {_counted_total(shape)} END",
    )


@cache
def kept_state(shape: Shape) -> str:
    """The same of a list whose total is kept, which is right where dates hide nothing."""
    return _state(shape.vendor, _kept_total(shape))


def _state(vendor: str, total: str) -> str:
    part = f"FROM catalogue_product p WHERE p.shop_id = %(shop)s AND {LISTABLE} AND"
    # The first of an order and not a least one, and no count: PostgreSQL keeps a plan only where one for any moment
    # looks no worse than one for this moment, and takes a third of all products for later than any.
    # The plus keeps SQLite's driver from making Python's date of it.
    plus = "+" if vendor == "sqlite" else ""
    starts, ends = (
        f"(SELECT {plus}p.{column} {part} p.{column} > %(now)s ORDER BY p.{column} LIMIT 1)"
        for column in ("publish_at", "unpublish_at")
    )
    hides = " OR ".join(f"EXISTS (SELECT 1 {part} {hidden})" for hidden in HIDDEN)
    return (
        f"SELECT s.version, {starts}, {ends}, {hides}, s.products, {total} FROM (SELECT"
        " CAST(COALESCE(sum(version), 0) AS bigint) AS version, CAST(COALESCE(sum(products), 0) AS bigint) AS products"
        " FROM catalogue_listingtotal WHERE shop_id = %(shop)s AND category = 0) s"
    )


@cache
def walked_page(shape: Shape, sort: str | None, anchored: bool) -> str:
    """The records and sort columns of one page: `limit` rows after `offset`, counted from the list's beginning or,
    where `anchored`, from behind the row whose sort columns are `a0` and on; `span` is limit and offset together."""
    conditions = " AND ".join(["p.shop_id = %(shop)s", LISTED, *_fits(shape)])
    keys = ", ".join(f"p.{column}" for column, _ in ORDERS[sort])
    walks = [
        f"SELECT {keys} FROM catalogue_product p WHERE {conditions}{part} ORDER BY {order_by(sort)}"
        for part in (_after(shape.vendor, sort) if anchored else ("",))
    ]
    if len(walks) == 1:
        return _page(shape, sort, walks[0])
    parts = " UNION ALL ".join(f"SELECT * FROM ({walk} LIMIT %(span)s) part" for walk in walks)
    return _page(shape, sort, f"SELECT w.id FROM ({parts}) w ORDER BY {order_by(sort, 'w')}")


@cache
def gathered_page(shape: Shape, sort: str | None) -> str:
    """The records and sort columns of one page: `limit` rows after `offset`."""
    keys = ", ".join(f"p.{column}" for column, _ in ORDERS[sort])
    ids = _recent_ids(shape) if shape.since else _ids(shape)
    if shape.vendor == "sqlite":
        found = f"SELECT {keys} FROM {_products_of(shape, ids)}"
        return _page(shape, sort, f"{found} ORDER BY {order_by(sort)}")
    # OFFSET 0 keeps the planner from reading all of an index instead: it takes a word for more frequent than it is.
    found = (
        f"WITH d AS MATERIALIZED ({ids}) SELECT f.* FROM d CROSS JOIN LATERAL (SELECT {keys} FROM catalogue_product p"
        f" WHERE p.id = d.id AND p.shop_id = %(shop)s AND {LISTED} OFFSET 0) f"
    )
    return _page(shape, sort, f"SELECT f.id FROM ({found}) f ORDER BY {order_by(sort, 'f')}")


@cache
def known_page(vendor: str, sort: str | None) -> str:
    """The same of a page whose products are known: `ids`, as `ids_on` writes them. Whichever is not listed any more is
    left out, since one may have gone while this was asked."""
    ids = "= ANY (CAST(%(ids)s AS bigint[]))"
    if vendor == "sqlite":
        ids = "IN (SELECT e.value FROM json_each(%(ids)s) e)"
    # The plus keeps the databases to the ids.
    return _records(vendor, sort, f"p.id {ids} AND +p.shop_id = %(shop)s AND {LISTED}")


def ids_on(vendor: str, rows: Iterable[tuple]) -> str:
    """The ids of a page's rows, the last of the sort columns, as this database takes them in one parameter."""
    ids = ",".join(str(row[-1]) for row in rows)
    return f"[{ids}]" if vendor == "sqlite" else f"{{{ids}}}"


@cache
def places(sort: str | None) -> str:
    """The place and the sort columns of every `step`th row of the whole list."""
    keys = ", ".join(f"p.{column}" for column, _ in ORDERS[sort])
    named = ", ".join(column for column, _ in ORDERS[sort])
    return (
        f"SELECT place, {named} FROM (SELECT {keys}, row_number() OVER (ORDER BY {order_by(sort)}) AS place"
        f" FROM catalogue_product p WHERE p.shop_id = %(shop)s AND {LISTED}) w WHERE place %% %(step)s = 0"
    )


def _page(shape: Shape, sort: str | None, rows: str) -> str:
    # The page is found by its sort columns alone, so that skipping rows does not drag whole ones along.
    ids = f"SELECT g.id FROM ({rows} LIMIT %(limit)s OFFSET %(offset)s) g"
    return _records(shape.vendor, sort, f"p.id IN ({ids})")


def _records(vendor: str, sort: str | None, which: str) -> str:
    # As the database has them, and not made into Python's dates and decimals.
    plain = "+p.{}" if vendor == "sqlite" else "CAST(p.{} AS text)"
    keys = ", ".join(plain.format(column) for column, _ in ORDERS[sort])
    return f"SELECT {records.product()}, {keys} FROM catalogue_product p WHERE {which} ORDER BY {order_by(sort)}"


def _after(vendor: str, sort: str | None) -> tuple[str, ...]:
    """The conditions of the rows behind an anchor. Where every column runs the same way, one range says it; else a
    range for each column that may be the first to differ, since neither database seeks by an OR of them.

    SQLite has a range for each column anyway: of several it seeks by those before the id only, and an import makes any
    number of products at one moment."""
    columns = ORDERS[sort]
    parts, equal = [], ""
    for number, (column, _) in enumerate(columns):
        rest = columns[number:]
        if len(rest) == 1 or (vendor != "sqlite" and len({descends for _, descends in rest}) == 1):
            parts.append(equal + _beyond(rest, number))
            break
        parts.append(equal + _beyond(columns[number : number + 1], number))
        equal += f" AND p.{column} = %(a{number})s"
    return tuple(reversed(parts))


def _beyond(columns: tuple[tuple[str, bool], ...], first: int) -> str:
    names = ", ".join(f"p.{column}" for column, _ in columns)
    values = ", ".join(f"%(a{number})s" for number in range(first, first + len(columns)))
    return f" AND ({names}) {'<' if columns[0][1] else '>'} ({values})"


def _kept_total(shape: Shape) -> str:
    if not shape.category:
        return "s.products"
    return (
        "(SELECT CAST(COALESCE(sum(t.products), 0) AS bigint) FROM catalogue_listingtotal t"
        f" WHERE t.shop_id = %(shop)s AND t.category = ({_categories(shape)}))"
    )


def _counted_total(shape: Shape) -> str:
    if shape.since:
        return f"({' + '.join(f'(SELECT count(*) FROM {part})' for part in _recent(shape))})"
    if shape == Shape(shape.vendor, category=shape.category):
        # Links are of drafts too.
        return f"(SELECT count(*) FROM {_products_of(shape, _ids(shape))})"
    # By indexes and the listed texts alone, since the rows of the products are far wider; less what a date hides now.
    return f"((SELECT count(*) FROM ({_ids(shape)}) d) - {_hidden(_fits(shape))})"


def _hidden(fits: list[str]) -> str:
    counts = (
        "(SELECT count(*) FROM catalogue_product p WHERE "
        + " AND ".join(["p.shop_id = %(shop)s", LISTABLE, hidden, *fits])
        + ")"
        for hidden in HIDDEN
    )
    return f"({' + '.join(counts)})"


def _products_of(shape: Shape, ids: str) -> str:
    """The listed products with these ids, as a FROM clause."""
    # CROSS JOIN keeps the order of the tables, as SQLite's documentation promises.
    join = "CROSS JOIN" if shape.vendor == "sqlite" else "JOIN"
    return f"({ids}) d {join} catalogue_product p ON p.id = d.id WHERE p.shop_id = %(shop)s AND {LISTED}"


def _ids(shape: Shape) -> str:
    """The ids of what fits every filter but `since`, whatever its dates; of a category alone, drafts too."""
    found = []
    if shape.long_words or shape.short_words:
        column = "s.product_id"
        if shape.vendor == "sqlite" and shape.long_words:
            column = f"(i.rowid & {(1 << SHOP_BITS) - 1})"
        found.append((column, f"SELECT {column} AS id FROM {_matches(shape)}"))
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
    """What is listed and was touched since then, and what its date published since then though nobody touched it; as
    FROM clauses that share nothing, each a range of its own index."""
    others = replace(shape, since=False)
    rest = "" if others.is_whole else f" AND p.id IN ({_ids(others)})"
    return [
        f"catalogue_product p WHERE p.shop_id = %(shop)s AND {LISTED} AND {part}{rest}"
        for part in (
            "p.updated_at >= %(since)s",
            "p.publish_at >= %(since)s AND p.updated_at < %(since)s",
        )
    ]


def _recent_ids(shape: Shape) -> str:
    return " UNION ALL ".join(f"SELECT p.id FROM {part}" for part in _recent(shape))


def _matches(shape: Shape) -> str:
    """What the words match among the shop's listed texts, as a FROM clause."""
    if shape.vendor != "sqlite" or not shape.long_words:
        # The plus keeps SQLite from reading all texts of a shop where another filter leads to fewer.
        plus = "+" if shape.vendor == "sqlite" and (shape.category or shape.featured) else ""
        words = " AND ".join([f"{plus}s.shop_id = %(shop)s", "s.listed", *_words(shape), *_short_words(shape)])
        return f"catalogue_productsearch s WHERE {words}"
    first = f"(%(shop)s << {SHOP_BITS})"
    short = _short_words(shape)
    texts = ""
    if short:
        texts = f" JOIN catalogue_productsearch s ON s.product_id = i.rowid & {(1 << SHOP_BITS) - 1}"
    return (
        f"catalogue_searchindex i{texts} WHERE i.catalogue_searchindex MATCH %(match)s"
        f" AND i.rowid BETWEEN {first} AND {first} + {(1 << SHOP_BITS) - 1}"
        + "".join(f" AND {condition}" for condition in short)
    )


def _fits(shape: Shape) -> list[str]:
    """What a row must satisfy beyond being listed, for whoever looks at one row after the other."""
    conditions = []
    if shape.featured:
        conditions.append("p.is_featured")
    if shape.since:
        # A product that its date published since then is news too, though nobody touched its row.
        conditions.append("(p.updated_at >= %(since)s OR p.publish_at >= %(since)s)")
    if shape.category:
        # As a value and not as a condition, which a planner would turn into a join.
        conditions.append(
            "(SELECT true FROM catalogue_productcategory l WHERE l.product_id = p.id"
            f" AND l.category_id IN ({_categories(shape)}) LIMIT 1)"
        )
    if words := [*_words(shape, indexed=False), *_short_words(shape)]:
        conditions.append(f"(SELECT {' AND '.join(words)} FROM catalogue_productsearch s WHERE s.product_id = p.id)")
    return conditions


def _categories(shape: Shape) -> str:
    assert shape.category is not None
    return (
        "SELECT c.id FROM catalogue_category c WHERE c.shop_id = %(shop)s"
        f" AND {CATEGORIES_MEANT[shape.category]} AND c.is_active"
    )


def _words(shape: Shape, *, indexed: bool = True) -> list[str]:
    if indexed and shape.vendor != "sqlite":
        return [rf"s.text LIKE %(like{number})s ESCAPE '\'" for number in range(shape.long_words)]
    return [_contains(shape, f"word{number}") for number in range(shape.long_words)]


def _short_words(shape: Shape) -> list[str]:
    return [_contains(shape, f"short{number}") for number in range(shape.short_words)]


def _contains(shape: Shape, word: str) -> str:
    return f"{'instr' if shape.vendor == 'sqlite' else 'strpos'}(s.text, %({word})s) > 0"
