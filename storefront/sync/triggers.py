# ruff: noqa: S608, the statements consist of names in this package.
"""Triggers that append to the log of changes (`models.Change`) with every write, whoever makes it: actions, the admin's
bulk updates, imports by COPY, an operator's SQL. `watched.py` lists the writes."""

from typing import Any

from storefront.kit.triggers import TriggerSet
from storefront.sync.dialect import dialect
from storefront.sync.watched import LOG, WATCHED


def statements() -> list[str]:
    """The statements that create the triggers."""
    return [
        statement
        for watched in WATCHED
        for event in watched.events
        for statement in dialect.triggers(watched, event, f"sync_{watched.table}_{watched.kind}_{event}")
    ]


def _refill(editor: Any) -> None:
    """Append a change of every object that was written while it could still be in the log, since writes may have missed
    the triggers."""
    for table, kind in (
        ("catalogue_product", "product"),
        ("orders_order", "order"),
        ("customers_customer", "customer"),
    ):
        editor.execute(
            f"{LOG} SELECT r.shop_id, '{kind}', r.id, NULL, {dialect.XACT}, r.updated_at FROM {table} r"
            f" WHERE r.updated_at >= {dialect.MONTH_AGO}"
        )


TRIGGERS = TriggerSet(
    app_label="sync",
    consequence="clients that keep a copy of a shop do not hear of changes",
    statements=statements,
    refill=_refill,
)
