"""Orders that are sent in parts: the status follows from the lines, and a fulfilment can be taken back."""

import pytest
from django.db import IntegrityError, transaction

from storefront.orders.fulfilling import FulfilmentCancelled, NotLeftToFulfil, cancel_fulfilment, fulfil_order
from storefront.orders.jobs import send_fulfilment_mail
from storefront.orders.models import Fulfilment, Order, OrderLine
from storefront.orders.verifying import deviations
from storefront.payments import actions as payments
from storefront.payments.asking import due_call
from storefront.payments.line_refunds import Pieces
from storefront.payments.refunds import request_refund
from storefront.payments.rules import Call
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.factories.apps import install
from tests.orders.conftest import one
from tests.orders.factories import Promise, make_order, sale_line
from tests.races import run_concurrently
from tests.shops.factories import NOW


def send(app, order, *pieces) -> dict:
    body = {"lines": [{"line_id": line.pk, "qty": qty} for line, qty in pieces]}
    answer = app.post(f"/orders/{order.pk}/fulfilments", body if pieces else {})
    assert answer.status_code == 201
    return one(answer)


def statuses(app, order) -> tuple[str, str]:
    found = one(app.get(f"/orders/{order.pk}"))
    return found["status"], found["fulfilment_status"]


def cancel(app, order, fulfilment_id: int):
    return app.post(f"/orders/{order.pk}/fulfilments/{fulfilment_id}/cancellation", {})


def topics(shop) -> list[str]:
    return list(
        Event.objects.filter(shop=shop, topic__startswith="order.").order_by("pk").values_list("topic", flat=True)
    )


@pytest.fixture
def ebook(shop):
    return make_product(shop, "Ebook", type="digital", track_inventory=False)


def test_the_status_follows_what_was_sent(app, order):
    mugs, pot = order.lines.all()
    assert statuses(app, order) == ("open", "unfulfilled")
    send(app, order, (mugs, 2))
    assert statuses(app, order) == ("open", "partially_fulfilled")
    assert [line["left_qty"] for line in one(app.get(f"/orders/{order.pk}"))["lines"]] == [1, 1]
    send(app, order, (mugs, 1), (pot, 1))
    assert statuses(app, order) == ("fulfilled", "fulfilled")


def test_a_cancelled_fulfilment_is_left_to_fulfil_again(app, shop, order):
    mugs = order.lines.first()
    first = send(app, order, (mugs, 2))
    send(app, order)
    answer = cancel(app, order, first["id"])
    assert answer.status_code == 201
    assert one(answer) == first | {"cancelled_at": one(answer)["cancelled_at"]}
    assert one(answer)["cancelled_at"] is not None
    assert statuses(app, order) == ("open", "partially_fulfilled")
    assert topics(shop) == ["order.placed", "order.fulfilled", "order.fulfilled", "order.updated"]
    event = Event.objects.filter(shop=shop).latest("pk")
    assert event.data == one(app.get(f"/orders/{order.pk}"))
    assert send(app, order)["lines"] == [{"line_id": mugs.pk, "qty": 2}]
    assert statuses(app, order) == ("fulfilled", "fulfilled")


def test_a_fulfilment_is_cancelled_once(app, shop, order):
    made = send(app, order)
    cancel(app, order, made["id"])
    answer = cancel(app, order, made["id"])
    assert (answer.status_code, answer.json()["code"]) == (422, "fulfilment_cancelled")
    assert topics(shop).count("order.updated") == 1


def test_an_order_without_fulfilments_that_stand_can_be_cancelled(app, order):
    made = send(app, order)
    assert app.post(f"/orders/{order.pk}/cancellation", {}).json()["code"] == "order_not_open"
    cancel(app, order, made["id"])
    assert app.post(f"/orders/{order.pk}/cancellation", {}).status_code == 201


def test_another_shops_or_orders_fulfilment_is_not_found(app, shop, other_shop, order):
    other = make_order(shop, sale_line(make_product(shop)))
    theirs = make_order(other_shop, sale_line(make_product(other_shop)))
    for each in (other, theirs):
        made = fulfil_order(shop=each.shop, order=each, now=NOW)
        assert cancel(app, order, made.pk).status_code == 404
        if each is theirs:
            assert cancel(app, each, made.pk).status_code == 404
    assert not Fulfilment.objects.exclude(cancelled_at=None).exists()


def test_cancelling_needs_the_write_scope(shop, form, order):
    made = fulfil_order(shop=shop, order=order, now=NOW)
    api = ApiClient(install(shop, "read_orders").token, prefix=form)
    assert cancel(api, order, made.pk).json()["required_scopes"] == ["write_orders"]


def test_files_and_gift_cards_need_no_sending(app, shop, mug, ebook):
    card = {"message": "", "recipient_email": "", "send_on": ""}
    gift = sale_line(make_product(shop, "Card"), gift_card=card, is_digital=False, uses=())
    order = make_order(shop, sale_line(mug), sale_line(ebook, is_digital=True, uses=()), gift)
    made = send(app, order)
    assert [line["line_id"] for line in made["lines"]] == [order.lines.get(name="Mug").pk]
    assert statuses(app, order) == ("fulfilled", "fulfilled")


