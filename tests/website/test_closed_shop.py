"""Pages of an inactive shop at its domain."""

import pytest

from tests.answers import words_of
from tests.catalogue.factories import make_product
from tests.shops.factories import make_shop

PATHS = ("/", "/products", "/products/mug", "/basket", "/account/sign-in", "/checkout")


@pytest.fixture
def closed(shop, other_shop):
    make_product(shop, "Mug")
    # If there is only one active shop, every unknown host belongs to it.
    make_shop("third.example.com", name="Third")
    shop.is_active = False
    shop.save()
    return shop


def test_refuses_every_page_of_a_closed_shop(closed, visitor):
    for path in PATHS:
        answer = visitor.get(path)
        assert answer.status_code == 410, path
        assert not words_of(answer.content.decode()) & {"Mug", "Elsewhere", "Third"}


def test_an_unknown_host_does_not_serve_a_closed_shop(shop, client):
    make_product(shop, "Mug")
    assert client.get("/products/mug", headers={"host": "elsewhere.example.com"}).status_code == 200
    shop.is_active = False
    shop.save()
    assert client.get("/products/mug", headers={"host": "elsewhere.example.com"}).status_code == 404
