"""Every check of `storefront verify`: stored values against the rows that explain them."""

from collections.abc import Iterator

from storefront.catalogue import verifying as catalogue
from storefront.gift_cards import verifying as gift_cards
from storefront.kit.deviations import Deviation
from storefront.listing import verifying as listing
from storefront.orders import verifying as orders
from storefront.payments import card_payments
from storefront.payments import verifying as payments
from storefront.shops.models import Shop

CHECKS = (
    catalogue.deviations,
    listing.deviations,
    gift_cards.deviations,
    orders.deviations,
    payments.deviations,
    card_payments.deviations,
    payments.refund_deviations,
)


def deviations(shop: Shop) -> Iterator[Deviation]:
    """Everything in the shop that others of its rows contradict. Reads only; the shop can stay open meanwhile."""
    for check in CHECKS:
        yield from check(shop)
