"""What shoppers enter in a cart to pay less: discount codes and gift cards, each a list in a column of the cart."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from django.db import transaction

from storefront.carts.actions import Changed, Precondition, lock_cart, new_cart
from storefront.carts.models import Cart
from storefront.kit.refusals import Refusal
from storefront.shops.models import Shop

Column = Literal["discount_codes", "gift_cards"]


@transaction.atomic
def replace(
    column: Column,
    wanted: Sequence[Any],
    *,
    shop: Shop,
    now: datetime,
    token: str | None,
    cart: Cart | None,
    precondition: Precondition | None,
) -> Changed:
    """Replace the list of the cart; without a usable token, of a new cart."""
    locked, lines = lock_cart(shop, now, token, cart, precondition)
    if locked is None:
        locked, token = new_cart(shop, now, like=cart, with_token=True)
        setattr(locked, column, wanted)
        locked.save(force_insert=True)
    elif getattr(locked, column) != wanted:
        setattr(locked, column, wanted)
        locked.save(update_fields=[column])
    return Changed(locked, lines, token)


@transaction.atomic
def add(
    column: Column, value: Any, *, shop: Shop, cart: Cart, most: int, too_many: type[Refusal], now: datetime
) -> None:
    """Add to the list of the shopper's basket what it does not have. Raises `too_many`."""
    locked, _ = lock_cart(shop, now, None, cart)
    if locked is not None and value not in (had := getattr(locked, column)):
        if len(had) >= most:
            raise too_many
        setattr(locked, column, [*had, value])
        locked.save(update_fields=[column])


@transaction.atomic
def remove(column: Column, value: Any, *, shop: Shop, cart: Cart, now: datetime) -> None:
    """Remove from the list of the shopper's basket. What it does not have is no error."""
    locked, _ = lock_cart(shop, now, None, cart)
    if locked is not None and value in (had := getattr(locked, column)):
        setattr(locked, column, [each for each in had if each != value])
        locked.save(update_fields=[column])
