"""Who reads the catalogue, and what it never shows."""

from decimal import Decimal

import pytest

from storefront.catalogue.models import Product, Vendor
from storefront.customers.models import CustomerGroup
from storefront.pricing.models import GroupPrice
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_category, make_product, make_variant
from tests.client import ApiClient
from tests.shops.factories import make_token

PATHS = ["/products", "/products/mug", "/categories", "/categories/cups"]


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", categories=(make_category(shop, "Cups"),))


@pytest.mark.rule("R-CAT-5")
@pytest.mark.parametrize("path", PATHS)
def test_the_read_scope_for_products_is_read_products(shop, mug, path):
    assert ApiClient(make_token(shop, "read_products")).get(path).status_code == 200
    refused = ApiClient(make_token(shop, "read_cart", "write_products")).get(path)
    assert refused.status_code == 403
    assert refused.json()["required_scopes"] == ["read_products"]


@pytest.mark.rule("R-CALL-16")
@pytest.mark.parametrize("path", PATHS)
def test_the_credential_is_a_bearer_token(mug, stranger, path):
    assert stranger.get(path).status_code == 401


@pytest.mark.rule("R-CALL-17")
@pytest.mark.parametrize("path", PATHS)
def test_the_token_belongs_to_the_shop(mug, other_api, other_shop, path):
    answer = other_api.get(path)
    assert answer.status_code == (404 if path.count("/") == 2 else 200)
    assert b"Mug" not in answer.content
    assert b"Cups" not in answer.content


@pytest.mark.rule("R-CAT-6")
def test_the_public_product_endpoints_do_not_expose_supplier_information_or_suppliers_cost_prices(api, shop, mug):
    Product.objects.filter(pk=mug.pk).update(vendor=Vendor.objects.create(shop=shop, name="Secret Supplies"))
    make_variant(mug, cost_price=Decimal("34567.89"))
    for path in PATHS:
        content = api.get(path).content
        assert b"Secret" not in content
        assert b"34567.89" not in content


@pytest.mark.rule("R-CAT-6")
def test_nothing_restricted_to_a_customer_group_is_exposed(api, shop, mug):
    before = {path: api.get(path).content for path in PATHS}
    group = CustomerGroup.objects.create(shop=shop, name="Wholesale")
    GroupPrice.objects.create(shop=shop, group=group, product=mug, price=Decimal("1.23"))
    assert {path: api.get(path).content for path in PATHS} == before


@pytest.mark.rule("R-CAT-7")
def test_reading_the_catalogue_emits_no_events(api, mug):
    for path in PATHS:
        assert api.get(path).status_code == 200
    assert not Event.objects.exists()
