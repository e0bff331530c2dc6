from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from storefront.carts import queries as carts
from storefront.carts.merging import last_arrival
from storefront.carts.models import Cart, CartLine
from storefront.carts.schemas import contents_record
from storefront.carts.translated_lines import lines_in
from storefront.checkout.models import Checkout
from storefront.checkout.vat_ids import proven_country
from storefront.customers.models import Customer
from storefront.customers.queries import ADDRESS_FIELDS, default_address
from storefront.kit.clock import timestamp
from storefront.kit.countries import countries
from storefront.kit.money import ZERO, quantize
from storefront.kit.translations import spoken
from storefront.payments.methods import with_minimum
from storefront.pricing import queries as pricing
from storefront.pricing.models import PickupPlace
from storefront.pricing.rules import Totals
from storefront.pricing.shipping import ShippingOption, cheapest, pickup_option, shipping_options
from storefront.pricing.taxes import TaxTerms
from storefront.pricing.zones import countries_by_region, served_countries, zone_of
from storefront.shops.models import Shop
from storefront.shops.spoken import further_language


@dataclass(frozen=True)
class Quote:
    """Lines, totals and delivery of a basket, with the details that its checkout has so far. If the totals are without
    tax, so are the prices of lines and deliveries.

    `address` is the destination: the delivery address, the pick-up place, or the billing address if nothing is
    delivered. `deliveries` are the delivery methods for it. `delivery` is the chosen one, or until then (`is_chosen`)
    the cheapest; None if none is available or nothing is delivered. `pickup` is the place where the shopper collects
    the order. `language` is that of the names of lines, discounts, taxes and deliveries; empty for the main one.
    """

    lines: list[CartLine]
    totals: Totals
    needs_delivery: bool
    address: dict[str, str] | None
    deliveries: list[ShippingOption]
    delivery: ShippingOption | None
    is_chosen: bool
    pickup: PickupPlace | None
    language: str = ""

    @property
    def is_shipped(self) -> bool:
        """Returns True if something is sent, so that a delivery address is needed."""
        return self.needs_delivery and self.pickup is None

    @property
    def is_deliverable(self) -> bool:
        return not self.needs_delivery or (self.delivery is not None and self.is_chosen)


@dataclass(frozen=True)
class WaysOfDelivery:
    """The countries to which a shop delivers, names by code, of which `regional` need the region; and its pick-up
    places."""

    countries: dict[str, str]
    regional: frozenset[str]
    places: list[PickupPlace]


def open_checkout(shop: Shop, cart: Cart, owner: UUID | None) -> Checkout | None:
    """The owner's checkout of this cart that is not yet an order."""
    if owner is None:
        return None
    found = Checkout.objects.filter(shop=shop, cart=cart, owner=owner, order=None).first()
    if found:
        found.cart = cart
    return found


def prefilled_checkout(shop: Shop, customer: Customer) -> Checkout:
    """An unsaved checkout with the customer's email address, phone and default address."""
    address = default_address(shop, customer)
    shipping_address = {"name": customer.name}
    if address:
        shipping_address = {name: getattr(address, name) for name in ADDRESS_FIELDS if name != "phone"}
    phone = (address.phone if address else "") or customer.phone
    return Checkout(shop=shop, email=customer.email, phone=phone, shipping_address=shipping_address)


def checkout_of_cart(shop: Shop, cart: Cart, owner: UUID | None, public_id: UUID) -> Checkout | None:
    """The owner's checkout of this cart with this public id, also if it has become an order."""
    if owner is None:
        return None
    found = Checkout.objects.filter(shop=shop, cart=cart, owner=owner, public_id=public_id)
    return found.select_related("order").first()


def ways_of_delivery(shop: Shop, language: str = "") -> WaysOfDelivery:
    """The ways in which an order of this shop can reach the shopper."""
    zones, places = pricing.delivery_zones(shop), pricing.pickup_places(shop, language)
    if not zones:
        return WaysOfDelivery({} if places else countries(), frozenset(), places)
    served = served_countries(zones, pricing.served_zones(shop))
    return WaysOfDelivery(served, countries_by_region(zones), places)


