"""A caller who may write and not read gets the id of what it wrote, no more. Orders have the same in tests/orders."""

import pytest

from storefront.customers.models import Customer
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.factories.apps import install

pytestmark = pytest.mark.django_db


def writer(shop, resource: str, form: str = "/api/apps", *also: str) -> ApiClient:
    return ApiClient(install(shop, f"write_{resource}", *also).token, prefix=form)


def only_member(answer) -> object:
    assert answer.status_code == (201 if answer.request["REQUEST_METHOD"] == "POST" else 200), answer.content
    (value,) = answer.json().values()
    return value


@pytest.mark.rule("R-CALL-20")
@pytest.mark.parametrize("form", ["/api/apps", "/api/v1"])
def test_of_customers(shop, form):
    api = writer(shop, "customers", form)
    made = only_member(api.post("/customers", {"email": "ada@example.com", "name": "Ada"}))
    ada = Customer.objects.get(shop=shop)
    assert made == only_member(api.patch(f"/customers/{ada.pk}", {})) == {"id": ada.pk}


@pytest.mark.rule("R-CALL-20")
def test_of_products(shop):
    mug = make_product(shop, "Mug", cost_price="2.00")
    api = writer(shop, "products")
    assert only_member(api.patch(f"/products/{mug.pk}", {})) == {"id": mug.pk}
    made = only_member(api.post("/products", {"name": "Cup"}))
    assert isinstance(made, dict)
    assert made.keys() == {"id"}


@pytest.mark.rule("R-CALL-20")
@pytest.mark.parametrize("form", ["/api/apps", "/api/v1"])
def test_of_inventory(shop, form):
    mug = make_product(shop, "Mug", stock_qty=10)
    given = {"product_id": mug.pk, "delta": 1, "reason": "Found"}
    assert only_member(writer(shop, "inventory", form).post("/inventory/adjustments", given)) == {"id": f"p{mug.pk}"}


@pytest.mark.rule("R-CALL-20")
def test_who_may_read_too_is_told_everything(shop):
    mug = make_product(shop, "Mug", stock_qty=10)
    api = writer(shop, "products", "/api/apps", "read_products")
    assert only_member(api.patch(f"/products/{mug.pk}", {}))["name"] == "Mug"
