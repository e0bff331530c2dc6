"""Entering discount codes, with a limit on guesses.

Only codes that the shop does not have count: for a visitor by network address or account, for an integration by its
token. Once the limit is reached, right codes are refused, too, so that a refusal tells nothing about a code
(R-CART-43).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from storefront.carts.discount_codes import UnknownDiscountCodes, add_discount_code, remove_discount_code
from storefront.carts.models import Cart
from storefront.customers import limits
from storefront.kit.refusals import Refusal
from storefront.shops.ratelimit import RateLimited, seconds_to_wait
from storefront.shops.request import Request


def change_codes(request: Request, cart: Cart) -> str:
    """Add the `code` of a visitor's form to their basket, or take the one to `remove` out of it. Returns why that was
    refused, in plain words; empty if it was not."""
    shop, now = request.shop, request.now
    if remove := request.POST.get("remove", "")[:100]:
        remove_discount_code(shop=shop, cart=cart, code=remove, now=now)
        return ""
    try:
        limits.check(request, "discount_codes")
        try:
            add_discount_code(shop=shop, cart=cart, code=request.POST.get("code", "")[:100], now=now)
        except UnknownDiscountCodes:
            limits.count(request, "discount_codes")
            raise
    except Refusal as refusal:
        return refusal.text
    return ""


@contextmanager
def limited_tries_of_token(request: Request) -> Iterator[None]:
    """Context manager around setting codes by an API token: each code that is refused as unknown counts. Raises
    RateLimited."""
    _count_for_token(request, is_look=True)
    try:
        yield
    except UnknownDiscountCodes as refusal:
        for _ in refusal.positions:
            _count_for_token(request, is_look=False)
        raise


def _count_for_token(request: Request, *, is_look: bool) -> None:
    for item in settings.LIMITS["discount_codes_token"]:
        name = f"discount_codes_token:{request.caller.counted_as}"
        if wait := seconds_to_wait(item, name, peek=is_look):
            raise RateLimited(wait)
