import pytest

from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.verifying import everything_agrees as everything_agrees


@pytest.fixture
def shopper(shop) -> Shopper:
    return Shopper(shop)


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", stock_qty=50, price="20.00")


@pytest.fixture
def card_product(shop):
    given = {"type": "digital", "requires_shipping": False, "track_inventory": False, "is_gift_card": True}
    return make_product(shop, "Gift card", price="25.00", allow_custom_price=True, min_custom_price="10.00", **given)
