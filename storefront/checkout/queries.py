from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from storefront.carts import queries as carts
from storefront.carts.merging import last_arrival
from storefront.carts.models import Cart, CartLine
from storefront.carts.schemas import contents_record
from storefront.checkout.models import Checkout
from storefront.customers.models import Customer
from storefront.customers.queries import ADDRESS_FIELDS, default_address
from storefront.kit.clock import timestamp
from storefront.kit.countries import countries
from storefront.kit.money import ZERO
from storefront.pricing.models import ShippingRate
from storefront.pricing.queries import shipping_rates
from storefront.pricing.rules import Totals
from storefront.shops.models import Shop

# Name of the delivery in a shop without shipping rates, which delivers everywhere free of charge.
PLAIN_DELIVERY = "Delivery"


@dataclass(frozen=True)
class Delivery:
    """A delivery method that can be chosen. `rate` is None for PLAIN_DELIVERY."""

    name: str
    price: Decimal
    rate: ShippingRate | None = None

    @property
    def rate_id(self) -> int | None:
        return self.rate.pk if self.rate else None


@dataclass(frozen=True)
class Quote:
    """Lines, totals and delivery of a basket, with what its checkout has so far.

    `deliveries` are the delivery methods for its address. `delivery` is the chosen one; None if none is chosen, none is
    available or nothing is delivered.
    """

    lines: list[CartLine]
    totals: Totals
    needs_delivery: bool
    deliveries: list[Delivery]
    delivery: Delivery | None

    @property
    def is_deliverable(self) -> bool:
        return not self.needs_delivery or self.delivery is not None


def open_checkout(shop: Shop, cart: Cart, owner: UUID | None) -> Checkout | None:
    """The owner's checkout of this cart that is not yet an order."""
    if owner is None:
        return None
    return Checkout.objects.filter(shop=shop, cart=cart, owner=owner, order=None).first()


def prefilled_checkout(shop: Shop, customer: Customer) -> Checkout:
    """An unsaved checkout with the customer's email address, phone and default address."""
    address = default_address(shop, customer)
    shipping_address = {"name": customer.name}
    if address:
        shipping_address = {name: getattr(address, name) for name in ADDRESS_FIELDS if name != "phone"}
    phone = (address.phone if address else "") or customer.phone
    return Checkout(shop=shop, email=customer.email, phone=phone, shipping_address=shipping_address)


def checkout_of_cart(shop: Shop, cart: Cart, owner: UUID | None, public_id: UUID) -> Checkout | None:
    """The owner's checkout of this cart with this public id, whether it has become an order or not."""
    if owner is None:
        return None
    found = Checkout.objects.filter(shop=shop, cart=cart, owner=owner, public_id=public_id)
    return found.select_related("order").first()


def delivery_countries(shop: Shop) -> dict[str, str]:
    """The countries that the shop delivers to: names by code, sorted by name."""
    rates = shipping_rates(shop)
    if any(not rate.countries for rate in rates) or not rates:
        return countries()
    served = {code for rate in rates for code in rate.countries}
    return {code: name for code, name in countries().items() if code in served}


def quote(shop: Shop, cart: Cart, checkout: Checkout | None, now: datetime) -> Quote:
    """The quote for the basket. Includes tax once an address is known, and delivery once it is chosen."""
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
        cart=cart,
        email=checkout.email if checkout else "",
        country=country,
        region=address.get("region", "") if address else "",
        shipping=delivery.price if delivery else ZERO,
    )
    if totals.is_delivery_free:
        deliveries = [replace(each, price=ZERO) for each in deliveries]
        delivery = replace(delivery, price=ZERO) if delivery else None
    return Quote(lines, totals, needs_delivery, deliveries, delivery)


def abandoned_record(shop: Shop, cart: Cart, checkout: Checkout, quoted: Quote) -> dict[str, Any]:
    """The checkout as an event reports it (`schemas.AbandonedCheckout`)."""
    arrival = last_arrival(shop, cart, quoted.lines)
    return {
        "id": checkout.pk,
        "customer_id": cart.customer_id,
        "email": checkout.email,
        "phone": checkout.phone,
        "currency": shop.currency,
        "shipping_address": checkout.shipping_address,
        **contents_record(quoted.lines, quoted.totals),
        "client_reference": (arrival.client_reference or None) if arrival else None,
        "metadata": arrival.metadata if arrival else {},
        "cancel_url": (arrival.cancel_url or None) if arrival else None,
        "cart": str(arrival.checkout_link) if arrival and arrival.checkout_link else None,
        "created_at": timestamp(checkout.created_at),
        "updated_at": timestamp(checkout.updated_at),
    }


def tax_address(checkout: Checkout, *, needs_delivery: bool) -> dict[str, str] | None:
    """The address for delivery and tax: the delivery address, or the billing address if nothing is delivered."""
    return checkout.shipping_address if needs_delivery else billing_address(checkout)


def billing_address(checkout: Checkout) -> dict[str, str] | None:
    """The billing address, by default the delivery address."""
    return checkout.billing_address or checkout.shipping_address


def _deliveries(shop: Shop, lines: list[CartLine], country: str) -> list[Delivery]:
    if not shipping_rates(shop):
        return [Delivery(PLAIN_DELIVERY, ZERO)]
    options = carts.shipping_options(shop, lines, country)
    return [Delivery(option.rate.name, option.price, option.rate) for option in options]


def _chosen(checkout: Checkout | None, deliveries: list[Delivery]) -> Delivery | None:
    """The chosen delivery method. If there is only one, that one, chosen or not."""
    if checkout is None or not deliveries:
        return None
    if len(deliveries) == 1:
        return deliveries[0]
    return next((delivery for delivery in deliveries if delivery.rate_id == checkout.shipping_rate_id), None)
