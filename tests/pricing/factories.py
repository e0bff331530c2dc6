"""Unsaved rows for tests of the price rules."""

from decimal import Decimal

from storefront.catalogue.models import Product, Variant
from storefront.pricing.discounts import Candidate, PricedLine
from storefront.pricing.models import Discount, ShippingRate, TaxRate


def product(price: str = "10.00", **given) -> Product:
    return Product(price=Decimal(price), **given)


def variant(price: str = "12.00", **given) -> Variant:
    return Variant(price=Decimal(price), **given)


def line(amount: str, **given) -> PricedLine:
    return PricedLine(amount=Decimal(amount), **given)


def percent(value: str, **given) -> Discount:
    return Discount(name=f"{value} percent", kind="percent", value=Decimal(value), **given)


def amount(value: str, **given) -> Discount:
    return Discount(name=f"{value} off", kind="amount", value=Decimal(value), **given)


def buy_get(buy: int, get: int, value: str = "100", **given) -> Discount:
    given |= {"buy_qty": buy, "get_qty": get, "value": Decimal(value)}
    return Discount(name=f"Buy {buy} get {get}", kind="buy_get", **given)


def free_delivery(**given) -> Discount:
    return Discount(name="Free delivery", kind="free_delivery", **given)


def candidate(discount: Discount, product_ids: set[int] | None = None, **given) -> Candidate:
    return Candidate(discount, product_ids=None if product_ids is None else frozenset(product_ids), **given)


def rate(value: str, pk: int = 1, **given) -> TaxRate:
    return TaxRate(pk=pk, percent=Decimal(value), **{"name": "VAT", "country": "DE"} | given)


def delivery(name: str = "Parcel", price: str = "4.90", **given) -> ShippingRate:
    return ShippingRate(name=name, price=Decimal(price), **given)
