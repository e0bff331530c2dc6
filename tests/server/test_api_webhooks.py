"""What the description says of events is what apps receive, for every topic."""

from datetime import timedelta

import pytest
from jsonschema_rs import Draft202012Validator

from storefront.apps.actions import uninstall_app
from storefront.checkout.jobs import pay_back_refunds, report_abandoned_checkouts
from storefront.kit import clock
from storefront.orders.actions import mark_paid
from storefront.orders.models import Payment
from storefront.orders.refunds import request_refund
from storefront.shops.scopes import SCOPES
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.topics import TOPICS
from tests.addresses import ADDRESS
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.checkout.shopper import Shopper, fill_cart
from tests.client import ApiClient
from tests.factories.apps import install
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import make_token


@pytest.fixture
def document(stranger) -> dict:
    stranger.prefix = "/api"
    return stranger.get("/openapi.json").json()


def happen(shop, api: ApiClient) -> None:
    """One event of each topic at least, with records that have everything."""
    ada = api.post("/customers", {"email": "ada@example.com", "addresses": [ADDRESS]}).json()["customer"]
    assert api.patch(f"/customers/{ada['id']}", {"name": "Ada"}).status_code == 200
    cup = make_product(shop, categories=(make_category(shop),), attributes=[{"name": "Colour", "values": ["Blue"]}])
    make_variant(cup, image=make_media(cup))
    make_option(cup)
    assert api.patch(f"/products/{cup.pk}", {"price": "3.00"}).status_code == 200
    gone = api.post("/products", {"name": "Gone"}).json()["product"]["id"]
    assert api.delete(f"/products/{gone}").status_code == 200
    mug = make_product(shop, "Mug", stock_qty=5)
    change = {"product_id": mug.pk, "delta": 1, "reason": "Found"}
    assert api.post("/inventory/adjustments", change).status_code == 201
    sold, other = (make_order(shop, sale_line(mug)) for _ in range(2))
    mark_paid(shop=shop, order=sold, now=clock.now())
    assert api.post(f"/orders/{sold.pk}/fulfilments", {}).status_code == 201
    assert api.post(f"/orders/{sold.pk}/refunds", {}).status_code == 201
    pay_back_refunds(now=clock.now(), limit=1)
    assert api.post(f"/orders/{other.pk}/cancellation", {}).status_code == 201
    assert api.patch(f"/orders/{sold.pk}", {"note": "x", "metadata": {"a": "b"}}).status_code == 200
    fail_a_refund(shop, make_order(shop, sale_line(mug)))
    leave_a_checkout(shop, mug)
    uninstall_app(shop=shop, installation=install(shop).installation, now=clock.now())


def fail_a_refund(shop, order) -> None:
    paid = mark_paid(shop=shop, order=order, now=clock.now())
    Payment.objects.filter(order=paid).update(gateway="gone")
    request_refund(shop=shop, order=paid, now=clock.now())
    pay_back_refunds(now=clock.now(), limit=1)


def leave_a_checkout(shop, product) -> None:
    shopper, integration = Shopper(shop), ApiClient(make_token(shop))
    cart = fill_cart(integration, {"product_id": product.pk})
    given = {"client_reference": "s-1", "metadata": {"a": "b"}}
    shopper.arrive(integration.post("/cart/checkout", given, cart=cart).json()["checkout_url"])
    shopper.fill_details()
    report_abandoned_checkouts(now=clock.now() + timedelta(hours=2), limit=1)


def test_every_event_is_as_described(shop, document):
    reader, blind = install(shop, *SCOPES), install(shop)
    happen(shop, reader.api)
    dispatch(clock.now())
    for app in (reader, blind):
        events = app.api.get("/events?limit=100").json()["events"]
        assert {event["type"] for event in events} == set(TOPICS)
        for event in events:
            message = document["webhooks"][event["type"]]["post"]["requestBody"]["content"]["application/json"]
            Draft202012Validator(document | message["schema"]).validate(event)
            assert app is reader or event["data"].keys() == {"id"} or TOPICS[event["type"]] is None


def test_the_installation_is_as_described(shop, document):
    from storefront.webhooks.models import Delivery

    app = install(shop, "read_shop")
    message = document["webhooks"]["app.installed"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    sent = Delivery.objects.get(installation=app.installation)
    assert set(document["components"]["schemas"]["Installed"]["required"]) == {
        "shop_domain",
        "access_token",
        "installation_id",
        "scopes",
        "webhook_secret",
    }
    assert (sent.topic, message["$ref"]) == ("app.installed", "#/components/schemas/Installed")
