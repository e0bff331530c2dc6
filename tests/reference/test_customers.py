"""Customers in the App API, their public form, and their topics."""

import pytest

from storefront.webhooks.models import Event
from tests.client import ApiClient
from tests.customers.factories import add_address, make_customer
from tests.factories.apps import install
from tests.shops.factories import make_token

PAGINATION = ["current_page", "last_page", "per_page", "total", "next_page_url", "prev_page_url"]
BOTH = ("read_customers", "write_customers")


@pytest.fixture
def app(shop) -> ApiClient:
    return install(shop, *BOTH).api


@pytest.fixture(params=["API token", "installation token"])
def public(request, shop) -> ApiClient:
    token = make_token(shop, *BOTH) if request.param == "API token" else install(shop, *BOTH).token
    return ApiClient(token)


@pytest.mark.rule("R-APP-30")
def test_they_list_under_their_own_name_with_pagination(shop, app):
    make_customer(shop)
    body = app.get("/customers").json()
    assert list(body) == ["customers", "pagination"]
    assert list(body["pagination"]) == PAGINATION
    assert [row["email"] for row in body["customers"]] == ["ada@example.com"]


@pytest.mark.rule("R-APP-30")
def test_the_public_form_is_the_paginated_envelope_and_data(shop, public):
    ada = make_customer(shop)
    envelope = public.get("/customers").json()
    products = public_products_envelope(shop)
    assert list(envelope) == products
    assert list(public.get(f"/customers/{ada.pk}").json()) == ["data"]


def public_products_envelope(shop) -> list[str]:
    return list(ApiClient(make_token(shop)).get("/products").json())


@pytest.mark.rule("R-APP-30")
def test_both_forms_are_the_same_resource(shop, app, public):
    ada = make_customer(shop)
    add_address(ada)
    assert app.get("/customers").json()["customers"] == public.get("/customers").json()["data"]
    path = f"/customers/{ada.pk}"
    assert app.get(path).json()["customer"] == public.get(path).json()["data"]


@pytest.mark.rule("R-APP-34")
def test_writes_are_post_and_patch(shop, app, public):
    for number, api in enumerate((app, public)):
        made = api.post("/customers", {"email": f"{number}@example.com"})
        assert made.status_code == 201
        (record,) = made.json().values()
        changed = api.patch(f"/customers/{record['id']}", {"name": "Ada"})
        assert changed.status_code == 200
        assert next(iter(changed.json().values()))["name"] == "Ada"
        for refused in (api.delete(f"/customers/{record['id']}"), api.call("put", f"/customers/{record['id']}", {})):
            assert refused.status_code == 405


@pytest.mark.rule("R-HOOK-6")
def test_an_event_is_written_in_the_same_transaction_as_what_it_tells_of(shop, app):
    made = app.post("/customers", {"email": "ada@example.com"}).json()["customer"]
    app.post("/customers", {"email": "ada@example.com"})
    changed = app.patch(f"/customers/{made['id']}", {"name": "Ada"}).json()["customer"]
    told = Event.objects.filter(shop=shop).order_by("created_at").values_list("topic", "data")
    assert list(told) == [("customer.created", made), ("customer.updated", changed)]
