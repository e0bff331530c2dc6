"""Reads what prices depend on: tax rates, shipping rates, and the terms of customer groups."""

from collections.abc import Collection
from dataclasses import dataclass, field
from decimal import Decimal

from django.db.models import Q

from storefront.catalogue.models import Product
from storefront.customers.models import CustomerGroup
from storefront.kit.money import ZERO, quantize
from storefront.pricing.models import GroupPrice, ShippingRate, TaxRate
from storefront.pricing.rules import price_for_group
from storefront.shops.models import Shop


@dataclass(frozen=True, slots=True)
class GroupTerms:
    """What a customer group pays for some products: group prices, or a percentage off the list price.

    `prices` is keyed by product and variant id. `excluded` are the ids of products without the percentage."""

    percent: Decimal = ZERO
    prices: dict[tuple[int, int | None], Decimal] = field(default_factory=dict)
    excluded: frozenset[int] = frozenset()

    def price(self, product_id: int, variant_id: int | None) -> Decimal | None:
        """The group price of the variant, else of the product; None without one."""
        own = self.prices.get((product_id, variant_id))
        return own if own is not None else self.prices.get((product_id, None))

    def percent_off(self, product_id: int) -> Decimal:
        return ZERO if product_id in self.excluded else self.percent

    def price_of(self, list_price: Decimal, product_id: int, variant_id: int | None = None) -> Decimal:
        """The unit price for the group without options, rounded to cents."""
        own = self.price(product_id, variant_id)
        return quantize(price_for_group(list_price, own=own, percent=self.percent_off(product_id)))


NO_TERMS = GroupTerms()


def group_terms(shop: Shop, customer_id: int | None, product_ids: Collection[int]) -> GroupTerms:
    """The terms of the customer's group for these products; NO_TERMS without a group. No query without a customer."""
    if customer_id is None:
        return NO_TERMS
    group = CustomerGroup.objects.filter(shop=shop, customer__id=customer_id, customer__shop=shop).first()
    if group is None:
        return NO_TERMS
    rows = GroupPrice.objects.filter(shop=shop, group=group, product_id__in=product_ids)
    prices = {(row.product_id, row.variant_id): row.price for row in rows}
    if not group.discount_percent:
        return GroupTerms(prices=prices)
    excluded = Product.objects.filter(
        Q(exclude_from_group_discounts=True) | Q(categories__exclude_from_group_discounts=True),
        shop=shop,
        pk__in=product_ids,
    ).values_list("pk", flat=True)
    return GroupTerms(group.discount_percent, prices, frozenset(excluded))


def tax_rates(shop: Shop, country: str) -> list[TaxRate]:
    """All tax rates of the country, for all its regions and tax classes."""
    return list(TaxRate.objects.filter(shop=shop, country=country).order_by("pk"))


def shipping_rates(shop: Shop) -> list[ShippingRate]:
    """The active shipping rates, in the merchant's order. `rules.shipping_options` selects those that fit a basket."""
    return list(ShippingRate.objects.filter(shop=shop, is_active=True).order_by("sort_order", "pk"))
