# ruff: noqa: S608, the statements consist of names and conditions of this file; values are parameters.
"""SQL for the columns of products and variants that dates change: sale prices that begin and end, and pre-orders.

The worker writes these changes into the rows (`dated/turning.py`) shortly after the date, which also emits events.
Reads do not wait for that (R-CAT-41): they compute these columns for `%(now)s`. A test compares the expressions with
`sale_periods.settle` and `end_preorder`, which do the same for one row in memory.
"""

from functools import cache

from django.db.models import Q

from storefront.catalogue.listable import conditions

# Sale prices that are still to begin, those with an end, and pre-orders with a date, as conditions of their rows and
# the date's column. Once the worker has written a change, the row no longer meets the condition.
_TURNS: dict[str, dict[str, bool]] = {
    "sale_from": {"sale_price__isnull": False, "regular_compare_price__isnull": True, "sale_from__isnull": False},
    "sale_until": {"sale_until__isnull": False},
    "available_from": {"is_preorder": True, "available_from__isnull": False},
}
SALE_TURNS = ("sale_from", "sale_until")


def turns_at(column: str) -> Q:
    """The rows that change at the date in this column, for the ORM and for the index of it."""
    return Q(**_TURNS[column])


def pending(row: str, column: str) -> str:
    """The condition of `turns_at` in SQL, for the row with this alias."""
    return conditions(row, _TURNS[column])


@cache
def sale_columns(row: str) -> dict[str, str]:
    """The columns of a sale period of the row with this alias, by name, as they are at `%(now)s`."""
    runs = (
        f"{row}.sale_price IS NOT NULL"
        f" AND NOT COALESCE({row}.sale_from > %(now)s OR {row}.sale_until <= %(now)s, false)"
    )
    holds = f"{row}.regular_compare_price IS NOT NULL"
    regular = f"CASE WHEN {holds} THEN {row}.compare_price ELSE {row}.price END"
    before = f"COALESCE({row}.regular_compare_price, {row}.compare_price)"
    kept = f"CASE WHEN {row}.sale_until <= %(now)s THEN NULL ELSE {row}.{{}} END"
    return {
        "price": f"CASE WHEN {runs} THEN {row}.sale_price ELSE {regular} END",
        "compare_price": f"CASE WHEN {runs} THEN {regular} ELSE {before} END",
        "regular_compare_price": f"CASE WHEN {runs} THEN {before} END",
        **{name: kept.format(name) for name in ("sale_price", "sale_from", "sale_until")},
    }


@cache
def product_columns(row: str) -> dict[str, str]:
    """The columns of a product that dates change, by name, as they are at `%(now)s`."""
    has_come = f"{row}.is_preorder AND {row}.available_from <= %(now)s"
    return sale_columns(row) | {
        "is_preorder": f"({row}.is_preorder AND NOT COALESCE({row}.available_from <= %(now)s, false))",
        "available_from": f"CASE WHEN {has_come} THEN NULL ELSE {row}.available_from END",
    }


def next_sale_turn(row: str) -> str:
    """When the row's sale price begins or ends next, after `%(now)s`."""
    return (
        f"CASE WHEN {row}.sale_from > %(now)s THEN {row}.sale_from"
        f" WHEN {row}.sale_until > %(now)s THEN {row}.sale_until END"
    )


def turned() -> str:
    """The products with a change between `%(since)s` and `%(now)s` that the worker has not written yet: (date, id)."""
    of = {"product": ("id", tuple(_TURNS)), "variant": ("product_id", SALE_TURNS)}
    return " UNION ALL ".join(
        f"SELECT r.{column} AS at, r.{id} AS id FROM catalogue_{table} r WHERE r.shop_id = %(shop)s"
        f" AND {pending('r', column)} AND r.{column} >= %(since)s AND r.{column} <= %(now)s"
        for table, (id, columns) in of.items()
        for column in columns
    )
