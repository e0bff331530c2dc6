"""Counts the uses of discounts: a sale redeems them when its order is placed or begins to be paid for, and gives them
back if it ends without an order, or if the order is cancelled.

A use is counted by a conditional update of the discount's row, which every sale with that discount waits for, so that
the last use is given once. Rows are locked after stock, in the order of their ids.
"""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import F, Q

from storefront.kit.refusals import Refusal
from storefront.pricing.candidates import Shopper, email_digest, shopper_email, uses_of
from storefront.pricing.discounts import USED_UP, DiscountLine
from storefront.pricing.models import Discount, DiscountCode, Redemption
from storefront.shops.models import Shop

_HAS_USES_LEFT = Q(use_limit__isnull=True) | Q(uses__lt=F("use_limit"))


class DiscountUsedUp(Refusal):
    """Another order took the last use."""

    code = USED_UP


@transaction.atomic
def redeem(*, shop: Shop, lines: Iterable[DiscountLine], shopper: Shopper, now: datetime) -> UUID | None:
    """Count the uses of these discounts for one sale. Returns the number under which the uses can be kept and given
    back; None if none of the discounts is counted.

    Raises DiscountUsedUp; the caller's transaction must then end.
    """
    counted = sorted((line for line in lines if line.is_counted), key=lambda line: line.discount_id or 0)
    if not counted:
        return None
    sale, digest = uuid4(), email_digest(shop, shopper_email(shop, shopper))
    for line in counted:
        discount = Discount.objects.filter(shop=shop, pk=line.discount_id)
        code = DiscountCode.objects.filter(shop=shop, pk=line.code_id)
        is_left = discount.filter(_HAS_USES_LEFT).update(uses=F("uses") + 1)
        if is_left and line.code_id is not None:
            is_left = code.filter(_HAS_USES_LEFT).update(uses=F("uses") + 1)
        if not is_left or _customer_has_no_use_left(shop, discount.get(), shopper):
            raise DiscountUsedUp(f"The discount {line.name} has been used up.")
        Redemption.objects.create(
            shop=shop,
            discount_id=line.discount_id,
            code_id=line.code_id,
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
def give_back_uses(*, shop: Shop, sale: UUID | None) -> None:
    """Give the uses of the sale back. Does nothing if that was done before."""
    if sale is None:
        return
    # Of two concurrent calls, the second waits here, and then finds no rows.
    rows = Redemption.objects.select_for_update(of=("self",)).filter(shop=shop, sale=sale).order_by("discount_id")
    for row in list(rows):
        Discount.objects.filter(shop=shop, pk=row.discount_id).update(uses=F("uses") - 1)
        if row.code_id is not None:
            DiscountCode.objects.filter(shop=shop, pk=row.code_id).update(uses=F("uses") - 1)
        row.delete()


def _customer_has_no_use_left(shop: Shop, discount: Discount, shopper: Shopper) -> bool:
    """Call with the discount's row locked: then no other sale counts a use of it."""
    if discount.customer_limit is None:
        return False
    return Redemption.objects.filter(uses_of(shop, shopper), discount=discount).count() >= discount.customer_limit
