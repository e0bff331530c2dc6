# ruff: noqa: S608, the f-strings insert only column lists and conditions of this file; values are parameters.
"""The SQL of every cart call, built once at import: building it with the ORM took most of a call's time."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from storefront.carts.models import SNAPSHOTS, Cart, CartLine
from storefront.catalogue.dated.sale_periods import COLUMNS as SALE_COLUMNS
from storefront.catalogue.models import Product, Variant
from storefront.kit.dialect import dialect
from storefront.kit.sql import Columns, fetch

# The columns of a product that a cart needs.
PRODUCT = Columns(
    Product,
    "id",
    "name",
    "type",
    "status",
    "deleted_at",
    "publish_at",
    "unpublish_at",
    "allow_custom_price",
    "min_custom_price",
    "damaged_price",
    "damaged_qty",
    "track_inventory",
    "allow_backorders",
    "stock_qty",
    "is_gift_card",
    "billing_interval",
    *SALE_COLUMNS,
    "is_preorder",
    "available_from",
)
# The columns of a variant that a cart needs.
VARIANT = Columns(
    Variant,
    "id",
    "product_id",
    "name",
    "is_active",
    "track_inventory",
    "allow_backorders",
    "stock_qty",
    *SALE_COLUMNS,
)
CART = Columns(
    Cart, "id", "shop_id", "public_id", "token_digest", "customer_id", "ordered_at", "discount_codes", "gift_cards"
)
LINE = Columns(CartLine)


class BundlePart(NamedTuple):
    """An item of a bundle, with what a cart needs of its product and, if it is one, its variant."""

    product_id: int
    variant_id: int | None
    qty: int
    name: str
    variant_name: str | None
    sku: str
    is_active: bool
    type: str
    is_gift_card: bool
    is_preorder: bool
    billing_interval: str | None
    has_no_file: bool
    track_inventory: bool
    allow_backorders: bool
    stock_qty: int


# Whether a product is digital and has no file.
_NO_FILE = "{0}.type = 'digital' AND NOT EXISTS (SELECT 1 FROM catalogue_digitalfile d WHERE d.product_id = {0}.id)"
# The options of a product, with a row for each of their values, and the items of a bundle: JSON arrays of rows. They
# come with the product, since a query of their own takes longer than the rest of their work.
_OPTIONS = (
    f"(SELECT CAST({dialect.JSON_ROWS}({dialect.JSON_ROW}("
    "id, name, type, required, max_length, value, label, price)) AS text) FROM ("
    "SELECT o.id, o.name, o.type, o.required, o.max_length, v.id AS value, v.label, v.price FROM catalogue_option o"
    " LEFT JOIN catalogue_optionvalue v ON v.option_id = o.id WHERE o.product_id = p.id"
    " ORDER BY o.sort_order, o.id, v.sort_order, v.id) AS found)"
)
_ITEMS = (
    f"CASE WHEN p.type = 'bundle' THEN (SELECT CAST({dialect.JSON_ROWS}({dialect.JSON_ROW}("
    "product_id, variant_id, qty, name, variant_name, sku, is_active, type, is_gift_card, is_preorder,"
    " billing_interval, has_no_file, track_inventory, allow_backorders, stock_qty)) AS text) FROM ("
    "SELECT i.product_id, i.variant_id, i.qty, q.name, v.name AS variant_name, COALESCE(v.sku, q.sku) AS sku,"
    " COALESCE(v.is_active, TRUE) AS is_active, q.type, q.is_gift_card, q.is_preorder, q.billing_interval,"
    f" {_NO_FILE.format('q')} AS has_no_file,"
    " COALESCE(v.track_inventory, q.track_inventory) AS track_inventory,"
    " COALESCE(v.allow_backorders, q.allow_backorders) AS allow_backorders,"
    " COALESCE(v.stock_qty, q.stock_qty) AS stock_qty"
    " FROM catalogue_bundleitem i JOIN catalogue_product q ON q.id = i.product_id"
    " LEFT JOIN catalogue_variant v ON v.id = i.variant_id"
    " WHERE i.bundle_id = p.id ORDER BY i.sort_order, i.id) AS found) END"
)
_PARTS = f"{_NO_FILE.format('p')}, {_OPTIONS}, {_ITEMS}"


# One row per line: the columns of cart, line, product and variant, and the three of `_PARTS`. A cart without lines is
# one row with nulls for the rest.
_LINES = (
    f"SELECT {CART.of('c')}, {LINE.of('l')}, {PRODUCT.of('p')}, {VARIANT.of('v')}, {_PARTS}"
    " FROM carts_cart c LEFT JOIN carts_cartline l ON l.cart_id = c.id"
    " LEFT JOIN catalogue_product p ON p.id = l.product_id AND p.shop_id = c.shop_id"
    " LEFT JOIN catalogue_variant v ON v.id = l.variant_id AND v.shop_id = c.shop_id"
    " WHERE c.shop_id = %(shop)s AND {} ORDER BY l.id"
)
LINES_BY_TOKEN = _LINES.format("c.token_digest = %(digest)s AND c.customer_id IS NULL AND c.expires_at > %(now)s")
LINES_BY_CART = _LINES.format("c.id = %(cart)s")

_PICTURE = "(SELECT m.{} FROM catalogue_media m WHERE m.product_id = p.id ORDER BY m.sort_order, m.id LIMIT 1)"
_PRODUCTS = (
    f"SELECT {PRODUCT.of('p')}, {_PARTS}, {_PICTURE.format('file')}, {_PICTURE.format('source_url')}"
    " FROM catalogue_product p WHERE p.shop_id = %(shop)s AND p.id IN ({})"
)

_NEW_CART = Columns(Cart, without=["id", "ordered_at"])
_NEW_LINE = Columns(CartLine, without=["id"])
_INSERT_CART = f"{_NEW_CART.insertion()} RETURNING id"
_INSERT_LINE = f"{_NEW_LINE.insertion()} RETURNING id"
_UPDATE_SAME = (
    "ON CONFLICT (cart_id, key) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in ("qty", *SNAPSHOTS))
    + " RETURNING id"
)
# A single statement is atomic, and takes one round trip to PostgreSQL instead of four.
_INSERT_BOTH = (
    f"WITH made AS ({_NEW_CART.insertion(prefix='cart_')} RETURNING id)"
    f" {_NEW_LINE.insertion(cart_id='(SELECT id FROM made)')} RETURNING cart_id, id"
)


def products(count: int) -> str:
    """The query for `count` products, with the parameters `shop`, `id0`, `id1` and so on. Each row has the PRODUCT
    columns, the three of `_PARTS`, and file and source URL of the first picture."""
    return _PRODUCTS.format(", ".join(f"%(id{number})s" for number in range(count)))


def lines_of(database: BaseDatabaseWrapper, rows: Sequence[tuple], cart: Cart) -> list[CartLine]:
    """The lines of these rows of `LINES_BY_TOKEN` or `LINES_BY_CART`, each with its cart, product and variant."""
    after_cart, after_line = len(CART), len(CART) + len(LINE)
    after_product = after_line + len(PRODUCT)
    lines = []
    for row in rows:
        if row[after_cart] is None:
            continue
        line = LINE.instance(database, row[after_cart:])
        product: Any = PRODUCT.instance(database, row[after_line:])
        product.has_no_file, product.option_rows, product.item_rows = row[-3:]
        # Sets the related rows as `select_related` does.
        line._state.fields_cache |= {"cart": cart, "product": product}
        if line.variant_id is not None:
            line._state.fields_cache["variant"] = VARIANT.instance(database, row[after_product:])
        lines.append(line)
    return lines


def insert_cart(cart: Cart, line: CartLine) -> None:
    """Insert a new cart and its first line, atomically, and set their ids."""
    if dialect.WRITES_IN_WITH:
        given = _NEW_CART.values(connection, cart, prefix="cart_") | _NEW_LINE.values(connection, line)
        [(cart_id, line_id)] = fetch(connection, _INSERT_BOTH, given)
        _set_inserted(cart, cart_id)
        line.cart = cart
        _set_inserted(line, line_id)
    else:
        with transaction.atomic():
            [(cart_id,)] = fetch(connection, _INSERT_CART, _NEW_CART.values(connection, cart))
            _set_inserted(cart, cart_id)
            line.cart = cart
            insert_line(line)


def insert_line(line: CartLine) -> None:
    """Insert a line into an existing cart and set its id."""
    [(line_id,)] = fetch(connection, _INSERT_LINE, _NEW_LINE.values(connection, line))
    _set_inserted(line, line_id)


def store_lines(cart: Cart, lines: list[CartLine]) -> None:
    """Insert these lines into an existing cart, or update those that it has, in one statement."""
    given: dict[str, Any] = {}
    for number, line in enumerate(lines):
        line.cart = cart
        given |= _NEW_LINE.values(connection, line, prefix=f"r{number}_")
    fetch(connection, f"{_NEW_LINE.insertions(len(lines))} {_UPDATE_SAME}", given, prepared=False)


def _set_inserted(row: Cart | CartLine, id: int) -> None:
    row.pk, row._state.adding, row._state.db = id, False, connection.alias
