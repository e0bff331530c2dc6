"""Orders in the App API, their public form, and their topics."""

from decimal import Decimal

import pytest

from storefront.kit import clock
from storefront.orders.models import Order
from storefront.payments import actions as payments
from storefront.payments.jobs import pay_back_refunds
from storefront.webhooks.models import Event
from tests.addresses import ADDRESS
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.factories.apps import install
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW, make_token

PAGINATION = ["current_page", "last_page", "per_page", "total", "next_page_url", "prev_page_url"]
BOTH = ("read_orders", "write_orders")


@pytest.fixture
def app(shop) -> ApiClient:
    return install(shop, *BOTH).api


@pytest.fixture(params=["API token", "installation token"])
def public(request, shop) -> ApiClient:
    token = make_token(shop, *BOTH) if request.param == "API token" else install(shop, *BOTH).token
    return ApiClient(token)


@pytest.fixture
def order(shop) -> Order:
    return make_order(shop, sale_line(make_product(shop, "Mug", price=Decimal("9.50"), stock_qty=10), 2))


@pytest.fixture
def paid(shop, order) -> Order:
    return payments.mark_paid(shop=shop, order=order, now=NOW)


@pytest.mark.rule("R-APP-30")
def test_they_list_under_their_own_name_with_pagination(app, order):
    body = app.get("/orders").json()
    assert list(body) == ["orders", "pagination"]
    assert list(body["pagination"]) == PAGINATION
    assert [row["id"] for row in body["orders"]] == [order.pk]


@pytest.mark.rule("R-APP-30")
def test_the_public_form_is_the_paginated_envelope_and_data(shop, public, order):
    products = ApiClient(make_token(shop)).get("/products").json()
    assert list(public.get("/orders").json()) == list(products)
    assert list(public.get(f"/orders/{order.pk}").json()) == ["data"]


@pytest.mark.rule("R-APP-30")
def test_both_forms_are_the_same_resource(app, public, order):
    assert app.get("/orders").json()["orders"] == public.get("/orders").json()["data"]
    path = f"/orders/{order.pk}"
    assert app.get(path).json()["order"] == public.get(path).json()["data"]


@pytest.mark.rule("R-APP-33")
def test_the_list_is_asked_by_status_and_by_placed_since(app, order):
    def found(query: str) -> int:
        return app.get(f"/orders?{query}").json()["pagination"]["total"]

    assert (found("status=open"), found("status=cancelled")) == (1, 0)
    assert (found("placed_since=2026-11-21T07:30:00Z"), found("placed_since=2026-11-21T07:30:01Z")) == (1, 0)


@pytest.mark.rule("R-APP-33")
def test_one_has_its_lines_addresses_and_payments(app, order):
    found = app.get(f"/orders/{order.pk}").json()["order"]
    assert [(line["name"], line["qty"], line["unit_price"]) for line in found["lines"]] == [("Mug", 2, "9.50")]
    assert found["shipping_address"] == found["billing_address"] == ADDRESS
    assert [(payment["gateway"], payment["amount"]) for payment in found["payments"]] == [("manual", "19.00")]


@pytest.mark.rule("R-APP-33")
def test_patch_writes_note_and_tags(app, order):
    answer = app.patch(f"/orders/{order.pk}", {"note": "Call first.", "tags": ["gift"]})
    assert answer.status_code == 200
    assert (answer.json()["order"]["note"], answer.json()["order"]["tags"]) == ("Call first.", ["gift"])


@pytest.mark.rule("R-APP-33")
def test_post_makes_fulfilments(app, order):
    answer = app.post(f"/orders/{order.pk}/fulfilments", {"carrier": "DHL"})
    assert (answer.status_code, list(answer.json())) == (201, ["fulfilment"])
    assert app.get(f"/orders/{order.pk}").json()["order"]["status"] == "fulfilled"


@pytest.mark.rule("R-APP-33")
def test_post_makes_a_cancellation(app, order):
    answer = app.post(f"/orders/{order.pk}/cancellation", {})
    assert (answer.status_code, answer.json()["order"]["status"]) == (201, "cancelled")


