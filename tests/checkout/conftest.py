import pytest

from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.verifying import everything_agrees as everything_agrees


@pytest.fixture
def shopper(shop) -> Shopper:
    return Shopper(shop)


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", stock_qty=50)


@pytest.fixture
def pot(shop):
    return make_product(shop, "Pot", stock_qty=50)
