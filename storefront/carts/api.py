from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Path, Router

from storefront.carts import actions, queries, schemas
from storefront.kit.http import json_response
from storefront.kit.schemas import answers
from storefront.shops.auth import scope
from storefront.shops.request import Request

# Reading needs `read_cart`; each other call needs `write_cart` (R-CART-1).
router = Router(tags=["Cart"])

LineKey = Annotated[str, Path(description="The line's `key`, as returned by `GET /api/v1/cart`.", examples=["p12"])]

TOKEN = {
    "parameters": [
        {
            "name": "X-Cart-Token",
            "in": "header",
            "required": False,
            "description": "The cart's token. An unknown, malformed or expired token is treated as none.",
            "schema": {"type": "string"},
        }
    ]
}


@router.get(
    "/cart",
    auth=scope("read_cart"),
    response=answers({200: schemas.CartRead}),
    summary="Read the cart",
    openapi_extra=TOKEN,
)
def get_cart(request: Request) -> HttpResponse:
    """The cart that `X-Cart-Token` identifies. Without a usable token: an empty cart, and `cart_token` is null."""
    token = _cart_token(request)
    cart, lines = queries.cart_with_lines(request.shop, request.now, token=token)
    totals = queries.cart_totals(request.shop, lines, request.now)
    contents = schemas.cart_record(lines, totals, queries.cart_orders(request.shop, cart))
    return json_response({"cart_token": token if cart else None, "data": contents})


@router.post(
    "/cart",
    auth=scope("write_cart"),
    response=answers({201: schemas.CartAdded}, 400, 409, 413, 415, 422),
    summary="Add to the cart",
    openapi_extra=TOKEN,
)
def add_to_cart(request: Request, body: schemas.AddToCart) -> HttpResponse:
    """Add a product to the cart that `X-Cart-Token` identifies, or to a new cart. If the cart already has the same
    line, its quantity is increased."""
    added = actions.add_line(
        shop=request.shop,
        now=request.now,
        token=_cart_token(request),
        product_id=body.product_id,
        qty=body.qty,
        variant_id=body.variant_id,
        options=body.options,
        custom_fields=[{"name": given.name, "value": given.value} for given in body.custom_fields or ()],
        custom_price=body.custom_price,
        is_damaged=bool(body.is_damaged),
    )
    # The members and the message of R-CART-10.
    answer = {
        "message": "Item added to cart.",
        "cart_token": added.token,
        "data": schemas.line_record(added.line),
    }
    return json_response(answer, status=201)


@router.patch(
    "/cart/{key}",
    auth=scope("write_cart"),
    response=answers({200: schemas.CartChanged}, 400, 404, 413, 415, 422),
    summary="Change a line's quantity",
    openapi_extra=TOKEN,
)
def update_cart_line(request: Request, key: LineKey, body: schemas.ChangeQty) -> HttpResponse:
    """Change the quantity of the line with this key. 0 removes the line."""
    changed = actions.change_line(shop=request.shop, now=request.now, token=_cart_token(request), key=key, qty=body.qty)
    return _changed(request, changed, "Cart updated." if body.qty else "Item removed from cart.")


@router.delete(
    "/cart/{key}",
    auth=scope("write_cart"),
    response=answers({200: schemas.CartChanged}, 404),
    summary="Remove a line",
    openapi_extra=TOKEN,
)
def remove_cart_line(request: Request, key: LineKey) -> HttpResponse:
    """Remove the line with this key from the cart."""
    changed = actions.remove_line(shop=request.shop, now=request.now, token=_cart_token(request), key=key)
    return _changed(request, changed, "Item removed from cart.")


@router.delete(
    "/cart",
    auth=scope("write_cart"),
    response=answers({200: schemas.CartChanged}),
    summary="Empty the cart",
    openapi_extra=TOKEN,
)
def empty_cart(request: Request) -> HttpResponse:
    """Remove all lines from the cart. Without a usable token, an empty cart is created and its token returned."""
    changed = actions.empty_cart(shop=request.shop, now=request.now, token=_cart_token(request))
    return _changed(request, changed, "Cart emptied.")


def _cart_token(request: Request) -> str | None:
    """The only thing that names the cart: no session does (R-CART-2)."""
    return request.META.get("HTTP_X_CART_TOKEN")


def _changed(request: Request, changed: actions.Changed, message: str) -> HttpResponse:
    """The whole cart, in the form of a read (R-CART-15)."""
    totals = queries.cart_totals(request.shop, changed.lines, request.now)
    body: dict[str, Any] = {"message": message, "cart_token": changed.token}
    orders = queries.cart_orders(request.shop, changed.cart)
    return json_response(body | {"data": schemas.cart_record(changed.lines, totals, orders)})
