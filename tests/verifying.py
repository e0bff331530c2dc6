"""Ends each test that sells with `storefront verify`."""

from collections.abc import Iterator

import pytest
from django.db import connection

from storefront.gift_cards import verifying as gift_cards
from storefront.orders import verifying as orders
from storefront.payments import card_payments
from storefront.payments import verifying as payments
from storefront.server.verifying import CHECKS
from storefront.shops.models import Shop

# Checks that have nothing to find unless one of these has rows. The others are always made.
NEEDS = {
    gift_cards.deviations: ("gift_cards_giftcard",),
    orders.deviations: ("orders_order", "orders_fulfilmentline"),
    payments.deviations: ("orders_payment",),
    card_payments.deviations: ("gift_cards_giftcardentry", "orders_payment WHERE gateway = 'gift_card'"),
    payments.refund_deviations: (
        "orders_refund",
        "orders_order WHERE refunded <> 0",
        "orders_orderline WHERE refunded_qty <> 0",
    ),
}
_HAVE_ROWS = ", ".join(" OR ".join(f"EXISTS (SELECT 1 FROM {rows})" for rows in needed) for needed in NEEDS.values())


@pytest.fixture(autouse=True)
def everything_agrees(request: pytest.FixtureRequest) -> Iterator[None]:
    """After the test, stored values are what the rows that explain them say, in every shop. A test that breaks them by
    hand has the mark `disagrees`."""
    sells = "shop" in request.fixturenames and not request.node.get_closest_marker("disagrees")
    if sells:
        request.getfixturevalue("db")
    yield
    if sells:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {_HAVE_ROWS}")
            have_rows = dict(zip(NEEDS, cursor.fetchone(), strict=True))
        checks = [check for check in CHECKS if have_rows.get(check, True)]
        found = [deviation for shop in Shop.objects.all() for check in checks for deviation in check(shop)]
        assert not found, found
