"""Counts the uses of discounts: a sale redeems them when its order is placed or its payment begins, and releases them
if it ends without an order, or if the order is cancelled.

A use is counted by a conditional update of the discount's row, which every sale with that discount waits for, so that
the last use is granted once (R-CART-44). Rows are locked after stock, in the order of their ids.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import TypedDict
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import F, Q
from django.utils.translation import gettext as _

from storefront.kit.refusals import Refusal
from storefront.pricing.candidates import Shopper, email_digest, redemptions_of, shopper_email
from storefront.pricing.discounts import USED_UP, DiscountLine
from storefront.pricing.models import Discount, DiscountCode, Redemption
from storefront.shops.models import Shop


class DiscountUse(TypedDict):
    """A use to count: the ids of the discount and of its code, if any, and the discount's name."""

    discount: int
    code: int | None
    name: str


_HAS_USES_LEFT = Q(use_limit__isnull=True) | Q(uses__lt=F("use_limit"))


class DiscountUsedUp(Refusal):
    """Another order took the last use."""

    code = USED_UP


def uses_of(lines: Iterable[DiscountLine]) -> list[DiscountUse]:
    """The uses that a sale with these discounts counts."""
    return [
        {"discount": line.discount_id, "code": line.code_id, "name": line.name}
        for line in lines
        if line.is_counted and line.discount_id is not None
    ]


def redeem(*, shop: Shop, uses: Iterable[DiscountUse], shopper: Shopper, now: datetime) -> UUID | None:
    """Count these uses for one sale. Returns the number by which they can be kept or released; None if there are none.

    Raises DiscountUsedUp; the caller's transaction must then end.
    """
    ordered = sorted(uses, key=lambda use: use["discount"])
    return _redeem(shop, ordered, shopper, now) if ordered else None


@transaction.atomic
def _redeem(shop: Shop, ordered: list[DiscountUse], shopper: Shopper, now: datetime) -> UUID:
    sale, digest = uuid4(), email_digest(shop, shopper_email(shop, shopper))
    for use in ordered:
        discount = Discount.objects.filter(shop=shop, pk=use["discount"])
        is_left = discount.filter(_HAS_USES_LEFT).update(uses=F("uses") + 1)
        if is_left and use["code"] is not None:
            code = DiscountCode.objects.filter(shop=shop, pk=use["code"])
            is_left = code.filter(_HAS_USES_LEFT).update(uses=F("uses") + 1)
        if not is_left or _customer_has_no_use_left(shop, discount.get(), shopper):
            raise DiscountUsedUp(_("The discount %(name)s has been used up.") % {"name": use["name"]})
        Redemption.objects.create(
            shop=shop,
            discount_id=use["discount"],
            code_id=use["code"],
            sale=sale,
            cart_id=shopper.cart_id,
            customer_id=shopper.customer_id,
            email_digest=digest,
            redeemed_at=now,
        )
    return sale


def keep_uses(*, shop: Shop, sale: UUID | None) -> None:
    """The sale has become an order: its uses no longer belong to the basket."""
    if sale is not None:
        Redemption.objects.filter(shop=shop, sale=sale).update(cart_id=None)


@transaction.atomic
def release_uses(*, shop: Shop, sale: UUID | None) -> None:
    """Release the uses of the sale. Does nothing the second time."""
    if sale is None:
        return
    # A concurrent call waits here, and then finds no rows.
    rows = Redemption.objects.select_for_update(of=("self",)).filter(shop=shop, sale=sale).order_by("discount_id")
    for row in list(rows):
        Discount.objects.filter(shop=shop, pk=row.discount_id).update(uses=F("uses") - 1)
        if row.code_id is not None:
            DiscountCode.objects.filter(shop=shop, pk=row.code_id).update(uses=F("uses") - 1)
        row.delete()


def _customer_has_no_use_left(shop: Shop, discount: Discount, shopper: Shopper) -> bool:
    """Returns True if the customer has used up the discount. Call it with the discount's row locked, so that no other
    sale counts a use meanwhile."""
    if discount.customer_limit is None:
        return False
    return (
        Redemption.objects.filter(redemptions_of(shop, shopper), discount=discount).count() >= discount.customer_limit
    )
