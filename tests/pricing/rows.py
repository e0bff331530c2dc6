"""Saved discounts and codes."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from storefront.catalogue.models import Brand, Category, Product
from storefront.customers.models import CustomerGroup
from storefront.pricing.models import (
    DeliveryZone,
    Discount,
    DiscountCode,
    DiscountGroup,
    DiscountTarget,
    PickupPlace,
    ShippingRate,
    ShippingRateStep,
)
from storefront.shops.models import Shop
from tests.shops.factories import NOW


def make_zone(shop: Shop, name: str = "", countries: Iterable[str] = (), **given: Any) -> DeliveryZone:
    """A zone of these countries; of all others without them."""
    countries = list(countries)
    name = name or ", ".join(countries) or "Everywhere"
    return DeliveryZone.objects.create(shop=shop, name=name, countries=countries, **given)


def make_rate(
    shop: Shop,
    name: str = "Parcel",
    price: Decimal | str = "4.90",
    *,
    countries: Iterable[str] = (),
    zone: DeliveryZone | None = None,
    steps: dict[str | None, str] | None = None,
    **given: Any,
) -> ShippingRate:
    """A rate of this zone, or of the zone with exactly these countries. `steps`: prices by `up to`."""
    countries = list(countries)
    same = (each for each in DeliveryZone.objects.filter(shop=shop) if each.countries == countries)
    zone = zone or next(same, None) or make_zone(shop, countries=countries)
    rate = ShippingRate.objects.create(shop=shop, zone=zone, name=name, price=Decimal(price), **given)
    for up_to, step in (steps or {}).items():
        ShippingRateStep.objects.create(shop=shop, rate=rate, up_to=up_to, price=step)
    return rate


def make_place(shop: Shop, name: str = "Harbour shop", **given: Any) -> PickupPlace:
    address = {"line1": "Am Kai 1", "postal_code": "20457", "city": "Hamburg", "country": "DE"}
    return PickupPlace.objects.create(shop=shop, name=name, **address | given)


def make_discount(
    shop: Shop,
    name: str = "Spring",
    value: str | int = 10,
    *,
    items: Iterable[Product | Category | Brand] | None = None,
    groups: Iterable[CustomerGroup] | None = None,
    **given: Any,
) -> Discount:
    limits = {"is_limited_to_items": items is not None, "is_limited_to_groups": groups is not None}
    discount = Discount.objects.create(shop=shop, name=name, value=Decimal(value), **limits | given)
    for item in items or ():
        DiscountTarget.objects.create(shop=shop, discount=discount, **{type(item).__name__.lower(): item})
    for group in groups or ():
        DiscountGroup.objects.create(shop=shop, discount=discount, group=group)
    return discount


def make_code(
    shop: Shop, code: str = "SPRING10", discount: Discount | None = None, *, limit: int | None = None, **given: Any
) -> DiscountCode:
    """A code of this discount, or of a new one that needs a code."""
    discount = discount or make_discount(shop, needs_code=True, **given)
    return DiscountCode.objects.create(shop=shop, discount=discount, code=code, use_limit=limit, created_at=NOW)
