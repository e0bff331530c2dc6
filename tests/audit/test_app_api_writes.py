"""Every write of the API by an app or a token is one entry, which names who, where from, and what changed."""

from functools import cache

import pytest

from storefront.kit import clock
from storefront.orders.fulfilling import fulfil_order
from storefront.payments import actions as payments
from storefront.server.api.api import api as whole_api
from storefront.shops.models import ApiToken
from storefront.shops.scopes import SCOPES
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Delivery
from tests.audit.entries import entries, one_entry
from tests.catalogue.factories import make_product, make_variant
from tests.client import ApiClient
from tests.customers.factories import make_customer
from tests.factories.apps import install
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW, make_token
from tests.webhooks.factories import emit, register

HOOK = {"topic": "order.placed", "address": "https://app.example.com/hook"}
BLOCK = {"type": "checkout_block", "callback_url": "https://app.example.com/block"}
SCRIPT = {"src": "https://app.example.com/a.js", "location": "head"}


def mug(shop):
    return make_product(shop, "Mug", stock_qty=10)


def order(shop):
    return make_order(shop, sale_line(mug(shop), 2))


def paid(shop):
    return payments.mark_paid(shop=shop, order=order(shop), now=NOW)


def registered(shop, app):
    return register(app, HOOK["address"])


def delivery(shop, app):
    registered(shop, app)
    emit(shop)
    dispatch(clock.now())
    Delivery.objects.filter(kind="event").update(status="dead", ended_at=clock.now())
    return Delivery.objects.get(kind="event")


def made(path, body, kind):
    return lambda shop, app: app.api.post(path, body).json()[kind]["id"]


# A fulfilment, by its order and its own id.
SENT = "{order_id}/fulfilments/{fulfilment_id}"


def sent(shop) -> str:
    row = order(shop)
    return f"{row.pk}/fulfilments/{fulfil_order(shop=shop, order=row, now=clock.now()).pk}"


