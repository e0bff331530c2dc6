"""The cart API. Every answer with a cart has its ETag, and every write takes `If-Match` (R-CART-40)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Path, Query, Router

from storefront.carts import actions, discount_codes, gift_cards, queries, schemas
from storefront.carts.adding import WantedLine
from storefront.carts.checked_schemas import check_record
from storefront.carts.checking import cart_problems, check_cart
from storefront.carts.code_entry import limited_tries_of_token
from storefront.carts.gift_card_schemas import SetGiftCards
from storefront.carts.models import Cart, CartLine
from storefront.carts.purchasable import Purchasable, Sold
from storefront.carts.translated_lines import lines_in
from storefront.kit.api.conditional import PreconditionFailed, has_if_match, require_match
from storefront.kit.api.http import json_response
from storefront.kit.api.schemas import answers
from storefront.kit.refusals import InvalidFields, problem
from storefront.shops.auth import scope
from storefront.shops.locales import Answered, language_asked
from storefront.shops.request import Request

# Reading needs `read_cart`; each other call needs `write_cart` (R-CART-1).
router = Router(tags=["Cart"])

ADD_LINES = "POST /api/v1/cart/lines"

Asked = Query[schemas.CartQuery]
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
    response=answers({200: schemas.CartRead}, 422),
    summary="Read the cart",
    openapi_extra=TOKEN,
)
def get_cart(request: Request, asked: Asked) -> HttpResponse:
    """The cart that `X-Cart-Token` identifies. Without a usable token: an empty cart, and `cart_token` is null."""
    answered, token = _answered(request, asked), _cart_token(request)
    cart, lines = queries.cart_with_lines(request.shop, request.now, token=token)
    body = {"cart_token": token if cart else None, "data": _contents(request, answered, cart, lines)}
    return json_response(body, headers=_etag(cart, lines) | answered.headers)


@router.post(
    "/cart",
    auth=scope("write_cart"),
    response=answers({201: schemas.CartAdded}, 400, 409, 412, 413, 415, 422),
    summary="Add to the cart",
    openapi_extra=TOKEN,
)
def add_to_cart(request: Request, body: schemas.AddToCart, asked: Asked) -> HttpResponse:
    """Add a product to the cart that `X-Cart-Token` identifies, or to a new cart. If the cart already has the same
    line, its quantity is increased."""
    answered = _answered(request, asked)
    added = actions.add_line(**_write(request), **asdict(_wanted(body)))
    checks = check_cart(request.shop, added.cart, added.lines, request.now, added.known)
    check = next(each for each in checks if each.line is added.line)
    (shown,) = lines_in(request.shop, [added.line], answered.language or "")
    # The members and the message of R-CART-10.
    answer = {
        "message": "Item added to cart.",
        "cart_token": added.token,
        "data": schemas.line_record(shown) | check_record(check),
        "problems": cart_problems(request.shop, checks),
    }
    return json_response(answer, status=201, headers=_etag(added.cart, added.lines) | answered.headers)


@router.post(
    "/cart/lines",
    auth=scope("write_cart"),
    response=answers({200: schemas.CartChecked, 201: schemas.CartChanged}, 400, 409, 412, 413, 415, 422),
    summary="Add several lines to the cart",
    openapi_extra=TOKEN,
)
def add_cart_lines(request: Request, body: schemas.AddLines, asked: Query[schemas.AddLinesQuery]) -> HttpResponse:
    """Add 1 to 100 lines to the cart that `X-Cart-Token` identifies, or to a new cart: all of them, or none. `errors`
    names each line that cannot be added by its position, such as `lines.3.qty`."""
    if "dry_run" in request.given:
        # Ignoring it would add lines that the caller meant only to check (R-CALL-32).
        message = "dry_run is a parameter of the query. Send ?dry_run=1."
        raise InvalidFields(problems=[problem("dry_run", "use_endpoint", message, endpoint=[f"{ADD_LINES}?dry_run=1"])])
    answered = _answered(request, asked)
    wanted = [_wanted(line) for line in body.lines]
    changed = actions.add_lines(**_write(request), wanted=wanted, is_dry_run=asked.dry_run)
    if asked.dry_run:
        body_of_check = _changed_body(request, answered, changed, "The lines can be added. Nothing was changed.")
        return json_response(body_of_check, headers=answered.headers)
    return _changed(request, answered, changed, "Items added to cart.", status=201)


# Before the routes of lines, whose pattern matches this path too. No line has this key.
@router.put(
    "/cart/discount-codes",
    auth=scope("write_cart"),
    response=answers({200: schemas.CartChanged}, 400, 409, 412, 413, 415, 422),
    summary="Set the discount codes",
    openapi_extra=TOKEN,
)
def set_discount_codes(request: Request, body: schemas.SetDiscountCodes, asked: Asked) -> HttpResponse:
    """Replace the discount codes of the cart that `X-Cart-Token` identifies, or of a new cart. If the shop does not
    have one of them, nothing changes, and `errors` names its position, such as `codes.0`. A code that does not apply
    now stays, and `discount_codes` has the reason. After too many unknown codes, each call is answered with 429 for a
    while.
    """
    answered = _answered(request, asked)
    with limited_tries_of_token(request, "discount_codes_token", discount_codes.UnknownDiscountCodes):
        changed = discount_codes.set_discount_codes(**_write(request), codes=body.codes)
    return _changed(request, answered, changed, "Discount codes saved.")


@router.put(
    "/cart/gift-cards",
    auth=scope("write_cart"),
    response=answers({200: schemas.CartChanged}, 400, 409, 412, 413, 415, 422),
    summary="Set the gift cards",
    openapi_extra=TOKEN,
)
def set_gift_cards(request: Request, body: SetGiftCards, asked: Asked) -> HttpResponse:
    """Replace the gift cards of the cart that `X-Cart-Token` identifies, or of a new cart. They pay in this order. If
    the shop does not have one of them, or it can no longer be used, nothing changes, and `errors` names its position,
    such as `codes.0`. After too many unknown codes, each call is answered with 429 for a while. Reads show the last
    four characters of a code, never the whole.
    """
    answered = _answered(request, asked)
    with limited_tries_of_token(request, "gift_cards_token", gift_cards.GiftCardsRefused):
        changed = gift_cards.set_gift_cards(**_write(request), codes=body.codes)
    return _changed(request, answered, changed, "Gift cards saved.")


@router.patch(
    "/cart/{key}",
    auth=scope("write_cart"),
    response=answers({200: schemas.CartChanged}, 400, 404, 412, 413, 415, 422),
    summary="Change a line's quantity",
    openapi_extra=TOKEN,
)
def update_cart_line(request: Request, key: LineKey, body: schemas.ChangeQty, asked: Asked) -> HttpResponse:
    """Change the quantity of the line with this key. 0 removes the line."""
    answered = _answered(request, asked)
    changed = actions.change_line(**_write(request), key=key, qty=body.qty)
    return _changed(request, answered, changed, "Cart updated." if body.qty else "Item removed from cart.")


@router.delete(
    "/cart/{key}",
    auth=scope("write_cart"),
    response=answers({200: schemas.CartChanged}, 404, 412, 422),
    summary="Remove a line",
    openapi_extra=TOKEN,
)
def remove_cart_line(request: Request, key: LineKey, asked: Asked) -> HttpResponse:
    """Remove the line with this key from the cart."""
    answered = _answered(request, asked)
    changed = actions.change_line(**_write(request), key=key, qty=0)
    return _changed(request, answered, changed, "Item removed from cart.")


@router.delete(
    "/cart",
    auth=scope("write_cart"),
    response=answers({200: schemas.CartChanged}, 412, 422),
    summary="Empty the cart",
    openapi_extra=TOKEN,
)
def empty_cart(request: Request, asked: Asked) -> HttpResponse:
    """Remove all lines from the cart. Without a usable token, an empty cart is created and its token returned."""
    answered = _answered(request, asked)
    changed = actions.empty_cart(**_write(request))
    return _changed(request, answered, changed, "Cart emptied.")


def _answered(request: Request, asked: schemas.CartQuery) -> Answered:
    """The language of the answer (R-CART-54). Called before anything is written, since it can refuse the call."""
    return language_asked(request, request.shop, asked.locale)


def _cart_token(request: Request) -> str | None:
    """The cart token from the header. Only this identifies the cart, never a session (R-CART-2)."""
    return request.META.get("HTTP_X_CART_TOKEN")


def _write(request: Request) -> dict[str, Any]:
    """The arguments of every action on the cart."""

    def precondition(cart: Cart | None, lines: Sequence[CartLine]) -> None:
        if cart is None:
            raise PreconditionFailed
        require_match(request, schemas.cart_etag(cart, lines))

    given = {"shop": request.shop, "now": request.now, "token": _cart_token(request)}
    return given | {"precondition": precondition if has_if_match(request) else None}


def _wanted(body: schemas.AddToCart) -> WantedLine:
    return WantedLine(
        product_id=body.product_id,
        qty=body.qty,
        variant_id=body.variant_id,
        options=body.options,
        custom_fields=[{"name": given.name, "value": given.value} for given in body.custom_fields or ()],
        custom_price=body.custom_price,
        is_damaged=bool(body.is_damaged),
        gift_card=body.gift_card.dict() if body.gift_card else None,
    )


def _changed(
    request: Request, answered: Answered, changed: actions.Changed, message: str, *, status: int = 200
) -> HttpResponse:
    """The whole cart, in the form of a read (R-CART-15)."""
    body = _changed_body(request, answered, changed, message)
    return json_response(body, status=status, headers=_etag(changed.cart, changed.lines) | answered.headers)


def _changed_body(request: Request, answered: Answered, changed: actions.Changed, message: str) -> dict[str, Any]:
    contents = _contents(request, answered, changed.cart, changed.lines, changed.known)
    return {"message": message, "cart_token": changed.token, "data": contents}


def _contents(
    request: Request,
    answered: Answered,
    cart: Cart | None,
    lines: list[CartLine],
    known: Mapping[Sold, Purchasable] | None = None,
) -> dict[str, Any]:
    shop, now = request.shop, request.now
    totals = queries.cart_totals(shop, lines, now, cart=cart)
    checks = check_cart(shop, cart, lines, now, known)
    orders = queries.cart_orders(shop, cart)
    shown = lines_in(shop, lines, answered.language or "")
    return schemas.cart_record(checks, shown, totals, orders, cart_problems(shop, checks))


def _etag(cart: Cart | None, lines: Sequence[CartLine]) -> dict[str, str]:
    return {"ETag": schemas.cart_etag(cart, lines)} if cart else {}
