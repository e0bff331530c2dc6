# ruff: noqa: S608, the statements consist of the names in this file.
"""The writes that are logged as changes.

A product's pictures, options, categories and bundle items are written together with its own row, so its row is watched
in their place. Stock of a variant, files to download, payments and refunds are written alone.
"""

from typing import NamedTuple

LOG = "INSERT INTO sync_change (shop_id, kind, object_id, variant_id, xact, at)"
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


WATCHED = (
    Watched("catalogue_product", "product", "r.id"),
    # A first variant takes the place of the product's own stock item.
    Watched("catalogue_variant", "product", "r.product_id", events=("insert",)),
    Watched("catalogue_variant", "product", "r.product_id", variant="r.id", events=("update", "delete")),
    # Of a category that is deleted.
    Watched("catalogue_productcategory", "product", "r.product_id", events=("delete",)),
    # Without one, a download cannot be bought.
    Watched("catalogue_digitalfile", "product", "r.product_id", events=("insert", "delete")),
    Watched("orders_order", "order", "r.id"),
    # Those of a draft that is no order yet have none.
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


def selection(watched: Watched, rows: str, xact: str, now: str) -> str:
    """The rows of the log, after LOG, for these written rows."""
    return (
        f"SELECT r.shop_id, '{watched.kind}', {watched.object}, {watched.variant}, {xact}, {now}"
        f" FROM {rows}{watched.source} WHERE {watched.condition}"
    )
