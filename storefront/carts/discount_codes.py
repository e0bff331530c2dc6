"""Adds and removes the discount codes of a cart. `pricing` calculates what they take off."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from storefront.carts import entered
from storefront.carts.actions import Changed, Precondition
from storefront.carts.models import Cart
from storefront.carts.rules import MAX_CODES
from storefront.kit.refusals import Refusal, problem
from storefront.pricing.candidates import known_codes
from storefront.pricing.codes import is_well_formed, normal_code
from storefront.pricing.discounts import MESSAGES, UNKNOWN
from storefront.shops.models import Shop


class UnknownDiscountCodes(Refusal):
    """The shop does not have some of the codes; `positions` are theirs in the request."""

    code, message = UNKNOWN, MESSAGES[UNKNOWN]

    def __init__(self, positions: Sequence[int]) -> None:
        self.positions = positions
        super().__init__(problems=[problem(f"codes.{each}", UNKNOWN, self.message) for each in positions])


class TooManyCodes(Refusal):
    code = "too_many_discount_codes"
    message = format_lazy(_("A basket can have at most {most} discount codes."), most=MAX_CODES)


def set_discount_codes(
    *,
    shop: Shop,
    now: datetime,
    codes: Sequence[str],
    token: str | None = None,
    cart: Cart | None = None,
    precondition: Precondition | None = None,
) -> Changed:
    """Replace the discount codes of the cart; without a usable token, of a new cart (R-CART-41).

    The shop must have each code, but it need not apply now. Raises UnknownDiscountCodes.
    """
    cart_of: Any = {"token": token, "cart": cart, "precondition": precondition}
    return entered.replace("discount_codes", _checked_codes(shop, codes), shop=shop, now=now, **cart_of)


def add_discount_code(*, shop: Shop, cart: Cart, code: str, now: datetime) -> None:
    """Add a code to the shopper's basket, after those that it has. Raises UnknownDiscountCodes and TooManyCodes."""
    [code] = _checked_codes(shop, [code])
    entered.add("discount_codes", code, shop=shop, cart=cart, most=MAX_CODES, too_many=TooManyCodes, now=now)


def _checked_codes(shop: Shop, codes: Sequence[str]) -> list[str]:
    """The codes in normal form, each once. Raises UnknownDiscountCodes."""
    wanted = [normal_code(code) for code in codes]
    known = known_codes(shop, filter(is_well_formed, wanted)) if wanted else set()
    if unknown := [i for i, code in enumerate(wanted) if code not in known]:
        raise UnknownDiscountCodes(unknown)
    return list(dict.fromkeys(wanted))
