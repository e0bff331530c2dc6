"""Entering discount codes and gift cards, with limits on guesses.

Only codes that the shop does not have count: for a visitor by network address or account, for an integration by its
token. Once the limit is reached, valid codes are refused, too, so that a refusal reveals nothing about a code
(R-CART-43, R-CART-48).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from storefront.carts import entered
from storefront.carts.discount_codes import UnknownDiscountCodes, add_discount_code
from storefront.carts.gift_cards import GiftCardsRefused, add_gift_card
from storefront.carts.models import Cart
from storefront.customers import limits
from storefront.kit.ids import as_id
from storefront.kit.refusals import Refusal
from storefront.pricing.codes import normal_code
from storefront.shops.ratelimit import RateLimited, seconds_to_wait
from storefront.shops.request import Request

# Characters of a code that are looked at.
MAX_TYPED = 100
Unknown = type[UnknownDiscountCodes] | type[GiftCardsRefused]


@dataclass(frozen=True, slots=True)
class RefusedCode:
    """What a visitor entered in this field of a form, and why it was refused, in plain words."""

    field: str
    typed: str
    message: str


def refused_code(request: Request, field: str, message: str) -> RefusedCode:
    return RefusedCode(field, request.POST.get(field, "")[:MAX_TYPED], message)


def change_codes(request: Request, cart: Cart) -> str:
    """Add the `code` of a visitor's form to their basket, or take the one to `remove` out of it. Returns why that was
    refused, in plain words; empty if it was not."""
    if remove := request.POST.get("remove", "")[:MAX_TYPED]:
        return _remove(request, cart, "discount_codes", normal_code(remove))
    return _add(request, cart, "discount_codes", request.POST.get("code", ""), add_discount_code, UnknownDiscountCodes)


def change_gift_cards(request: Request, cart: Cart) -> str:
    """Like `change_codes`, for gift cards. The card to `remove` is named by its id, which is no secret."""
    if remove := request.POST.get("remove", ""):
        return _remove(request, cart, "gift_cards", as_id(remove) or 0)
    return _add(request, cart, "gift_cards", request.POST.get("gift_card", ""), add_gift_card, GiftCardsRefused)


def _remove(request: Request, cart: Cart, column: entered.Column, value: Any) -> str:
    entered.remove(column, value, shop=request.shop, cart=cart, now=request.now)
    return ""


def _add(request: Request, cart: Cart, what: str, code: str, add: Callable[..., None], unknown: Unknown) -> str:
    try:
        with limited_tries_of_visitor(request, what, unknown):
            add(shop=request.shop, cart=cart, code=code[:MAX_TYPED], now=request.now)
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
