"""Opening a shop, and what is wrong with one that cannot be opened."""

import pytest

from storefront.kit.refusals import InvalidFields
from storefront.shops.models import Shop
from tests.shops.factories import make_shop


def test_a_shop_is_opened_with_its_address_in_one_form(db):
    shop = make_shop("Shop.Example.COM", base_url="https://shop.example.com/", currency="sek")
    assert (shop.domain, shop.base_url, shop.currency) == ("shop.example.com", "https://shop.example.com", "SEK")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("domain", "https://shop.example.com"),
        ("domain", "shop.example.com:8000"),
        ("domain", ""),
        ("name", "  "),
        ("base_url", "shop.example.com"),
        ("base_url", "ftp://shop.example.com"),
        ("base_url", "https://me@shop.example.com"),
        ("currency", "EURO"),
        ("currency", "XQZ"),
        ("timezone", "Europe/Nowhere"),
        ("email", "nobody"),
    ],
)
def test_what_does_not_fit_is_named_and_nothing_is_made(db, field, value):
    given = {"domain": "new.example.com", "base_url": "https://new.example.com", field: value}
    with pytest.raises(InvalidFields) as refused:
        make_shop(**given)
    assert list(refused.value.errors) == [field]
    assert not Shop.objects.exists()


def test_a_domain_is_one_shops(shop):
    with pytest.raises(InvalidFields) as refused:
        make_shop("SHOP.example.com")
    assert list(refused.value.errors) == ["domain"]
