import pytest

from tests.checkout.shopper import Shopper


@pytest.fixture
def shopper(shop) -> Shopper:
    return Shopper(shop)
