"""Selects the delivery methods of a basket and calculates their prices, without database (docs/delivery.md).

Amounts are Decimal in whole units of the shop's currency; weights have the unit of the products.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from django.utils.translation import gettext as _

from storefront.kit.money import ZERO
from storefront.pricing.models import PickupPlace, ShippingRate

# A row of a rate's table: up to this, which is included (None: everything above), at this price.
Step = tuple[Decimal | None, Decimal]


@dataclass(frozen=True, slots=True)
class Parcel:
    """The properties of a basket on which rates depend. `weight`, `count`, `origins` and `is_media_mail` cover the
    items to send; `subtotal` is the basket's, before discounts and without bought gift cards."""

    weight: Decimal = Decimal(0)
    count: int = 1
    subtotal: Decimal = ZERO
    origins: frozenset[int | None] = frozenset()
    is_media_mail: bool = False


@dataclass(frozen=True, slots=True)
class ShippingOption:
    """A delivery method that a shopper can choose, and its price for their basket. `is_covered`: a discount with free
    delivery makes it free. Without a rate and a place, it is the default delivery of a shop that has set up none."""

    name: str
    price: Decimal
    time: str = ""
    rate: ShippingRate | None = None
    place: PickupPlace | None = None
    is_covered: bool = False

    @property
    def rate_id(self) -> int | None:
        return self.rate.pk if self.rate else None


def shipping_options(
    rates: Iterable[tuple[ShippingRate, Sequence[Step]]], parcel: Parcel, *, is_delivery_free: bool = False
) -> list[ShippingOption]:
    """The rates of a zone that this parcel can have, in the given order. `is_delivery_free`: a discount makes those
    free that it covers."""
    options = [
        ShippingOption(rate.name, price, rate.delivery_time, rate)
        for rate, steps in rates
        if _is_allowed(rate, parcel) and (price := shipping_price(rate, steps, parcel)) is not None
    ]
    covered = [_covers(option, options) for option in options]
    return [
        replace(option, is_covered=free, price=ZERO if free and is_delivery_free else option.price)
        for option, free in zip(options, covered, strict=True)
    ]


def shipping_price(rate: ShippingRate, steps: Sequence[Step], parcel: Parcel) -> Decimal | None:
    """The price of this rate; None if its table ends below. `steps` ascend."""
    if rate.free_from is not None and parcel.subtotal >= rate.free_from:
        return ZERO
    if rate.basis == ShippingRate.Basis.ORDER:
        return rate.price
    quantity = {"weight": parcel.weight, "subtotal": parcel.subtotal, "count": Decimal(parcel.count)}[rate.basis]
    return next((price for up_to, price in steps if up_to is None or quantity <= up_to), None)


def cheapest(options: Sequence[ShippingOption]) -> ShippingOption | None:
    """The cheapest option, which is preselected; the first of equals."""
    return min(options, key=lambda option: option.price, default=None)


def pickup_option(place: PickupPlace) -> ShippingOption:
    name = _("Pick-up at %(place)s") % {"place": place.name}
    return ShippingOption(name, place.price, place.ready, place=place)


def _is_allowed(rate: ShippingRate, parcel: Parcel) -> bool:
    return (
        rate.minimum_weight <= parcel.weight
        and (rate.maximum_weight is None or parcel.weight <= rate.maximum_weight)
        and (parcel.is_media_mail or not rate.is_media_mail)
        and (rate.shipping_origin_id is None or parcel.origins == {rate.shipping_origin_id})
    )


def _covers(option: ShippingOption, options: Sequence[ShippingOption]) -> bool:
    """Returns True if a discount with free delivery covers this option: the merchant's choice, or else the cheapest."""
    marked = any(each.rate.free_with_discount for each in options if each.rate)
    if marked:
        return option.rate is not None and option.rate.free_with_discount
    return option.price == min(each.price for each in options)