def test_an_order_of_files_alone_is_fulfilled_by_its_payment(app, shop, ebook):
    order = make_order(shop, sale_line(ebook, is_digital=True, uses=()))
    assert statuses(app, order) == ("open", "unfulfilled")
    payments.mark_paid(shop=shop, order=order, now=NOW)
    assert statuses(app, order) == ("fulfilled", "fulfilled")
    assert topics(shop) == ["order.placed", "order.paid", "order.fulfilled"]
    # Nothing was sent of it, so it can still be cancelled.
    assert app.post(f"/orders/{order.pk}/cancellation", {}).status_code == 201


def test_held_money_for_files_alone_does_not_wait_for_a_fulfilment(shop, ebook):
    promise = Promise("demo", ebook.price, "demo_1", is_held=True)
    order = make_order(shop, sale_line(ebook, is_digital=True, uses=()), promise=promise)
    payment = order.payments.get()
    payment.is_held = True
    assert due_call(payment, NOW) == Call.CAPTURE
    sent = make_order(shop, sale_line(make_product(shop)), promise=promise).payments.get()
    sent.is_held = True
    assert due_call(sent, NOW) == Call.LOOK


def test_nothing_left_is_refused(app, shop, paid):
    pot = paid.lines.last()
    request_refund(shop=shop, order=paid, lines=_all_of(paid), now=NOW)
    answer = app.post(f"/orders/{paid.pk}/fulfilments", {})
    assert (answer.status_code, answer.json()["code"]) == (422, "not_left_to_fulfil")
    answer = app.post(f"/orders/{paid.pk}/fulfilments", {"lines": [{"line_id": pot.pk, "qty": 1}]})
    assert answer.json()["message"] == f"Of line {pot.pk}, Pot, none is left to fulfil."
    assert statuses(app, paid) == ("open", "unfulfilled")


def test_a_cancelled_fulfilment_is_not_mailed(shop, order, mailoutbox):
    made = fulfil_order(shop=shop, order=order, now=NOW)
    cancel_fulfilment(shop=shop, order=order, fulfilment_id=made.pk, now=NOW)
    send_fulfilment_mail.call(made.shop_id, made.pk)
    assert mailoutbox == []


@pytest.mark.parametrize(
    "values", [{"fulfilled_qty": 4}, {"fulfilled_qty": 3, "withdrawn_qty": 1, "refunded_qty": 1}, {"refunded_qty": 4}]
)
def test_the_database_keeps_pieces_within_what_was_sold(order, values):
    with pytest.raises(IntegrityError), transaction.atomic():
        OrderLine.objects.filter(pk=order.lines.first().pk).update(**values)


@pytest.mark.disagrees
def test_verify_names_an_order_whose_status_is_not_that_of_its_lines(shop, order):
    Order.objects.filter(pk=order.pk).update(fulfilment_status="fulfilled")
    (found,) = deviations(shop)
    assert (found.check, found.object) == ("fulfilment status", f"order {order.number}")


@pytest.mark.disagrees
def test_verify_names_a_line_whose_pieces_are_not_those_of_its_fulfilments(shop, order):
    line = order.lines.last()
    OrderLine.objects.filter(pk=line.pk).update(fulfilled_qty=1)
    kinds = {found.check for found in deviations(shop)}
    assert "pieces fulfilled" in kinds


@pytest.mark.django_db(transaction=True)
def test_of_two_that_send_the_last_piece_at_once_one_gets_it(shop):
    order = make_order(shop, sale_line(make_product(shop, stock_qty=9), 2), sale_line(make_product(shop, stock_qty=9)))
    line = order.lines.first()
    fulfil_order(shop=shop, order=order, pieces=[(line.pk, 1)], now=NOW)
    calls = [lambda: fulfil_order(shop=shop, order=order, pieces=[(line.pk, 1)], now=NOW)] * 2
    answers = run_concurrently(*calls, refusal=NotLeftToFulfil)
    assert sorted(type(answer).__name__ for answer in answers) == ["Fulfilment", "NotLeftToFulfil"]
    (refused,) = [answer for answer in answers if isinstance(answer, NotLeftToFulfil)]
    assert "none is left to fulfil" in refused.text


@pytest.mark.django_db(transaction=True)
def test_of_two_that_cancel_a_fulfilment_at_once_one_does(shop):
    order = make_order(shop, sale_line(make_product(shop, stock_qty=9), 2))
    made = fulfil_order(shop=shop, order=order, now=NOW)
    calls = [lambda: cancel_fulfilment(shop=shop, order=order, fulfilment_id=made.pk, now=NOW)] * 3
    answers = run_concurrently(*calls, refusal=FulfilmentCancelled)
    assert sum(isinstance(answer, Fulfilment) for answer in answers) == 1
    line = order.lines.get()
    assert (line.fulfilled_qty, line.left) == (0, 2)


def _all_of(order):
    return [Pieces(line.pk, line.qty) for line in order.lines.all()]