@pytest.mark.rule("R-APP-33")
def test_post_makes_refunds(app, paid):
    answer = app.post(f"/orders/{paid.pk}/refunds", {"amount": "4.00"})
    assert (answer.status_code, answer.json()["refund"]["amount"]) == (201, "4.00")


@pytest.mark.rule("R-CALL-2")
def test_a_json_number_is_no_money(app, paid):
    assert app.post(f"/orders/{paid.pk}/refunds", {"amount": 4}).status_code == 422


@pytest.mark.rule("R-CALL-19", "R-CALL-20")
@pytest.mark.parametrize(("scope", "other"), [("read_orders", "write_orders"), ("write_orders", "read_orders")])
def test_writing_does_not_imply_reading_nor_reading_writing(shop, order, scope, other):
    api = install(shop, scope).api
    answers = {
        "read_orders": [api.get("/orders"), api.get(f"/orders/{order.pk}")],
        "write_orders": [
            api.patch(f"/orders/{order.pk}", {}),
            *(api.post(f"/orders/{order.pk}/{verb}", {}) for verb in ("fulfilments", "cancellation", "refunds")),
        ],
    }
    assert [answer.status_code for answer in answers[other]] == [403] * len(answers[other])
    assert all(answer.json()["required_scopes"] == [other] for answer in answers[other])
    assert all(answer.status_code != 403 for answer in answers[scope])


@pytest.mark.rule("R-HOOK-9")
def test_every_topic_tells_the_whole_order_its_id_first(shop, app, order):
    path = f"/orders/{order.pk}"
    payments.mark_paid(shop=shop, order=order, now=NOW)
    app.post(f"{path}/fulfilments", {})
    app.post(f"{path}/refunds", {})
    pay_back_refunds(now=clock.now(), limit=1)
    last = app.get(path).json()["order"]
    other = make_order(shop, sale_line(make_product(shop)))
    app.post(f"/orders/{other.pk}/cancellation", {})
    events = Event.objects.filter(shop=shop, topic__startswith="order.").order_by("pk")
    assert [event.topic for event in events] == [
        "order.placed",
        "order.paid",
        "order.fulfilled",
        "order.refunded",
        "order.placed",
        "order.cancelled",
    ]
    for event in events:
        assert event.data.keys() == last.keys()
        assert next(iter(event.data)) == "id"
    assert events[3].data == last


@pytest.mark.rule("R-APP-43")
def test_parts_are_fulfilled_and_taken_back(app, order):
    line = order.lines.get()
    part = app.post(f"/orders/{order.pk}/fulfilments", {"lines": [{"line_id": line.pk, "qty": 1}]}).json()["fulfilment"]
    assert app.get(f"/orders/{order.pk}").json()["order"]["fulfilment_status"] == "partially_fulfilled"
    rest = app.post(f"/orders/{order.pk}/fulfilments", {}).json()["fulfilment"]
    assert rest["lines"] == [{"line_id": line.pk, "qty": 1}]
    cancelled = app.post(f"/orders/{order.pk}/fulfilments/{part['id']}/cancellation", {}).json()["fulfilment"]
    assert cancelled["cancelled_at"] is not None
    found = app.get(f"/orders/{order.pk}").json()["order"]
    assert (found["fulfilment_status"], found["lines"][0]["left_qty"]) == ("partially_fulfilled", 1)


@pytest.mark.rule("R-APP-44")
def test_all_parts_of_a_refund_by_line_come_to_the_total(app, paid):
    body = {"lines": [{"line_id": paid.lines.get().pk, "qty": 1}]}
    first, second = (app.post(f"/orders/{paid.pk}/refunds", body).json()["refund"] for _ in range(2))
    assert Decimal(first["amount"]) + Decimal(second["amount"]) == paid.total
    assert app.post(f"/orders/{paid.pk}/refunds", body).json()["code"] == "not_left_to_refund"
