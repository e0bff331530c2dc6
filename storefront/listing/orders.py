"""The orders of a product list, in SQL."""

from collections.abc import Sequence

from storefront.catalogue.dated import dates
from storefront.listing.dialect import dialect

# The columns of each order, and whether they descend. Ties break on the id, so that pages never overlap (R-CAT-23).
ORDERS: dict[str | None, tuple[tuple[str, bool], ...]] = {
    None: (("is_pinned", True), ("sort_order", False), ("created_at", True), ("id", True)),
    "newest": (("created_at", True), ("id", True)),
    "price_asc": (("price", False), ("id", False)),
    "price_desc": (("price", True), ("id", True)),
    "name": (("sort_name", False), ("id", False)),
}

# The orders to take while sale prices have begun or ended that the worker has not written yet: the index has the stored
# prices, so these sort.
AT_ONCE: dict[str | None, str] = {"price_asc": "price_asc at once", "price_desc": "price_desc at once"}
# The same of each of them.
COLUMNS = ORDERS | {at_once: ORDERS[sort] for sort, at_once in AT_ONCE.items()}


def order_by(sort: str | None, alias: str = "p") -> str:
    """The order of a list. `alias` is `p`, the product, or another table with its sort columns."""
    names = sort_columns(sort) if alias == "p" else [f"{alias}.{column}" for column, _ in COLUMNS[sort]]
    pairs = zip(names, COLUMNS[sort], strict=True)
    return ", ".join(f"{name}{' DESC' if descends else ''}" for name, (_, descends) in pairs)


def sort_columns(sort: str | None) -> list[str]:
    """The sort columns of the product `p`."""
    dated = dates.product_columns("p") if sort in AT_ONCE.values() else {}
    return [f"({dated[column]})" if column in dated else f"p.{column}" for column, _ in COLUMNS[sort]]


def select_keys(sort: str | None) -> str:
    """The same as a select list."""
    named = zip(sort_columns(sort), COLUMNS[sort], strict=True)
    return ", ".join(f"{expression} AS {column}" for expression, (column, _) in named)


def after(sort: str | None) -> tuple[str, ...]:
    """The conditions of the rows after an anchor: one range of row values where the database seeks by it, else a range
    for each column that may be the first to differ, since neither database seeks by an OR of them."""
    columns = [(name, descends) for name, (_, descends) in zip(sort_columns(sort), COLUMNS[sort], strict=True)]
    ranges, equal = [], ""
    for number, (column, _) in enumerate(columns):
        rest = columns[number:]
        if dialect.are_one_range([descends for _, descends in rest]):
            ranges.append(equal + _range_after(rest, number))
            break
        ranges.append(equal + _range_after(columns[number : number + 1], number))
        equal += f" AND {column} = %(a{number})s"
    return tuple(reversed(ranges))


def _range_after(columns: Sequence[tuple[str, bool]], first: int) -> str:
    names = ", ".join(column for column, _ in columns)
    values = ", ".join(f"%(a{number})s" for number in range(first, first + len(columns)))
    return f" AND ({names}) {'<' if columns[0][1] else '>'} ({values})"
