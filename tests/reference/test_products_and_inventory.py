"""Products and inventory in the App API, their public form, and their topics."""

import pytest

from storefront.catalogue.stock import StockUse, take_stock
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_product, make_variant
from tests.client import ApiClient
from tests.factories.apps import install
from tests.shops.factories import NOW, make_token

PAGINATION = ["current_page", "last_page", "per_page", "total", "next_page_url", "prev_page_url"]
SCOPES = ("read_products", "write_products", "read_inventory", "write_inventory")


@pytest.fixture
def app(shop) -> ApiClient:
    return install(shop, *SCOPES).api


@pytest.fixture(params=["API token", "installation token"])
def public(request, shop) -> ApiClient:
    return ApiClient(make_token(shop, *SCOPES) if request.param == "API token" else install(shop, *SCOPES).token)


@pytest.mark.rule("R-APP-30")
@pytest.mark.parametrize("name", ["products", "inventory"])
def test_they_list_under_their_own_name_with_pagination(shop, app, name):
    make_product(shop)
    body = app.get(f"/{name}").json()
    assert list(body) == [name, "pagination"]
    assert list(body["pagination"]) == PAGINATION
    assert len(body[name]) == body["pagination"]["total"] == 1


@pytest.mark.rule("R-APP-30")
def test_they_answer_one_under_the_singular(shop, app):
    mug = make_product(shop)
    assert list(app.get(f"/products/{mug.pk}").json()) == ["product"]
    adjusted = app.post("/inventory/adjustments", {"product_id": mug.pk, "delta": 1, "reason": "Found"})
    assert list(adjusted.json()) == ["inventory_item"]


@pytest.mark.rule("R-APP-30")
def test_the_public_form_of_inventory_is_the_paginated_envelope_and_data(shop, public, app):
    mug = make_product(shop)
    envelope = public.get("/inventory").json()
    assert list(envelope) == list(public.get("/products").json())
    assert envelope["data"] == app.get("/inventory").json()["inventory"]
    adjusted = public.post("/inventory/adjustments", {"product_id": mug.pk, "set": 1, "reason": "Counted"})
    assert adjusted.status_code == 201
    assert adjusted.json() == {"data": app.get("/inventory").json()["inventory"][0]}


@pytest.mark.rule("R-CAT-1")
def test_catalogue_writes_exist_only_under_api_apps_products(shop, public, app):
    mug = make_product(shop)
    for method, path in (("post", "/products"), ("patch", f"/products/{mug.pk}"), ("delete", f"/products/{mug.pk}")):
        body = None if method == "delete" else {"name": "Cup"}
        assert public.call(method, path, body).status_code == 405
        assert app.call(method, path, body).status_code == (201 if method == "post" else 200)
    for path in ("/categories", f"/categories/{mug.pk}"):
        for method in ("post", "patch", "delete"):
            assert public.call(method, path, None if method == "delete" else {}).status_code == 405
            assert app.call(method, path, None if method == "delete" else {}).status_code == 404


@pytest.mark.rule("R-APP-31")
def test_products_are_listed_in_any_status_by_status_q_and_updated_since_and_read_one_by_one(shop, app):
    draft = make_product(shop, "Blue mug", status="draft")
    make_product(shop, "Red jug")
    for query in ("status=draft", "q=mug"):
        assert [product["id"] for product in app.get(f"/products?{query}").json()["products"]] == [draft.pk]
    assert len(app.get("/products?updated_since=2026-11-21T07:30:00Z").json()["products"]) == 2
    assert app.get("/products?updated_since=2026-11-21T07:30:01Z").json()["products"] == []
    assert app.get(f"/products/{draft.pk}").json()["product"]["status"] == "draft"


@pytest.mark.rule("R-APP-31")
def test_products_are_posted_patched_and_softly_deleted(shop, app):
    made = app.post("/products", {"name": "Mug"})
    assert made.status_code == 201
    path = f"/products/{made.json()['product']['id']}"
    changed = app.patch(path, {"price": "9.50"})
    assert (changed.status_code, changed.json()["product"]["price"]) == (200, "9.50")
    deleted = app.delete(path)
    assert (deleted.status_code, list(deleted.json())) == (200, ["message"])
    assert app.get(path).status_code == 404
    assert shop.products.filter(pk=made.json()["product"]["id"]).exclude(deleted_at=None).exists()


@pytest.mark.rule("R-APP-35")
def test_inventory_lists_by_product_or_variant_and_sku(shop, app):
    mug, blue = make_product(shop, sku="M"), make_variant(make_product(shop), sku="B")
    assert len(app.get("/inventory").json()["inventory"]) == 2
    for query, row in ((f"product_id={mug.pk}", "M"), (f"variant_id={blue.pk}", "B"), ("sku=B", "B")):
        assert [item["sku"] for item in app.get(f"/inventory?{query}").json()["inventory"]] == [row]


@pytest.mark.rule("R-APP-35")
def test_adjustments_take_delta_or_set_and_a_reason(shop, app):
    mug = make_product(shop, stock_qty=10)
    for change, stock in (({"delta": -1}, 9), ({"set": 4}, 4)):
        answer = app.post("/inventory/adjustments", {"product_id": mug.pk, "reason": "Counted", **change})
        assert (answer.status_code, answer.json()["inventory_item"]["stock_qty"]) == (201, stock)


@pytest.mark.rule("R-CALL-2")
@pytest.mark.parametrize("field", ["price", "compare_price", "cost_price", "setup_fee", "damaged_price"])
def test_a_json_number_is_refused_where_money_is_expected(app, field):
    answer = app.post("/products", {"name": "Mug", field: 9.5})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])


@pytest.mark.rule("R-HOOK-1")
def test_every_topic_of_products_and_inventory_is_told(shop, app):
    made = app.post("/products", {"name": "Mug", "stock_qty": 1}).json()["product"]
    path = f"/products/{made['id']}"
    app.patch(path, {"price": "9.50"})
    take_stock(shop=shop, uses=[StockUse("product", made["id"], 1)], now=NOW)
    app.delete(path)
    told = Event.objects.filter(shop=shop).order_by("pk").values_list("topic", flat=True)
    assert list(told) == [
        "product.created",
        "inventory.updated",
        "product.updated",
        "inventory.updated",
        "product.deleted",
    ]


@pytest.mark.rule("R-HOOK-9")
def test_what_an_event_tells_of_has_an_id_for_those_without_the_scope(shop, app):
    app.post("/products", {"name": "Mug", "stock_qty": 1})
    for event in Event.objects.filter(shop=shop):
        assert next(iter(event.data)) == "id"
        assert event.data["id"]
