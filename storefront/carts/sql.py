# ruff: noqa: S608, what is put together here is column lists and conditions of this file; values are parameters.
"""The reads that every cart call makes, their SQL put together once: building it took most of what such a read cost.

The statements are for `Model.objects.raw`, which converts values and leaves the columns that are not named deferred.
"""

from storefront.carts.models import CartLine

# What a cart needs to know of a product.
PRODUCT_COLUMNS = (
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
CART_COLUMNS = ("id", "shop_id", "public_id", "token_digest", "customer_id")

_LINE = ", ".join(f"l.{field.attname}" for field in CartLine._meta.concrete_fields)
_CART = ", ".join(f"c.{column} AS of_{column}" for column in CART_COLUMNS)
# One row a line, each with its cart; a cart without lines is one row whose line is all nulls.
_LINES = (
    f"SELECT {_LINE}, {_CART} FROM carts_cart c LEFT JOIN carts_cartline l ON l.cart_id = c.id"
    " WHERE c.shop_id = %(shop)s AND {} ORDER BY l.id"
)
LINES_BY_TOKEN = _LINES.format("c.token_digest = %(digest)s AND c.customer_id IS NULL AND c.expires_at > %(now)s")
LINES_BY_CART = _LINES.format("c.id = %(cart)s")

_PRODUCT = ", ".join(f"p.{column}" for column in PRODUCT_COLUMNS)
_PICTURE = "(SELECT m.{} FROM catalogue_media m WHERE m.product_id = p.id ORDER BY m.sort_order, m.id LIMIT 1)"
_PRODUCTS = (
    f"SELECT {_PRODUCT}, {_PICTURE.format('file')} AS picture_file,"
    f" {_PICTURE.format('source_url')} AS picture_source,"
    " EXISTS (SELECT 1 FROM catalogue_option o WHERE o.product_id = p.id) AS has_options"
    " FROM catalogue_product p WHERE p.shop_id = %s AND p.id IN ({})"
)


def products(count: int) -> str:
    """So many products by id, each with its first picture; parameters: the shop's id, then theirs."""
    return _PRODUCTS.format(", ".join(["%s"] * count))
