# ruff: noqa: S608, the statements consist of the names in this file.
"""The statements that take stock and return it, by kind of stock. Taking has conditions, so that the second of two
sales of the last piece finds no row.

If a sale changes only one stock, PostgreSQL does everything in one statement: the ledger's cause, the change, and the
events of the items that show it. A transaction of several calls would halve the number of sales a second.
"""

from typing import Literal, NamedTuple

from storefront.catalogue.inventory.queries import CHANGED_PRODUCT, CHANGED_VARIANT, ITEM_JSON
from storefront.catalogue.postgresql import DECLARE_CAUSE
from storefront.webhooks.actions import insertion_of

Kind = Literal["product", "variant", "damaged"]
KINDS: tuple[Kind, ...] = ("product", "variant", "damaged")

_ENOUGH = " AND track_inventory AND (stock_qty >= %(qty)s OR allow_backorders)"
_SIGN_AND_CONDITION: dict[str, dict[Kind, tuple[str, str]]] = {
    "take": {"product": ("-", _ENOUGH), "variant": ("-", _ENOUGH), "damaged": ("-", " AND damaged_qty >= %(qty)s")},
    "put back": dict.fromkeys(KINDS, ("+", "")),
}
# The columns that events need, of a product's and a variant's changed row.
_OF_BOTH = "id, shop_id, name, sku, track_inventory, allow_backorders, stock_qty, updated_at"
_CHANGED = {
    "product": f"{_OF_BOTH}, damaged_qty, low_stock_threshold, deleted_at",
    "variant": f"{_OF_BOTH}, product_id",
}
# The changed row as an item. Each variant shows its product's damaged units. If there are variants, the single
# statement is not used: it began before it had locked the row, so its events could have older stocks of the variants.
_SHOWN_BY = {
    "product": "changed p LEFT JOIN catalogue_variant v ON false",
    "variant": "changed v JOIN catalogue_product p ON p.id = v.product_id",
}
_NO_VARIANTS = " AND NOT EXISTS (SELECT 1 FROM catalogue_variant v WHERE v.product_id = catalogue_product.id)"


def column(kind: Kind) -> str:
    """The column that has this stock."""
    return "damaged_qty" if kind == "damaged" else "stock_qty"


def _update(kind: Kind, sign: str, condition: str, source: str, returned: str) -> str:
    return (
        f"UPDATE catalogue_{_table(kind)} SET {column(kind)} = {column(kind)} {sign} %(qty)s, updated_at = %(now)s"
        f"{source} WHERE shop_id = %(shop)s AND id = %(id)s{condition} RETURNING {returned}"
    )


def _table(kind: Kind) -> str:
    return "variant" if kind == "variant" else "product"


def _alone(kind: Kind, sign: str, condition: str) -> str:
    events = insertion_of(
        f"SELECT p.shop_id, 'inventory.updated', {ITEM_JSON}, %(now)s::timestamptz FROM {_SHOWN_BY[_table(kind)]}"
        " WHERE p.deleted_at IS NULL"
    )
    condition += "" if kind == "variant" else _NO_VARIANTS
    # The change is joined with its cause, so that the cause is declared before the change's triggers run.
    changed = _update(kind, sign, condition, " FROM declared", _CHANGED[_table(kind)])
    return f"WITH declared AS ({DECLARE_CAUSE}), changed AS ({changed}), emitted AS ({events}) SELECT id FROM changed"


class Statements(NamedTuple):
    """Statements by kind of stock: the change as one of several, and for PostgreSQL the single statement with cause and
    events, which finds no row of a product with variants."""

    one_of_several: dict[Kind, str]
    alone: dict[Kind, str]


def _statements(what: str) -> Statements:
    how = _SIGN_AND_CONDITION[what]
    returned = {kind: CHANGED_VARIANT if kind == "variant" else CHANGED_PRODUCT for kind in KINDS}
    return Statements(
        {kind: _update(kind, *how[kind], "", returned[kind]) for kind in KINDS},
        {kind: _alone(kind, *how[kind]) for kind in KINDS},
    )


TAKE, PUT_BACK = _statements("take"), _statements("put back")
