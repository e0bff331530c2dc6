"""Checks whether a shop can change its currency."""

from typing import Any

from django.db.models import Count

from storefront.catalogue.models import OptionValue, Product, Variant
from storefront.kit.currencies import decimals, problem_of
from storefront.kit.money import problem_of as problem_of_amount
from storefront.kit.money_field import MoneyField
from storefront.pricing.discount_kinds import MONEY_KINDS
from storefront.pricing.models import Discount, GroupPrice, PickupPlace, ShippingRate, ShippingRateStep
from storefront.shops.models import Shop

# Tables with amounts in the shop's currency. Orders, payments and gift cards have a currency of their own.
ENTERED = (Product, Variant, OptionValue, GroupPrice, ShippingRate, ShippingRateStep, PickupPlace, Discount)


def problem_of_change(shop: Shop, currency: str) -> str:
    """Why the shop cannot change to this currency, as a sentence; empty if it can."""
    if problem := problem_of(currency):
        return problem
    amounts = 0 if decimals(currency) else _amounts_without(shop, currency)
    if not amounts:
        return ""
    are = "1 price or amount of the shop has" if amounts == 1 else f"{amounts:,} prices and amounts of the shop have"
    return f"{are} decimals, and {currency} has none. Make them whole numbers first."


def _amounts_without(shop: Shop, currency: str) -> int:
    """Count the entered amounts that cannot be expressed in the currency."""
    found = 0
    for model in ENTERED:
        rows = model._default_manager.filter(shop=shop)
        for column in model._meta.concrete_fields:
            if isinstance(column, MoneyField):
                found += _count(rows, column.name, currency)
    amounts_off = Discount.objects.filter(shop=shop, kind__in=MONEY_KINDS)
    return found + _count(amounts_off, "value", currency)


def _count(rows: Any, column: str, currency: str) -> int:
    counted = rows.exclude(**{column: None}).order_by().values_list(column).annotate(Count("pk"))
    return sum(count for amount, count in counted if problem_of_amount(amount, currency))
