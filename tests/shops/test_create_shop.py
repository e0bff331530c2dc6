"""Opening a shop, and what is wrong with one that cannot be opened."""

import pytest

from storefront.kit.refusals import InvalidFields
from storefront.shops.models import Shop
from tests.shops.factories import make_shop


def test_domain_and_base_url_are_stored_in_normal_form(db):
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
        ("base_url", "http://["),
        ("base_url", "https://me@shop.example.com"),
        ("currency", "EURO"),
        ("currency", "XQZ"),
        ("timezone", "Europe/Nowhere"),
        ("email", "nobody"),
    ],
)
def test_invalid_fields_are_named_and_nothing_is_created(db, field, value):
    given = {"domain": "new.example.com", "base_url": "https://new.example.com", field: value}
    with pytest.raises(InvalidFields) as refused:
        make_shop(**given)
    assert list(refused.value.errors) == [field]
    assert not Shop.objects.exists()


def test_refuses_a_domain_that_another_shop_has(shop):
    with pytest.raises(InvalidFields) as refused:
        make_shop("SHOP.example.com")
    assert list(refused.value.errors) == ["domain"]
