from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from storefront.carts import queries as carts
from storefront.carts.models import Cart, CartLine
from storefront.checkout.models import Checkout
from storefront.customers.models import Customer
from storefront.customers.queries import ADDRESS_FIELDS, default_address
from storefront.kit.countries import countries
from storefront.kit.money import ZERO
from storefront.pricing.models import ShippingRate
from storefront.pricing.queries import shipping_rates
from storefront.pricing.rules import Totals
from storefront.shops.models import Shop

# What delivery is called in a shop that has not set up any ways of delivery: it sends everywhere at no charge.
PLAIN_DELIVERY = "Delivery"


@dataclass(frozen=True)
class Delivery:
    """One way of delivery on offer; `rate` is None for the plain one."""

    name: str
    price: Decimal
    rate: ShippingRate | None = None

    @property
    def rate_id(self) -> int | None:
        return self.rate.pk if self.rate else None


@dataclass(frozen=True)
class Quote:
    """What the basket comes to for a checkout, as far as that is filled in.

    `deliveries` are the ways to its address; `delivery` is the one chosen, None while there is none that fits or
    where nothing is delivered.
    """

    lines: list[CartLine]
    totals: Totals
    needs_delivery: bool
    deliveries: list[Delivery]
    delivery: Delivery | None

    @property
    def is_deliverable(self) -> bool:
        return not self.needs_delivery or self.delivery is not None


def open_checkout(shop: Shop, cart: Cart) -> Checkout | None:
    """The checkout that this cart is on, not yet an order."""
    return Checkout.objects.filter(shop=shop, cart=cart, order=None).first()


def begun_checkout(shop: Shop, customer: Customer) -> Checkout:
    """A checkout as a customer finds it: with their e-mail address and their default address. Not saved."""
    address = default_address(shop, customer)
    known = {"name": customer.name}
    if address:
        known = {name: getattr(address, name) for name in ADDRESS_FIELDS if name != "phone"}
    phone = (address.phone if address else "") or customer.phone
    return Checkout(shop=shop, email=customer.email, phone=phone, shipping_address=known)


def checkout_of_cart(shop: Shop, cart: Cart, public_id: UUID) -> Checkout | None:
    """The cart's checkout of that id, whether it has become an order or not."""
    found = Checkout.objects.filter(shop=shop, cart=cart, public_id=public_id)
    return found.select_related("order").first()


def delivery_countries(shop: Shop) -> dict[str, str]:
    """Where the shop delivers to: names by code, in the order of the names."""
    rates = shipping_rates(shop)
    if any(not rate.countries for rate in rates) or not rates:
        return countries()
    served = {code for rate in rates for code in rate.countries}
    return {code: name for code, name in countries().items() if code in served}


def quote(shop: Shop, cart: Cart, checkout: Checkout | None, now: datetime) -> Quote:
    """The basket priced for the checkout: with tax once an address is known, with delivery once it is chosen."""
    lines = carts.cart_lines(shop, cart)
    needs_delivery = carts.needs_shipping(shop, lines)
    address = tax_address(checkout, needs_delivery=needs_delivery) if checkout else None
    country = address["country"] if address else None
    deliveries = _deliveries(shop, lines, country) if country and needs_delivery else []
    delivery = _chosen(checkout, deliveries)
    totals = carts.cart_totals(
        shop,
        lines,
        now,
        country=country,
        region=address.get("region", "") if address else "",
        shipping=delivery.price if delivery else ZERO,
    )
    return Quote(lines, totals, needs_delivery, deliveries, delivery)


def tax_address(checkout: Checkout, *, needs_delivery: bool) -> dict[str, str] | None:
    """The address that decides delivery and tax: where the goods go; where nothing goes, who pays."""
    return checkout.shipping_address if needs_delivery else billing_address(checkout)


def billing_address(checkout: Checkout) -> dict[str, str] | None:
    """Who pays: the delivery address where no other was given."""
    return checkout.billing_address or checkout.shipping_address


def _deliveries(shop: Shop, lines: list[CartLine], country: str) -> list[Delivery]:
    if not shipping_rates(shop):
        return [Delivery(PLAIN_DELIVERY, ZERO)]
    options = carts.shipping_options(shop, lines, country)
    return [Delivery(option.rate.name, option.price, option.rate) for option in options]


def _chosen(checkout: Checkout | None, deliveries: list[Delivery]) -> Delivery | None:
    """The way chosen; where there is one way only, that one, so that nobody is asked what has one answer."""
    if checkout is None or not deliveries:
        return None
    if len(deliveries) == 1:
        return deliveries[0]
    return next((way for way in deliveries if way.rate_id == checkout.shipping_rate_id), None)
