"""The cast: a merchant's shop, a second shop that must never be seen, an integration of each, a stranger."""

import pytest

from storefront.shops.models import Shop
from tests.client import ApiClient
from tests.shops.factories import make_shop, make_token


@pytest.fixture
def shop(db) -> Shop:
    return make_shop()


@pytest.fixture
def other_shop(db) -> Shop:
    """Stands beside `shop` in every test that could leak."""
    return make_shop("other.example.com", name="Elsewhere")


@pytest.fixture
def api(shop) -> ApiClient:
    """An integration of `shop` with every scope."""
    return ApiClient(make_token(shop))


@pytest.fixture
def other_api(other_shop) -> ApiClient:
    return ApiClient(make_token(other_shop))


@pytest.fixture
def stranger(db) -> ApiClient:
    return ApiClient(None)
