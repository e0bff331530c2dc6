# ruff: noqa: S608, the statements consist of the names in this file.
"""Triggers that append to the log of changes (`models.Change`) with every write, whoever makes it: actions, the admin's
bulk updates, imports by COPY, an operator's SQL.

A product's pictures, options, categories and bundle items are written together with its own row, so its row is watched
in their place. Stock of a variant, files to download, payments and refunds are written alone.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from storefront.kit.triggers import TriggerSet

_LOG = "INSERT INTO sync_change (shop_id, kind, object_id, variant_id, xact, at)"
_NOW = {"sqlite": "strftime('%Y-%m-%d %H:%M:%f', 'now')", "postgresql": "clock_timestamp()"}
_XACT = {"sqlite": "0", "postgresql": "pg_current_xact_id()::text::bigint"}
_ROW = {"insert": ("NEW",), "update": ("NEW",), "delete": ("OLD",)}
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


def statements(vendor: str) -> list[str]:
    """The statements that create the triggers, for 'sqlite' or 'postgresql'."""
    return [statement for watched, event, name in _each() for statement in _CREATE[vendor](watched, event, name)]


def _each() -> Iterator[tuple[Watched, str, str]]:
    for watched in WATCHED:
        for event in watched.events:
            yield watched, event, f"sync_{watched.table}_{watched.kind}_{event}"


def _on_sqlite(watched: Watched, event: str, name: str) -> list[str]:
    (row,) = _ROW[event]
    # The row's columns under the alias that the expressions use.
    columns = sorted({"id", "shop_id", *_columns_of(watched)} - {"c.id"})
    row_values = ", ".join(f"{row}.{column} AS {column}" for column in columns)
    return [
        f"CREATE TRIGGER {name} AFTER {event.upper()} ON {watched.table} BEGIN\n"
        f"  {_LOG} {_select('sqlite', watched, f'(SELECT {row_values}) r')};\nEND"
    ]


def _columns_of(watched: Watched) -> set[str]:
    named = (watched.object, watched.variant)
    return {text.removeprefix("r.") for text in named if text.startswith("r.")}


def _written(watched: Watched) -> str:
    """The rows that a statement wrote. Those of one object, such as all variants of a new product, are one change."""
    columns = _columns_of(watched)
    if watched.source or "id" in columns:
        return "written r"
    return f"(SELECT DISTINCT shop_id, {', '.join(sorted(columns))} FROM written) r"


def _on_postgresql(watched: Watched, event: str, name: str) -> list[str]:
    rows = "OLD" if event == "delete" else "NEW"
    return [
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$\nBEGIN\n"
        f"  {_LOG} {_select('postgresql', watched, _written(watched))};\n  RETURN NULL;\nEND $$",
        f"CREATE TRIGGER {name} AFTER {event.upper()} ON {watched.table}\n"
        f"  REFERENCING {rows} TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION {name}()",
    ]


_CREATE = {"sqlite": _on_sqlite, "postgresql": _on_postgresql}


def _select(vendor: str, watched: Watched, rows: str) -> str:
    return (
        f"SELECT r.shop_id, '{watched.kind}', {watched.object}, {watched.variant}, {_XACT[vendor]}, {_NOW[vendor]}"
        f" FROM {rows}{watched.source} WHERE {watched.condition}"
    )


def _remove(editor: Any) -> None:
    for _watched, _event, name in _each():
        if editor.connection.vendor == "sqlite":
            editor.execute(f"DROP TRIGGER IF EXISTS {name}")
        else:
            editor.execute(f"DROP FUNCTION IF EXISTS {name} CASCADE")


def _refill(editor: Any) -> None:
    """Append a change of every object that was written within the log's retention, since writes may have missed the
    triggers."""
    vendor = editor.connection.vendor
    recent = "'-31 days'" if vendor == "sqlite" else "interval '31 days'"
    since = f"strftime('%Y-%m-%d %H:%M:%f', 'now', {recent})" if vendor == "sqlite" else f"now() - {recent}"
    for table, kind in (
        ("catalogue_product", "product"),
        ("orders_order", "order"),
        ("customers_customer", "customer"),
    ):
        editor.execute(
            f"{_LOG} SELECT r.shop_id, '{kind}', r.id, NULL, {_XACT[vendor]}, r.updated_at FROM {table} r"
            f" WHERE r.updated_at >= {since}"
        )


TRIGGERS = TriggerSet(
    app_label="sync",
    consequence="clients that keep a copy of a shop do not hear of changes",
    statements=statements,
    remove=_remove,
    refill=_refill,
)