# By route: preparation, the call's body, and the expected entry: action, type, before, after (None: anything).
CASES = {
    ("POST", "/products"): (
        None,
        {"name": "Cup", "price": "3.00"},
        "product.created",
        "product",
        None,
        {"name": "Cup"},
    ),
    ("PATCH", "/products/{product_id}"): (
        lambda shop, app: mug(shop).pk,
        {"price": "8.00"},
        "product.updated",
        "product",
        {"price": "9.50"},
        {"price": "8.00"},
    ),
    ("DELETE", "/products/{product_id}"): (
        lambda shop, app: mug(shop).pk,
        None,
        "product.deleted",
        "product",
        {"name": "Mug"},
        None,
    ),
    ("POST", "/inventory/adjustments"): (
        lambda shop, app: mug(shop).pk,
        lambda pk: {"product_id": pk, "delta": -2, "reason": "Broken"},
        "stock.adjusted",
        "product",
        {"stock_qty": 10},
        {"stock_qty": 8, "reason": "Broken"},
    ),
    ("PATCH", "/orders/{order_id}"): (
        lambda shop, app: order(shop).pk,
        {"note": "Call first"},
        "order.updated",
        "order",
        {"note": ""},
        {"note": "Call first"},
    ),
    ("POST", "/orders/{order_id}/fulfilments"): (
        lambda shop, app: order(shop).pk,
        {"tracking_number": "T1"},
        "order.fulfilled",
        "order",
        {"status": "open"},
        {"status": "fulfilled", "tracking_number": "T1"},
    ),
    ("POST", f"/orders/{SENT}/cancellation"): (
        lambda shop, app: sent(shop),
        {},
        "order.fulfilment_cancelled",
        "order",
        {"status": "fulfilled", "fulfilment_status": "fulfilled"},
        {"status": "open", "fulfilment_status": "unfulfilled"},
    ),
    ("POST", "/orders/{order_id}/cancellation"): (
        lambda shop, app: order(shop).pk,
        {"reason": "Changed her mind"},
        "order.cancelled",
        "order",
        {"status": "open"},
        {"status": "cancelled", "reason": "Changed her mind", "restocked": True},
    ),
    ("POST", "/orders/{order_id}/refunds"): (
        lambda shop, app: paid(shop).pk,
        {"amount": "5.00"},
        "order.refunded",
        "order",
        {"refunded": "0.00"},
        {"amount": "5.00", "currency": "EUR"},
    ),
    ("POST", "/customers"): (
        None,
        {"email": "Ada@example.com", "name": "Ada"},
        "customer.created",
        "customer",
        None,
        {"email": "ada@example.com", "name": "Ada"},
    ),
    ("PATCH", "/customers/{customer_id}"): (
        lambda shop, app: make_customer(shop, password="", name="Ada").pk,
        {"name": "Ada King"},
        "customer.updated",
        "customer",
        {"name": "Ada"},
        {"name": "Ada King"},
    ),
    ("POST", "/webhooks"): (None, HOOK, "webhook.registered", "webhook", None, {"address": HOOK["address"]}),
    ("PATCH", "/webhooks/{topic}"): (
        lambda shop, app: registered(shop, app).pk,
        {"address": "https://app.example.com/other"},
        "webhook.updated",
        "webhook",
        {"address": HOOK["address"]},
        {"address": "https://app.example.com/other"},
    ),
    ("POST", "/webhooks/{topic}/test"): (
        lambda shop, app: registered(shop, app) and "order.placed",
        None,
        "webhook.tested",
        "webhook",
        None,
        {"topic": "order.placed"},
    ),
    ("DELETE", "/webhooks/{topic}"): (
        lambda shop, app: registered(shop, app) and "order.placed",
        None,
        "webhook.deleted",
        "webhook",
        {"address": HOOK["address"]},
        None,
    ),
    ("POST", "/webhooks/deliveries/{id}/replay"): (
        lambda shop, app: delivery(shop, app).pk,
        None,
        "webhook.replayed",
        "webhook",
        None,
        {"deliveries": 1},
    ),
    ("POST", "/webhooks/replay"): (
        lambda shop, app: delivery(shop, app).pk,
        lambda _: {"topic": "order.placed"},
        "webhook.replayed",
        "app",
        None,
        {"topics": ["order.placed"]},
    ),
    ("POST", "/script-tags"): (None, SCRIPT, "script_tag.registered", "script_tag", None, SCRIPT),
    ("DELETE", "/script-tags/{id}"): (
        made("/script-tags", SCRIPT, "script_tag"),
        None,
        "script_tag.deleted",
        "script_tag",
        SCRIPT,
        None,
    ),
    ("POST", "/extensions"): (None, BLOCK, "extension.registered", "extension", None, BLOCK),
    ("PATCH", "/extensions/{id}"): (
        made("/extensions", BLOCK, "extension"),
        {"timeout_ms": 900},
        "extension.updated",
        "extension",
        {"timeout_ms": 5000},
        {"timeout_ms": 900},
    ),
    ("DELETE", "/extensions/{id}"): (
        made("/extensions", BLOCK, "extension"),
        None,
        "extension.deleted",
        "extension",
        BLOCK,
        None,
    ),
}
# Of the public API, carts are not recorded, and the rest is the App API's own.
CARTS = "/cart"
APPS_ALONE = ("/products", "/webhooks", "/script-tags", "/extensions")
BY_TOKENS = [route for route in CASES if not route[1].startswith(APPS_ALONE)]


@cache
def routes(prefix: str) -> set[tuple[str, str]]:
    """The writes that the API has under a prefix."""
    return {
        (method.upper(), path.removeprefix(f"/api{prefix}"))
        for path, operations in whole_api.get_openapi_schema()["paths"].items()
        if path.startswith(f"/api{prefix}/")
        for method in operations
        if method in ("post", "put", "patch", "delete")
    }


def call(api, method, route, before, body):
    path = route
    for name in (SENT, "{product_id}", "{order_id}", "{customer_id}", "{topic}", "{id}"):
        path = path.replace(name, str(before))
    return api.call(method.lower(), path, body(before) if callable(body) else body)


def status_of(method, route) -> int:
    """The status of a write that is carried out."""
    return 201 if method == "POST" and not route.endswith("/replay") else 200


def holds(values, expected) -> bool:
    return expected is None or (values is not None and expected.items() <= values.items())


@pytest.mark.slow
def test_every_write_of_the_app_api_is_tested_here():
    assert routes("/apps") == set(CASES)


@pytest.mark.parametrize("route", CASES, ids=lambda route: " ".join(route))
def test_a_write_by_an_app_makes_one_entry(shop, other_shop, route):
    app = install(shop, *SCOPES)
    prepare, body, action, kind, before, after = CASES[route]
    existing = prepare and prepare(shop, app)
    with one_entry(shop) as found:
        answer = call(app.api, *route, existing, body)
        assert answer.status_code == status_of(*route), answer.content
    (entry,) = found
    assert (entry.action, entry.object_type) == (action, kind)
    assert entry.object_id
    assert (entry.actor_kind, entry.actor_id) == ("app", app.installation.pk)
    assert entry.actor_name == str(app.installation)
    assert entry.place == "127.0.0.1"
    assert entry.request_id == answer["X-Request-Id"]
    assert holds(entry.before, before), entry.before
    assert holds(entry.after, after), entry.after


