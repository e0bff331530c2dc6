from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Path, Router

from storefront.carts import actions, queries, schemas
from storefront.kit.http import json_response
from storefront.kit.schemas import answers
from storefront.shops.auth import scope
from storefront.shops.request import Request

router = Router(tags=["Cart"])

LineKey = Annotated[str, Path(description="The line's `key`, as the cart's read gives it.", examples=["p12"])]

TOKEN = {
    "parameters": [
        {
            "name": "X-Cart-Token",
            "in": "header",
            "required": False,
            "description": "Names the cart. An unknown, malformed or expired one counts as none.",
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
def read_cart(request: Request) -> HttpResponse:
    """The cart that `X-Cart-Token` names. Without a usable token: an empty cart and `cart_token` null."""
    token = _cart_token(request)
    cart, lines = queries.cart_with_lines(request.shop, request.now, token=token)
    totals = queries.cart_totals(request.shop, lines, request.now)
    contents = schemas.contents_record(lines, totals)
    return json_response({"cart_token": token if cart else None, "data": contents})


@router.post(
    "/cart",
    auth=scope("write_cart"),
    response=answers({201: schemas.CartAdded}, 400, 409, 413, 415, 422),
    summary="Add to the cart",
    openapi_extra=TOKEN,
)
def add_to_cart(request: Request, body: schemas.AddToCart) -> HttpResponse:
    """Add a product to the cart that `X-Cart-Token` names, or to a new one. What is there already is raised."""
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
def change_cart_line(request: Request, key: LineKey, body: schemas.ChangeQty) -> HttpResponse:
    """Give the line with this key another quantity; 0 removes it."""
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
    """Take the line with this key out of the cart."""
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
    """Take every line out of the cart. Without a usable token this makes an empty cart and answers its token."""
    changed = actions.empty_cart(shop=request.shop, now=request.now, token=_cart_token(request))
    return _changed(request, changed, "Cart emptied.")


def _cart_token(request: Request) -> str | None:
    return request.META.get("HTTP_X_CART_TOKEN")


def _changed(request: Request, changed: actions.Changed, message: str) -> HttpResponse:
    totals = queries.cart_totals(request.shop, changed.lines, request.now)
    body: dict[str, Any] = {"message": message, "cart_token": changed.token}
    return json_response(body | {"data": schemas.contents_record(changed.lines, totals)})
