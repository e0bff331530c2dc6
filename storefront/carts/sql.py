# ruff: noqa: S608, what is put together here is column lists and conditions of this file; values are parameters.
"""What every cart call reads and writes, its SQL put together once: building it took most of what such a call cost."""

from django.db import connection, transaction

from storefront.carts.models import Cart, CartLine
from storefront.catalogue.models import Product
from storefront.kit.sql import Columns, fetch

# What a cart needs to know of a product.
PRODUCT = Columns(
    Product,
    "id",
    "name",
    "type",
    "status",
    "deleted_at",
    "publish_at",
    "unpublish_at",
    "price",
    "allow_custom_price",
    "min_custom_price",
    "damaged_price",
    "damaged_qty",
    "track_inventory",
    "allow_backorders",
    "stock_qty",
)
CART = Columns(Cart, "id", "shop_id", "public_id", "token_digest", "customer_id")
LINE = Columns(CartLine)

# One row a line, each behind its cart; a cart without lines is one row whose line is all nulls.
_LINES = (
    f"SELECT {CART.of('c')}, {LINE.of('l')} FROM carts_cart c LEFT JOIN carts_cartline l ON l.cart_id = c.id"
    " WHERE c.shop_id = %(shop)s AND {} ORDER BY l.id"
)
LINES_BY_TOKEN = _LINES.format("c.token_digest = %(digest)s AND c.customer_id IS NULL AND c.expires_at > %(now)s")
LINES_BY_CART = _LINES.format("c.id = %(cart)s")

_PICTURE = "(SELECT m.{} FROM catalogue_media m WHERE m.product_id = p.id ORDER BY m.sort_order, m.id LIMIT 1)"
_PRODUCTS = (
    f"SELECT {PRODUCT.of('p')}, {_PICTURE.format('file')}, {_PICTURE.format('source_url')},"
    " EXISTS (SELECT 1 FROM catalogue_option o WHERE o.product_id = p.id)"
    " FROM catalogue_product p WHERE p.shop_id = %(shop)s AND p.id IN ({})"
)

_NEW_CART = Columns(Cart, without=["id"])
_NEW_LINE = Columns(CartLine, without=["id"])
_INSERT_CART = f"{_NEW_CART.insertion()} RETURNING id"
_INSERT_LINE = f"{_NEW_LINE.insertion()} RETURNING id"
# One statement is a transaction by itself, and PostgreSQL hears of it once instead of four times.
_INSERT_BOTH = (
    f"WITH made AS ({_NEW_CART.insertion(prefix='cart_')} RETURNING id)"
    f" {_NEW_LINE.insertion(cart_id='(SELECT id FROM made)')} RETURNING cart_id, id"
)


def products(count: int) -> str:
    """So many products by id, `id0` and so on, each with the file and the address of its first picture, and whether it
    has options."""
    return _PRODUCTS.format(", ".join(f"%(id{number})s" for number in range(count)))


def insert_cart(cart: Cart, line: CartLine) -> None:
    """A new cart with its first line: both or neither."""
    if connection.vendor == "postgresql":
        given = _NEW_CART.values(connection, cart, prefix="cart_") | _NEW_LINE.values(connection, line)
        [(cart_id, line_id)] = fetch(connection, _INSERT_BOTH, given)
        _inserted(cart, cart_id)
        line.cart = cart
        _inserted(line, line_id)
    else:
        with transaction.atomic():
            [(cart_id,)] = fetch(connection, _INSERT_CART, _NEW_CART.values(connection, cart))
            _inserted(cart, cart_id)
            line.cart = cart
            insert_line(line)


def insert_line(line: CartLine) -> None:
    """A new line of a cart that stands."""
    [(line_id,)] = fetch(connection, _INSERT_LINE, _NEW_LINE.values(connection, line))
    _inserted(line, line_id)


def _inserted(row: Cart | CartLine, id: int) -> None:
    row.pk, row._state.adding, row._state.db = id, False, connection.alias
