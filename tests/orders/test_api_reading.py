"""Reading orders through both APIs (R-APP-30, R-APP-33)."""

from datetime import timedelta

import pytest

from storefront.kit.clock import timestamp
from storefront.orders.fulfilling import fulfil_order
from storefront.payments import actions as payments
from storefront.payments.refunds import request_refund
from tests.addresses import ADDRESS
from tests.answers import error_of, without_id
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.factories.apps import install
from tests.orders.conftest import many, one
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW, make_token


def test_read_returns_the_whole_order(app, order):
    found = one(app.get(f"/orders/{order.pk}"))
    mugs, pot = found["lines"]
    assert next(iter(found)) == "id"
    assert {name: found[name] for name in ("id", "number", "status", "payment_status", "email", "currency")} == {
        "id": order.pk,
        "number": 1001,
        "status": "open",
        "payment_status": "pending",
        "email": "ada@example.com",
        "currency": "EUR",
    }
    assert (found["subtotal"], found["total"], found["refunded"]) == ("48.50", "48.50", "0.00")
    assert found["shipping_address"] == found["billing_address"] == ADDRESS
    assert (mugs["name"], mugs["sku"], mugs["qty"], mugs["fulfilled_qty"]) == ("Mug", "M1", 3, 0)
    assert (mugs["unit_price"], mugs["line_total"], pot["line_total"]) == ("9.50", "28.50", "20.00")
    (payment,) = found["payments"]
    assert (payment["gateway"], payment["status"], payment["amount"]) == ("manual", "pending", "48.50")
    assert (found["fulfilments"], found["refunds"], found["note"], found["tags"]) == ([], [], "", [])
    assert found["placed_at"] == timestamp(NOW)


def test_list_has_everything_but_addresses_and_children(app, order):
    (listed,) = many(app.get("/orders"))
    whole = one(app.get(f"/orders/{order.pk}"))
    parts = {"shipping_address", "billing_address", "lines", "payments", "fulfilments", "refunds"}
    assert listed == {name: value for name, value in whole.items() if name not in parts}


def test_public_id_is_never_returned(app, order):
    for answer in (app.get("/orders"), app.get(f"/orders/{order.pk}")):
        assert str(order.public_id).encode() not in answer.content


def test_newest_come_first(app, shop, mug):
    for hours in (2, 0, 1):
        make_order(shop, sale_line(mug), now=NOW + timedelta(hours=hours))
    assert [row["number"] for row in many(app.get("/orders"))] == [1001, 1003, 1002]


def test_orders_placed_at_the_same_time_are_sorted_by_id(app, shop, mug):
    orders = [make_order(shop, sale_line(mug)).pk for _ in range(5)]
    pages = [many(app.get(f"/orders?per_page=2&page={page}")) for page in (1, 2, 3)]
    assert [row["id"] for page in pages for row in page] == orders[::-1]


def test_filters_by_status(app, shop, mug):
    cancelled, sent, still_open = (make_order(shop, sale_line(mug)) for _ in range(3))
    payments.cancel_order(shop=shop, order=cancelled, now=NOW)
    fulfil_order(shop=shop, order=sent, now=NOW)
    for status, order in (("open", still_open), ("cancelled", cancelled), ("fulfilled", sent)):
        assert [row["id"] for row in many(app.get(f"/orders?status={status}"))] == [order.pk]


def test_filters_by_placed_since(app, shop, mug):
    early, late = (make_order(shop, sale_line(mug), now=NOW + timedelta(hours=hours)) for hours in (0, 1))
    assert [row["id"] for row in many(app.get("/orders?placed_since=2026-11-21T08:30:00Z"))] == [late.pk]
    assert [row["id"] for row in many(app.get("/orders?placed_since=2026-11-21T09:30:00%2B01:00"))] == [late.pk]
    assert len(many(app.get(f"/orders?placed_since={timestamp(early.placed_at)}"))) == 2
    assert many(app.get("/orders?placed_since=2026-11-21T08:30:00.000001Z&status=open")) == []


def test_page_links_keep_the_filters(app, shop, mug, form):
    for _ in range(5):
        make_order(shop, sale_line(mug))
    body = app.get("/orders?status=open&per_page=2&page=2").json()
    where = body if form == "/api/v1" else body["pagination"]
    assert (where["current_page"], where["last_page"], where["per_page"], where["total"]) == (2, 3, 2, 5)
    assert where["next_page_url"] == f"{shop.base_url}{form}/orders?status=open&per_page=2&page=3"
    assert where["prev_page_url"] == f"{shop.base_url}{form}/orders?status=open&per_page=2&page=1"


@pytest.mark.parametrize(
    "query", ["status=paid", "status=", "placed_since=yesterday", "placed_since=2026-11-21", "page=0", "per_page=x"]
)
def test_invalid_filter_is_named(app, query):
    answer = app.get(f"/orders?{query}")
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [query.partition("=")[0]]


def test_unknown_parameters_are_ignored(app, order):
    assert len(many(app.get("/orders?colour=red"))) == 1


@pytest.mark.parametrize("id", ["0", "-1", "x", "1.5", "9" * 30, str(2**53), str(2**53 - 1)])
def test_unknown_order_is_a_404(app, order, id):
    answer = app.get(f"/orders/{id}")
    assert answer.status_code == 404
    assert error_of(answer) == {"message": "Not found.", "code": "not_found"}


def test_another_shops_order_looks_like_an_unknown_one(app, other_shop):
    secret = make_order(other_shop, sale_line(make_product(other_shop)))
    known, unknown = app.get(f"/orders/{secret.pk}"), app.get(f"/orders/{secret.pk + 1000}")
    assert known.status_code == 404
    assert without_id(known) == without_id(unknown)
    assert many(app.get("/orders")) == many(app.get("/orders?status=open")) == []


def test_order_is_not_found_by_its_number(app, order):
    assert app.get(f"/orders/{order.number}").status_code == 404


def test_write_scope_does_not_allow_reading(shop, form, order):
    api = ApiClient(install(shop, "write_orders", "read_customers").token, prefix=form)
    for path in ("/orders", f"/orders/{order.pk}"):
        answer = api.get(path)
        assert answer.status_code == 403
        assert answer.json()["required_scopes"] == ["read_orders"]


def test_api_token_cannot_use_the_app_api(shop, order):
    token = make_token(shop, "read_orders")
    assert ApiClient(token).get("/orders").status_code == 200
    assert ApiClient(token, prefix="/api/apps").get("/orders").status_code == 401


@pytest.mark.parametrize("count", [1, 12])
def test_list_takes_four_queries_regardless_of_length(app, shop, mug, count, django_assert_num_queries):
    for _ in range(count):
        make_order(shop, sale_line(make_product(shop)), sale_line(make_product(shop)))
    with django_assert_num_queries(4):
        listed = many(app.get("/orders"))
    assert len(listed) == count


@pytest.mark.parametrize("count", [1, 6])
def test_read_takes_nine_queries_regardless_of_children(app, shop, count, django_assert_num_queries):
    order = make_order(shop, *(sale_line(make_product(shop), 2) for _ in range(count)))
    payments.mark_paid(shop=shop, order=order, now=NOW)
    for line in order.lines.all():
        fulfil_order(shop=shop, order=order, pieces=[(line.pk, 1)], now=NOW)
        request_refund(shop=shop, order=order, amount=line.unit_price, now=NOW)
    with django_assert_num_queries(9):
        found = one(app.get(f"/orders/{order.pk}"))
    assert len(found["lines"]) == len(found["fulfilments"]) == len(found["refunds"]) == count
