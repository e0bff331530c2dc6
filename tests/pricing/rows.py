"""Saved discounts and codes."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from storefront.catalogue.models import Brand, Category, Product
from storefront.customers.models import CustomerGroup
from storefront.pricing.models import Discount, DiscountCode, DiscountGroup, DiscountTarget
from storefront.shops.models import Shop
from tests.shops.factories import NOW


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