@pytest.mark.parametrize("route", BY_TOKENS, ids=lambda route: " ".join(route))
def test_a_write_by_a_token_makes_one_entry(shop, other_shop, route):
    app, api = install(shop, *SCOPES), ApiClient(make_token(shop))
    prepare, body, action, *_ = CASES[route]
    existing = prepare and prepare(shop, app)
    with one_entry(shop) as found:
        assert call(api, *route, existing, body).status_code == status_of(*route)
    token = ApiToken.objects.get(shop=shop, installation_id=None)
    assert (found[0].action, found[0].actor_kind, found[0].actor_id) == (action, "token", token.pk)
    assert found[0].actor_name == "test"


@pytest.mark.slow
def test_every_write_of_the_public_api_except_of_carts_and_exports_is_tested_here():
    """The entry of an export is tested by tests/exports."""
    others = {route for route in routes("/v1") if not route[1].startswith(CARTS)} - {("POST", "/exports")}
    assert others <= set(BY_TOKENS)


def test_cart_calls_are_not_recorded(shop, api):
    product = mug(shop)
    before = len(entries(shop))
    token = api.post("/cart", {"product_id": product.pk, "qty": 1}).json()["cart_token"]
    api.patch(f"/cart/p{product.pk}", {"qty": 2}, cart=token)
    api.post("/cart/checkout", cart=token)
    api.get("/products")
    assert len(entries(shop)) == before


def test_a_write_that_changes_nothing_is_not_recorded(shop):
    app, product = install(shop, *SCOPES), mug(shop)
    app.api.post("/script-tags", SCRIPT)
    app.api.post("/webhooks", HOOK)
    before = len(entries(shop))
    assert app.api.patch(f"/products/{product.pk}", {"price": "9.50"}).status_code == 200
    assert app.api.post("/script-tags", SCRIPT).status_code == 200
    assert app.api.post("/webhooks", HOOK).status_code == 200
    assert len(entries(shop)) == before


def test_a_refused_write_is_not_recorded(shop):
    app, product = install(shop, *SCOPES), mug(shop)
    before = len(entries(shop))
    assert app.api.patch(f"/products/{product.pk}", {"price": "-1"}).status_code == 422
    assert app.api.post("/orders/1/cancellation", {}).status_code == 404
    assert app.api.post("/extensions", BLOCK | {"callback_url": "ftp://app.example.com"}).status_code == 422
    assert len(entries(shop)) == before


def test_a_replay_is_not_recorded(shop):
    api = install(shop, *SCOPES).api
    with one_entry(shop):
        for _ in range(3):
            assert api.post("/products", {"name": "Cup"}, Idempotency_Key="k1").status_code == 201


def test_an_entry_has_only_the_rows_of_a_list_that_changed(shop):
    app = install(shop, *SCOPES)
    scarf = make_product(shop, "Scarf")
    blue, red = make_variant(scarf, "Blue", cost_price="4.00"), make_variant(scarf, "Red")
    body = {"variants": [{"id": blue.pk, "price": "13.00"}, {"id": red.pk, "sort_order": 0}, {"name": "Green"}]}
    with one_entry(shop) as found:
        assert app.api.patch(f"/products/{scarf.pk}", body).status_code == 200
    green = scarf.variants.get(name="Green")
    before, after = found[0].before, found[0].after
    assert before == {"variants": [{"id": blue.pk, "price": "12.00"}]}
    assert after["variants"][0] == {"id": blue.pk, "price": "13.00"}
    assert [row["id"] for row in after["variants"]] == [blue.pk, green.pk]


def test_a_customers_entry_has_the_changed_addresses(shop):
    app = install(shop, *SCOPES)
    ada = make_customer(shop, password="", name="Ada")
    book = [{"name": "Ada", "line1": "Hafen 1", "city": "Kiel", "country": "DE", "postal_code": "24103"}]
    with one_entry(shop) as found:
        assert app.api.patch(f"/customers/{ada.pk}", {"addresses": book}).status_code == 200
    assert found[0].after["addresses"][0]["city"] == "Kiel"
