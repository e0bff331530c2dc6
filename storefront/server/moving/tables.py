# ruff: noqa: S608, the conditions consist of names of tables, columns and numbers.
"""Which rows of a shop move, and how.

Most tables are replicated while the shop sells. LATE ones are copied in the stop: the shop's own row, which decides
where it is served, and the few rows that have no `shop_id` to filter by. Nothing else of a shop is left behind, but
for what is each pod's own.
"""

from functools import cache
from typing import Any

from storefront.pods.models import HostElsewhere, ShopMove, TokenElsewhere
from storefront.server.archive.tables import SHARED, Table, foreign_keys, path_to_shop, shop_tables
from storefront.shops.models import Shop, WrittenPosition
from storefront.sync.models import Change, Log

# What each pod has of its own: who serves which shop, feeds, whose positions are numbers of its transactions, and
# positions in its server's log.
OWN = (HostElsewhere, ShopMove, TokenElsewhere, Change, Log, WrittenPosition)


@cache
def replicated() -> tuple[Table, ...]:
    """The tables whose rows follow while the shop sells."""
    return tuple(table for table in shop_tables() if path_to_shop(table) == "shop_id" and table not in OWN)


@cache
def late() -> tuple[Table, ...]:
    """The tables that are copied in the stop, Shop last."""
    others = [table for table in shop_tables() if table not in (*replicated(), *OWN, Shop)]
    return (*others, Shop)


def of_shop(table: Table, shop: int) -> str:
    """The condition, in SQL, of the shop's rows in this table."""
    return _condition(table, path_to_shop(table) or "", shop)


def _condition(table: Table, path: str, shop: int) -> str:
    first, _, rest = path.partition("__")
    if not rest:
        return f"{table._meta.pk.column if first == 'pk' else first} = {int(shop)}"
    field: Any = table._meta.get_field(first)
    parent = field.remote_field.model
    inner = _condition(parent, rest, shop)
    return f"{field.column} IN (SELECT {parent._meta.pk.column} FROM {parent._meta.db_table} WHERE {inner})"


def columns(table: Table) -> str:
    """The table's columns, in an order that does not depend on the database."""
    return ", ".join(f'"{field.column}"' for field in table._meta.concrete_fields)


def references_to_shared() -> list[tuple[Table, str, Table]]:
    """Table, column and the table of the deployment that it refers to, for each such column of a shop's tables."""
    return [
        (table, field.column, field.remote_field.model)
        for table in (*replicated(), *late())
        for field in foreign_keys(table)
        if field.remote_field.model._meta.label in SHARED
    ]
