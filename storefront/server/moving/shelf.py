# ruff: noqa: S608, the statements consist of names of tables, columns and numbers.
"""Puts the old rows of a moved shop aside at the source, in a schema of their own, and drops them after a day.

They leave the service's tables at once, so that no sweep of the worker meets rows that it cannot act on. No trigger and
no code of the service sees it: no webhook reports a deletion, and files stay, since the target uses them.
"""

from datetime import datetime, timedelta

from storefront.pods.models import ShopMove
from storefront.server.archive.tables import Table
from storefront.server.moving.sides import Side
from storefront.server.moving.stop import without_triggers
from storefront.server.moving.tables import late, of_shop, replicated
from storefront.shops.models import WrittenPosition
from storefront.sync.models import Change, Log

KEPT = timedelta(days=1)
# What workers look for most often, and so is put aside first.
_FIRST = ("webhooks.Attempt", "webhooks.Delivery", "webhooks.Event")


def schema(shop: int) -> str:
    return f"storefront_moved_{shop}"


def put_shop_aside(source: Side, shop: int) -> None:
    """Take the shop's row, inside the caller's transaction: from its commit on, the source does not serve the shop."""
    source.run(f"CREATE SCHEMA IF NOT EXISTS {schema(shop)}")
    _put_aside(source, late()[-1], shop)


def put_rows_aside(source: Side, shop: int) -> None:
    """Take all other rows, one table after the other. Safe to run again."""
    tables: list[Table] = [*reversed((*replicated(), *late()[:-1])), Change, Log, WrittenPosition]
    # Rows without `shop_id` are found by their parents, so they come first.
    for table in sorted(tables, key=lambda table: (table not in late(), table._meta.label not in _FIRST)):
        with without_triggers(source):
            source.run("SET LOCAL statement_timeout = 0")
            _put_aside(source, table, shop)


def _put_aside(source: Side, table: Table, shop: int) -> None:
    place, condition = table._meta.db_table, of_shop(table, shop)
    source.run(f"CREATE TABLE IF NOT EXISTS {schema(shop)}.{place} AS SELECT * FROM {place} WITH NO DATA")
    source.run(
        f"WITH gone AS (DELETE FROM {place} WHERE {condition} RETURNING *)"
        f" INSERT INTO {schema(shop)}.{place} SELECT * FROM gone"
    )


def old(side: Side, now: datetime) -> list[tuple[int, str]]:
    """Id and domain of each shop whose old rows have been kept for a day."""
    return side.rows(
        "SELECT shop_id, domain FROM pods_shopmove WHERE step = %s AND step_at <= %s",
        [ShopMove.Step.SHELVED, now - KEPT],
    )


def drop(side: Side, shop: int) -> None:
    """Drop the rows that were put aside, and forget the move."""
    with side.connection.transaction():
        side.run(f"DROP SCHEMA IF EXISTS {schema(shop)} CASCADE")
        side.run("DELETE FROM pods_shopmove WHERE shop_id = %s AND step = %s", [shop, ShopMove.Step.SHELVED])
