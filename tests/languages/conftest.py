import pytest
from django.test import Client

from storefront.shops.models import Shop
from tests.checkout.shopper import Shopper
from tests.shops.factories import make_shop


@pytest.fixture
def shop(db) -> Shop:
    """A shop in English, German and Arabic, and a language in which the service has no texts."""
    return make_shop(further_languages=["de", "ar", "pt"])


@pytest.fixture
def other_shop(db) -> Shop:
    """A second shop, in other languages."""
    return make_shop("other.example.com", name="Elsewhere", language="fr", further_languages=["es"])


@pytest.fixture
def visitor(shop) -> Client:
    return Client(headers={"host": shop.domain})


@pytest.fixture
def page(visitor):
    """`page("/de/products")` is the text of that page. Checks its status."""

    def read(path: str, status: int = 200, **headers: str) -> str:
        answer = visitor.get(path, headers=headers)
        assert answer.status_code == status, answer.content
        return answer.content.decode()

    return read


@pytest.fixture
def shopper(shop) -> Shopper:
    return Shopper(shop)
