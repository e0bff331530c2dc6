"""Finds the zone of an address, without database: the most specific one (docs/delivery.md)."""

from collections.abc import Iterable, Mapping
from itertools import count

from django.utils.translation import gettext as _

from storefront.kit.countries import countries, country_name
from storefront.kit.postal import region_key
from storefront.pricing.models import DeliveryZone
from storefront.pricing.postcodes import place_rank


def zone_of(zones: Iterable[DeliveryZone], address: Mapping[str, str]) -> DeliveryZone | None:
    """The zone of this address: by postal code, else by region, else by country, else the one for all other countries.

    Of several with postal codes, the one whose pattern covers the fewest codes; of equals, which the admin refuses, the
    oldest. Returns None if the shop does not deliver there.
    """
    fitting = [(rank, -zone.pk, zone) for zone in zones if (rank := _rank(zone, address)) is not None]
    return max(fitting, key=lambda each: each[:2])[2] if fitting else None


def served_countries(zones: Iterable[DeliveryZone], active: set[int]) -> dict[str, str]:
    """The countries to which the shop delivers, at least in part: names by code, sorted by name. `active` are the ids
    of zones with a rate."""
    zones = list(zones)
    listed = {code for zone in zones if zone.pk in active for code in zone.countries}
    closed = {code for zone in zones for code in zone.countries if not is_narrow(zone)} - listed
    is_everywhere = any(zone.pk in active and not zone.countries for zone in zones)
    return {
        code: name for code, name in countries().items() if code in listed or (is_everywhere and code not in closed)
    }


def countries_by_region(zones: Iterable[DeliveryZone]) -> frozenset[str]:
    """The countries whose zones depend on the region, so that the checkout has to ask for it."""
    return frozenset(code for zone in zones if zone.regions for code in zone.countries)


def is_narrow(zone: DeliveryZone) -> bool:
    """Returns True if the zone is only a part of its country."""
    return bool(zone.regions or zone.postcodes)


def overlap(zone: DeliveryZone, others: Iterable[DeliveryZone]) -> tuple[str, str] | None:
    """The field and a sentence if another zone has the same addresses by equally specific terms, so that neither would
    be chosen over the other."""
    for other in others:
        if other.pk != zone.pk and (found := _overlap(zone, other)):
            return found
    return None


def free_name(name: str, others: Iterable[DeliveryZone]) -> str:
    """The name, shortened to what a zone can have, with a number if another zone has it already."""
    taken = {other.name.lower() for other in others}
    wanted = (name[:90] if number == 1 else f"{name[:90]} {number}" for number in count(1))
    return next(each for each in wanted if each.lower() not in taken)


def _rank(zone: DeliveryZone, address: Mapping[str, str]) -> tuple[int, ...] | None:
    if zone.countries and address.get("country", "") not in zone.countries:
        return None
    rank = place_rank(zone.postcodes, zone.regions, address)
    return rank and (*rank, bool(zone.countries))


def _overlap(zone: DeliveryZone, other: DeliveryZone) -> tuple[str, str] | None:
    if not zone.countries and not other.countries:
        return "countries", _("%(zone)s is already for all other countries. Choose some.") % {"zone": other.name}
    shared = [code for code in zone.countries if code in other.countries]
    if not shared or bool(zone.postcodes) != bool(other.postcodes) or bool(zone.regions) != bool(other.regions):
        return None
    by_key = {(code, region_key(code, each)): each for code in shared for each in zone.regions}
    keys = [(code, region_key(code, each)) for code in shared for each in other.regions]
    regions = [by_key[key] for key in keys if key in by_key]
    if zone.regions and not regions:
        return None
    if zone.postcodes:
        codes = [each for each in zone.postcodes if each in other.postcodes]
        return ("postcodes", _has(other, codes[0])) if codes else None
    if regions:
        return "regions", _has(other, regions[0])
    return "countries", _has(other, country_name(shared[0]))


def _has(other: DeliveryZone, part: str) -> str:
    return _("%(name)s has %(part)s already.") % {"name": other.name, "part": part}