def quote(
    shop: Shop,
    cart: Cart,
    checkout: Checkout | None,
    now: datetime,
    language: str = "",
    lines: list[CartLine] | None = None,
) -> Quote:
    """The quote for the basket, with names in this language. Includes tax and delivery once an address or a pick-up
    place is known. `lines` are those of `carts.cart_lines`, if the caller has read them."""
    lines = carts.cart_lines(shop, cart) if lines is None else lines
    needs_delivery = carts.needs_shipping(lines)
    pickup = _pickup(shop, checkout, language) if needs_delivery else None
    address = _destination(checkout, needs_delivery, pickup) if checkout else None
    email = checkout.email if checkout else ""
    discounts = carts.cart_discounts(shop, lines, now, cart=cart, email=email, language=language)
    deliveries: list[ShippingOption] = []
    if pickup is not None:
        deliveries = [pickup_option(pickup)]
    elif address and needs_delivery:
        is_free = carts.is_delivery_free(shop, lines, discounts, now)
        deliveries = _deliveries(shop, lines, address, is_free=is_free, language=language)
    delivery, is_chosen = _chosen(checkout, deliveries)
    totals = carts.cart_totals(
        shop,
        lines,
        now,
        cart=cart,
        discounts=discounts,
        terms=_tax_terms(shop, cart, checkout, address, now, language),
        shipping=delivery.price if delivery else ZERO,
        is_shipping_covered=delivery is None or delivery.is_covered,
    )
    totals = with_minimum(shop, totals)
    if totals.delivery_part != 1:
        deliveries = [_at_part(shop, each, totals.delivery_part) for each in deliveries]
        delivery = _at_part(shop, delivery, totals.delivery_part) if delivery else None
    lines = lines_in(shop, carts.shown_lines(lines, totals), language)
    return Quote(lines, totals, needs_delivery, address, deliveries, delivery, is_chosen, pickup, language)


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


def billing_address(checkout: Checkout) -> dict[str, str] | None:
    """The billing address, by default the delivery address."""
    return checkout.billing_address or checkout.shipping_address


def pickup_record(place: PickupPlace) -> dict[str, str]:
    """The pick-up place as an order stores it."""
    return place.address | {"hours": place.hours}


def _pickup(shop: Shop, checkout: Checkout | None, language: str) -> PickupPlace | None:
    """The chosen pick-up place, if it is still offered."""
    if checkout is None or checkout.pickup_place_id is None:
        return None
    found = PickupPlace.objects.filter(shop=shop, pk=checkout.pickup_place_id, is_active=True)
    return next(iter(spoken(found, further_language(shop, language), "name", "hours", "ready")), None)


def _destination(checkout: Checkout, needs_delivery: bool, pickup: PickupPlace | None) -> dict[str, str] | None:
    if pickup is not None:
        return pickup.address
    return checkout.shipping_address if needs_delivery else billing_address(checkout)


def _tax_terms(
    shop: Shop, cart: Cart, checkout: Checkout | None, address: dict[str, str] | None, now: datetime, language: str
) -> TaxTerms:
    """The tax terms of the basket, as far as its destination is known."""
    is_net = carts.sees_net_prices(shop, cart)
    if checkout is None or address is None:
        return pricing.tax_terms(shop, is_net=is_net)
    country = proven_country(shop, checkout.vat_id, checkout.vat_check, now)
    buyer = billing_address(checkout) or address
    return pricing.tax_terms(
        shop, destination=address, buyer=buyer, vat_id_country=country, is_net=is_net, language=language
    )


def _at_part(shop: Shop, option: ShippingOption, part: Decimal) -> ShippingOption:
    """The delivery method at its net price."""
    return replace(option, price=quantize(option.price * part, shop.currency))


def _deliveries(
    shop: Shop, lines: list[CartLine], address: dict[str, str], *, is_free: bool, language: str
) -> list[ShippingOption]:
    zones = pricing.delivery_zones(shop)
    if not zones and not pricing.pickup_places(shop):
        # A shop without any delivers everywhere free of charge.
        return [ShippingOption(_("Delivery"), ZERO, is_covered=True)]
    zone = zone_of(zones, address)
    if zone is None:
        return []
    rates = pricing.shipping_rates(shop, zone, language)
    return shipping_options(rates, carts.parcel(shop, lines), is_delivery_free=is_free)


def _chosen(checkout: Checkout | None, deliveries: list[ShippingOption]) -> tuple[ShippingOption | None, bool]:
    """The delivery method, and True if it is chosen or the only one. Otherwise the cheapest, which the shopper has to
    confirm."""
    saved = checkout.shipping_rate_id if checkout else None
    settled = deliveries if len(deliveries) == 1 else [each for each in deliveries if saved and each.rate_id == saved]
    return (settled[0], True) if settled else (cheapest(deliveries), False)
