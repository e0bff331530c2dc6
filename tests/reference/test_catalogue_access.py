"""Who reads the catalogue, what it never shows, and that it is read only."""

from decimal import Decimal

import pytest

from storefront.catalogue.models import Product, Vendor
from storefront.customers.models import CustomerGroup
from storefront.pricing.models import GroupPrice
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_category, make_product, make_variant

PATHS = ["/products", "/products/mug", "/categories", "/categories/cups"]


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", categories=(make_category(shop, "Cups"),))


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


@pytest.mark.rule("R-CAT-1")
@pytest.mark.parametrize("path", ["/products", "/products/mug", "/categories", "/categories/cups"])
@pytest.mark.parametrize("method", ["post", "patch", "delete", "put"])
def test_they_are_read_only_there(api, shop, path, method):
    make_product(shop, "Mug", categories=(make_category(shop, "Cups"),))
    answer = api.call(method, path, {"name": "Changed"})
    assert answer.status_code == 405
    assert set(answer["Allow"].replace(" ", "").split(",")) >= {"GET"}
    assert api.get("/products/mug").json()["data"]["name"] == "Mug"


@pytest.mark.rule("R-CALL-1")
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("get", "/products", 200),
        ("get", "/products/mug", 200),
        ("get", "/categories", 200),
        ("get", "/categories/cups", 200),
        ("get", "/cart", 200),
        ("post", "/cart", 422),
        ("patch", "/cart/p1", 422),
        ("delete", "/cart/p1", 404),
        ("delete", "/cart", 200),
        ("post", "/cart/checkout", 422),
    ],
)
def test_all_endpoints_accept_accept_application_json(api, shop, method, path, status):
    make_product(shop, "Mug", categories=(make_category(shop, "Cups"),))
    answer = api.call(method, path, {} if method in ("post", "patch") else None, Accept="application/json")
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/json")
