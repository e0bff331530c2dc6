"""What the description says of events, messages and calls for blocks is what apps receive."""

import json
from datetime import timedelta
from uuid import uuid4

import pytest
from aiohttp import web
from jsonschema_rs import Draft202012Validator

from storefront.apps.actions import change_scopes, rotate_token, uninstall_app
from storefront.checkout.jobs import report_abandoned_checkouts
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.payments.actions import mark_paid
from storefront.payments.jobs import pay_back_refunds
from storefront.payments.models import Payment
from storefront.payments.refunds import request_refund
from storefront.privacy.actions import erase_now
from storefront.server.api.webhooks import data_schema
from storefront.shops.scopes import SCOPES
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.messages import SecretCache, message_of
from storefront.webhooks.models import Delivery
from storefront.webhooks.samples import sample_event
from storefront.webhooks.topics import TOPICS
from tests.addresses import ADDRESS
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.checkout.shopper import Shopper, fill_cart
from tests.client import ApiClient
from tests.factories.apps import install
from tests.orders.factories import make_order, sale_line
from tests.receiver import receiving
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
    erase_now(shop=shop, email="ada@example.org", now=clock.now())
    gone = install(shop).installation
    change_scopes(shop=shop, installation=gone, scopes=["read_shop"], now=clock.now())
    uninstall_app(shop=shop, installation=gone, now=clock.now())


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


def message_schema(document: dict, topic: str) -> dict:
    """The schema of the message, with the components that it refers to."""
    message = document["webhooks"][topic]["post"]["requestBody"]["content"]["application/json"]
    return document | message["schema"]


@pytest.mark.slow
def test_every_event_is_as_described(shop, document):
    reader, blind = install(shop, *SCOPES), install(shop)
    happen(shop, reader.api)
    dispatch(clock.now())
    for app in (reader, blind):
        events = app.api.get("/events?limit=100").json()["events"]
        assert {event["type"] for event in events} == set(TOPICS)
        for event in events:
            Draft202012Validator(message_schema(document, event["type"])).validate(event)
            assert app is reader or event["data"].keys() == {"id"} or TOPICS[event["type"]] is None


@pytest.mark.rule("R-APP-3", "R-APP-39")
def test_the_messages_with_a_token_are_as_described(shop, document):
    app = install(shop, "read_shop")
    rotate_token(shop=shop, installation=app.installation, now=clock.now())
    for row in Delivery.objects.filter(installation=app.installation):
        message = json.loads(message_of(row, SecretCache(clock.now())).body)
        schema = message_schema(document, row.topic)
        Draft202012Validator(schema).validate(message)
        described = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        assert set(described["required"]) == set(described["properties"]) == set(message)
        assert message["type"] == row.topic
    assert {"app.installed", "app.token_replaced"} | set(TOPICS) == set(document["webhooks"])


@pytest.mark.rule("R-HOOK-28")
@pytest.mark.parametrize("topic", TOPICS)
def test_samples_are_as_described_and_have_everything(shop, document, topic):
    sample = sample_event(shop, topic, id=uuid4(), scopes=list(SCOPES), now=clock.now())
    Draft202012Validator(message_schema(document, topic)).validate(json.loads(json.dumps(sample)))
    assert (sample["type"], sample["test"], sample["sequence"]) == (topic, True, 0)
    names = {field.alias or name for name, field in data_schema(topic).model_fields.items()}
    assert set(sample["data"]) == names
    assert sample["data"]["id"] in (0, "Sample")


@pytest.mark.rule("R-APP-19")
@pytest.mark.django_db(transaction=True)
def test_calls_for_blocks_are_as_described(shop, document, api):
    async def render(_: web.Request) -> web.Response:
        return web.json_response(block)

    registering = document["paths"]["/api/apps/extensions"]["post"]
    call = registering["callbacks"]["block"]["{$request.body#/callback_url}"]["post"]
    block = {"html": "<p>Gift wrap?</p>"}
    answer = call["responses"]["2XX"]["content"]["application/json"]["schema"]
    Draft202012Validator(document | answer).validate(block)
    shopper, app, mug = Shopper(shop), install(shop, "write_extensions"), make_product(shop, "Mug", stock_qty=5)
    shopper.bring(api, {"product_id": mug.pk, "qty": 2})
    with receiving(render) as receiver:
        for type in ("checkout_block", "product_block", "confirmation_block"):
            app.api.post("/extensions", {"type": type, "callback_url": receiver.url})
        assert b"Gift wrap?" in shopper.get("/checkout/blocks").content
        shopper.get(f"/products/{mug.slug}/blocks")
        shopper.order()
        shopper.get(f"/orders/{Order.objects.get().public_id}/blocks")
        calls = [json.loads(receiver.next().body) for _ in range(3)]
    assert [each["type"] for each in calls] == ["checkout_block", "product_block", "confirmation_block"]
    schema = call["requestBody"]["content"]["application/json"]["schema"]
    described = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for each in calls:
        Draft202012Validator(document | schema).validate(each)
        assert set(each) == set(described["properties"]) == set(described["required"])
