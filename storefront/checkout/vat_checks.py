"""Limits the checks of VAT IDs by visitors, since each asks a foreign service. Earlier answers are used again."""

from collections.abc import Callable
from typing import Any

from storefront.checkout import vat_ids
from storefront.checkout.models import Checkout
from storefront.customers import limits
from storefront.kit.clock import timestamp
from storefront.pricing.eu_vat import vat_id_country
from storefront.shops.request import Request


def checker_of(request: Request, checkout: Checkout | None) -> Callable[[str], dict[str, Any] | None]:
    """Return a function that checks a normalised VAT ID for this visitor. The function returns None for an ID of the
    shop's own country, which is taxed in any case."""

    def check(vat_id: str) -> dict[str, Any] | None:
        shop, now = request.shop, request.now
        if vat_id_country(vat_id) == shop.country:
            return None
        if checkout and checkout.vat_id == vat_id and vat_ids.counts(checkout.vat_check, now):
            return checkout.vat_check
        try:
            limits.count(request, "vat_checks")
        except limits.LimitReached:
            return {
                "result": vat_ids.UNAVAILABLE,
                "checked_at": timestamp(now),
                "consultation_number": None,
                "name": None,
            }
        return vat_ids.check_vat_id(shop, vat_id, now)

    return check
