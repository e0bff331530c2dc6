"""Entering discount codes and gift cards, with limits on guesses.

Only codes that the shop does not have count: for a visitor by network address or account, for an integration by its
token. Once the limit is reached, valid codes are refused, too, so that a refusal reveals nothing about a code
(R-CART-43, R-CART-48).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from storefront.carts.discount_codes import UnknownDiscountCodes, add_discount_code, remove_discount_code
from storefront.carts.gift_cards import GiftCardsRefused, add_gift_card, remove_gift_card
from storefront.carts.models import Cart
from storefront.customers import limits
from storefront.kit.ids import MAX_ID
from storefront.kit.refusals import Refusal
from storefront.shops.ratelimit import RateLimited, seconds_to_wait
from storefront.shops.request import Request

Unknown = type[UnknownDiscountCodes] | type[GiftCardsRefused]


def change_codes(request: Request, cart: Cart) -> str:
    """Add the `code` of a visitor's form to their basket, or take the one to `remove` out of it. Returns why that was
    refused, in plain words; empty if it was not."""
    shop, now = request.shop, request.now
    if remove := request.POST.get("remove", "")[:100]:
        remove_discount_code(shop=shop, cart=cart, code=remove, now=now)
        return ""
    try:
        with limited_tries_of_visitor(request, "discount_codes", UnknownDiscountCodes):
            add_discount_code(shop=shop, cart=cart, code=request.POST.get("code", "")[:100], now=now)
    except Refusal as refusal:
        return refusal.text
    return ""


def change_gift_cards(request: Request, cart: Cart) -> str:
    """Like `change_codes`, for gift cards. The card to `remove` is named by its id, which is no secret."""
    shop, now = request.shop, request.now
    if remove := request.POST.get("remove", ""):
        is_id = remove.isascii() and remove.isdigit() and len(remove) < 20 and int(remove) <= MAX_ID
        remove_gift_card(shop=shop, cart=cart, card_id=int(remove) if is_id else 0, now=now)
        return ""
    try:
        with limited_tries_of_visitor(request, "gift_cards", GiftCardsRefused):
            add_gift_card(shop=shop, cart=cart, code=request.POST.get("gift_card", "")[:100], now=now)
    except Refusal as refusal:
        return refusal.text
    return ""


@contextmanager
def limited_tries_of_visitor(request: Request, what: str, unknown: Unknown) -> Iterator[None]:
    """Context manager around entering a code by a visitor: one that is refused as unknown counts. Raises
    LimitReached."""
    limits.check(request, what)
    try:
        yield
    except unknown as refusal:
        if refusal.positions:
            limits.count(request, what)
        raise


@contextmanager
def limited_tries_of_token(request: Request, what: str, unknown: Unknown) -> Iterator[None]:
    """Context manager around setting codes by an API token: each code that is refused as unknown counts. Raises
    RateLimited."""
    _count_for_token(request, what, is_look=True)
    try:
        yield
    except unknown as refusal:
        for _ in refusal.positions:
            _count_for_token(request, what, is_look=False)
        raise


def _count_for_token(request: Request, what: str, *, is_look: bool) -> None:
    for item in settings.LIMITS[what]:
        name = f"{what}:{request.caller.counted_as}"
        if wait := seconds_to_wait(item, name, peek=is_look):
            raise RateLimited(wait)
