# ruff: noqa: S608, the statements consist of names in this package.
"""Triggers that append to the log of changes (`models.Change`) with every write, whoever makes it: actions, the admin's
bulk updates, imports by COPY, an operator's SQL.

A product's pictures, options, categories and bundle items are written together with its own row, so its row is watched
in their place. Stock of a variant, files to download, payments and refunds are written alone.
"""

from typing import Any, NamedTuple

from storefront.kit.triggers import TriggerSet
from storefront.sync.dialect import dialect

_LOG = "INSERT INTO sync_change (shop_id, kind, object_id, variant_id, xact, at)"
ALL = ("insert", "update", "delete")
_ORDERED = "r.order_id IS NOT NULL"


class Watched(NamedTuple):
    """A write of `table` is a change of the object of this kind whose id is the expression `object`, where `condition`
    holds. `r` is the row; `source` joins others to it, if their objects change."""

    table: str
    kind: str
    object: str
    variant: str = "NULL"
    condition: str = "true"
    source: str = ""
    events: tuple[str, ...] = ALL

    def columns(self) -> set[str]:
        """The columns of the row that say which object changed."""
        return {text.removeprefix("r.") for text in (self.object, self.variant) if text.startswith("r.")}

    def logged(self, rows: str) -> str:
        """The statement that logs these written rows."""
        return (
            f"{_LOG} SELECT r.shop_id, '{self.kind}', {self.object}, {self.variant}, {dialect.XACT}, {dialect.NOW}"
            f" FROM {rows}{self.source} WHERE {self.condition}"
        )


WATCHED = (
    Watched("catalogue_product", "product", "r.id"),
    # A first variant takes the place of the product's own stock item.
    Watched("catalogue_variant", "product", "r.product_id", events=("insert",)),
    Watched("catalogue_variant", "product", "r.product_id", variant="r.id", events=("update", "delete")),
    # Deleting a category deletes these rows.
    Watched("catalogue_productcategory", "product", "r.product_id", events=("delete",)),
    # A download without a file cannot be bought.
    Watched("catalogue_digitalfile", "product", "r.product_id", events=("insert", "delete")),
    Watched("orders_order", "order", "r.id"),
    # Payments of a draft have no order yet.
    Watched("orders_payment", "order", "r.order_id", condition=_ORDERED, events=("insert", "update")),
    Watched("orders_refund", "order", "r.order_id", condition=_ORDERED, events=("insert", "update")),
    # A customer's record shows the number and the sum of the orders.
    Watched("orders_order", "customer", "r.customer_id", condition="r.customer_id IS NOT NULL"),
    Watched("customers_customer", "customer", "r.id"),
    Watched("customers_address", "customer", "r.customer_id"),
    # A customer's record shows the name of the group.
    Watched(
        "customers_customergroup",
        "customer",
        "c.id",
        source=" JOIN customers_customer c ON c.group_id = r.id",
        events=("update",),
    ),
)


def statements() -> list[str]:
    """The statements that create the triggers."""
    return [
        statement
        for watched in WATCHED
        for event in watched.events
        for statement in dialect.triggers(watched, event, f"sync_{watched.table}_{watched.kind}_{event}")
    ]


def _refill(editor: Any) -> None:
    """Append a change of every object that was written within the log's retention, since writes may have missed the
    triggers."""
    for table, kind in (
        ("catalogue_product", "product"),
        ("orders_order", "order"),
        ("customers_customer", "customer"),
    ):
        editor.execute(
            f"{_LOG} SELECT r.shop_id, '{kind}', r.id, NULL, {dialect.XACT}, r.updated_at FROM {table} r"
            f" WHERE r.updated_at >= {dialect.MONTH_AGO}"
        )


TRIGGERS = TriggerSet(
    app_label="sync",
    consequence="clients that keep a copy of a shop do not hear of changes",
    statements=statements,
    refill=_refill,
)
