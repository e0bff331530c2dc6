"""Estimates the delivery cost of a basket before the checkout asks for an address: at once in a shop with one zone,
else for a country and postal code that the visitor enters, which the session stores."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from storefront.carts import queries as carts
from storefront.carts.models import CartLine
from storefront.kit.countries import country_name
from storefront.kit.money import ZERO, quantize
from storefront.pricing import queries as pricing
from storefront.pricing.shipping import ShippingOption, cheapest, shipping_options
from storefront.pricing.zones import is_narrow, served_countries, zone_of
from storefront.shops.models import Shop
from storefront.shops.request import Request

ONE = Decimal(1)
MAX_POSTCODE = 20
_SESSION = "delivery_estimate"


@dataclass(frozen=True, slots=True)
class DeliveryEstimate:
    """The cheapest method for a basket; None without a destination, or if no method fits (`problem`). `countries` are
    the names, by code, that can be chosen; `country` and `postal_code` are the visitor's entry."""

    option: ShippingOption | None
    problem: str
    countries: dict[str, str]
    country: str
    postal_code: str

    @property
    def place(self) -> str:
        """The destination in words; empty without an entry."""
        return " ".join(part for part in (self.postal_code, self.countries.get(self.country, "")) if part)


def remember_place(request: Request, country: str, postal_code: str) -> bool:
    """Remember the entered place in the session. Returns False, and changes nothing, if the shop does not deliver
    there."""
    if country not in served_countries(pricing.delivery_zones(request.shop), pricing.served_zones(request.shop)):
        return False
    request.session[_SESSION] = [country, postal_code.strip()[:MAX_POSTCODE]]
    return True


def remembered_place(request: Request) -> tuple[str, str]:
    """Country and postal code; empty without an entry."""
    country, postal_code = request.session.get(_SESSION) or ("", "")
    return country, postal_code


def estimate(
    shop: Shop,
    lines: Sequence[CartLine],
    place: tuple[str, str],
    *,
    is_delivery_free: bool,
    part: Decimal = ONE,
    language: str = "",
) -> DeliveryEstimate | None:
    """Estimate the delivery of these lines to this place; None if nothing is sent. The lines have entered prices.
    Delivery prices are multiplied by `part`, as in `rules.Totals`."""
    parcel = carts.parcel(shop, lines) if any(not line.is_digital for line in lines) else None
    if parcel is None or not parcel.count:
        return None
    zones = pricing.delivery_zones(shop)
    if not zones:
        # The shop delivers everywhere free of charge, or only has pick-up places.
        plain = None if pricing.pickup_places(shop) else ShippingOption("Delivery", ZERO)
        return DeliveryEstimate(plain, "", {}, "", "")
    served = served_countries(zones, pricing.served_zones(shop))
    country, postal_code = place if place[0] in served else ("", "")
    if country:
        zone = zone_of(zones, {"country": country, "postal_code": postal_code})
    else:
        zone = zones[0] if len(zones) == 1 and not is_narrow(zones[0]) else None
    if zone is None:
        problem = f"No delivery to {postal_code or country_name(country)}." if country else ""
        return DeliveryEstimate(None, problem, served, country, postal_code)
    rates = pricing.shipping_rates(shop, zone, language)
    options = shipping_options(rates, parcel, is_delivery_free=is_delivery_free)
    problem = "" if options else "No delivery method fits these items."
    found = cheapest(options)
    if found is not None and part != ONE:
        found = replace(found, price=quantize(found.price * part, shop.currency))
    return DeliveryEstimate(found, problem, served, country, postal_code)
