"""Fulfilling orders through the API: fully, partially, never more than was sold."""

from decimal import Decimal

import pytest

from storefront.orders import actions
from storefront.orders.fulfilling import NotLeftToFulfil, Tracking, fulfil_order
from storefront.orders.models import Fulfilment
from storefront.webhooks.models import Event
from tests.answers import error_of
from tests.catalogue.factories import make_product
from tests.orders.conftest import one
from tests.orders.factories import make_order, sale_line
from tests.races import run_concurrently
from tests.shops.factories import NOW

PARCEL = {"carrier": "DHL", "tracking_number": "JD0146", "tracking_url": "https://dhl.example.com/?q=JD0146"}


def events_of(shop) -> list[dict]:
    return [event.data for event in Event.objects.filter(shop=shop, topic="order.fulfilled").order_by("pk")]


@pytest.mark.parametrize("body", ["", {}, {"lines": None}])
def test_without_lines_everything_is_fulfilled(app, order, body):
    answer = app.post(f"/orders/{order.pk}/fulfilments", body)
    assert answer.status_code == 201
    mugs, pot = order.lines.all()
    assert one(answer)["lines"] == [{"line_id": mugs.pk, "qty": 3}, {"line_id": pot.pk, "qty": 1}]
    found = one(app.get(f"/orders/{order.pk}"))
    assert found["status"] == "fulfilled"
    assert [line["fulfilled_qty"] for line in found["lines"]] == [3, 1]
    assert found["fulfilments"] == [one(answer)]


def test_fulfilment_has_tracking_data(app, order):
    made = one(app.post(f"/orders/{order.pk}/fulfilments", PARCEL))
    assert {name: made[name] for name in PARCEL} == PARCEL
    assert made["order_id"] == order.pk


def test_partial_fulfilments_keep_the_order_open_until_nothing_is_left(app, shop, order):
    mugs, pot = order.lines.all()
    app.post(f"/orders/{order.pk}/fulfilments", {"lines": [{"line_id": mugs.pk, "qty": 2}]})
    found = one(app.get(f"/orders/{order.pk}"))
    assert (found["status"], [line["fulfilled_qty"] for line in found["lines"]]) == ("open", [2, 0])
    rest = one(app.post(f"/orders/{order.pk}/fulfilments", {}))
    assert rest["lines"] == [{"line_id": mugs.pk, "qty": 1}, {"line_id": pot.pk, "qty": 1}]
    assert one(app.get(f"/orders/{order.pk}"))["status"] == "fulfilled"
    first, second = events_of(shop)
    assert [next(iter(data)) for data in (first, second)] == ["id", "id"]
    assert ([len(data["fulfilments"]) for data in (first, second)], first["status"], second["status"]) == (
        [1, 2],
        "open",
        "fulfilled",
    )
    assert second == one(app.get(f"/orders/{order.pk}"))


def test_more_than_is_left_is_refused_and_the_line_named(app, shop, order):
    mugs, pot = order.lines.all()
    app.post(f"/orders/{order.pk}/fulfilments", {"lines": [{"line_id": mugs.pk, "qty": 2}]})
    wanted = [{"line_id": pot.pk, "qty": 1}, {"line_id": mugs.pk, "qty": 2}]
    answer = app.post(f"/orders/{order.pk}/fulfilments", {"lines": wanted})
    assert answer.status_code == 422
    assert error_of(answer) == {
        "message": f"Of line {mugs.pk}, Mug, 1 is left to fulfil.",
        "code": "not_left_to_fulfil",
        "errors": {"lines": [f"Of line {mugs.pk}, Mug, 1 is left to fulfil."]},
    }
    assert Fulfilment.objects.count() == len(events_of(shop)) == 1


def test_a_line_named_twice_counts_together(app, order):
    mugs = order.lines.first()
    twice = {"lines": [{"line_id": mugs.pk, "qty": 2}, {"line_id": mugs.pk, "qty": 2}]}
    assert app.post(f"/orders/{order.pk}/fulfilments", twice).status_code == 422
    twice["lines"][0]["qty"] = 1
    assert one(app.post(f"/orders/{order.pk}/fulfilments", twice))["lines"] == [{"line_id": mugs.pk, "qty": 3}]


def test_refuses_a_line_of_another_order(app, shop, other_shop, order):
    others = make_order(shop, sale_line(make_product(shop))).lines.get()
    foreign = make_order(other_shop, sale_line(make_product(other_shop))).lines.get()
    for line_id in (others.pk, foreign.pk, foreign.pk + 1000):
        answer = app.post(f"/orders/{order.pk}/fulfilments", {"lines": [{"line_id": line_id, "qty": 1}]})
        assert (answer.status_code, answer.json()["message"]) == (422, f"This order has no line with the id {line_id}.")
    assert not Fulfilment.objects.exists()


@pytest.mark.parametrize("end", [fulfil_order, actions.cancel_order])
def test_refuses_to_fulfil_an_order_that_is_not_open(app, shop, order, end):
    end(shop=shop, order=order, now=NOW)
    answer = app.post(f"/orders/{order.pk}/fulfilments", {})
    assert (answer.status_code, answer.json()["code"]) == (422, "order_not_open")


def test_repeated_request_with_an_idempotency_key_fulfils_once(app, order):
    mugs = order.lines.first()
    body = {"lines": [{"line_id": mugs.pk, "qty": 1}]}
    first, again = (app.post(f"/orders/{order.pk}/fulfilments", body, Idempotency_Key="k1") for _ in range(2))
    assert (first.status_code, again.status_code, first.content) == (201, 201, again.content)
    assert again["Idempotent-Replayed"] == "true"
    mugs.refresh_from_db()
    assert mugs.fulfilled_qty == 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_fulfilments_never_exceed_what_was_sold(shop):
    order = make_order(shop, sale_line(make_product(shop, stock_qty=100, price=Decimal("1.00")), 5))
    line = order.lines.get()

    def hand_over_two():
        return fulfil_order(shop=shop, order=order, pieces=[(line.pk, 2)], tracking=Tracking("DHL"), now=NOW)

    answers = run_concurrently(*[hand_over_two] * 6, refusal=NotLeftToFulfil)
    assert [type(answer) for answer in answers if isinstance(answer, Exception)] == [NotLeftToFulfil] * 4
    line.refresh_from_db()
    assert (line.fulfilled_qty, Fulfilment.objects.count()) == (4, 2)
    answers = run_concurrently(
        *[lambda: fulfil_order(shop=shop, order=order, now=NOW)] * 4, refusal=actions.OrderNotOpen
    )
    assert sum(isinstance(answer, Fulfilment) for answer in answers) == 1
    line.refresh_from_db()
    assert line.fulfilled_qty == 5
