"""Refunds of pieces of an order's lines and of its delivery."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storefront.catalogue.models import StockAdjustment
from storefront.gift_cards.models import GiftCard
from storefront.kit.money import unit
from storefront.orders.fulfilling import cancel_fulfilment, fulfil_order
from storefront.orders.models import Order, OrderLine
from storefront.payments import actions as payments
from storefront.payments.line_refunds import NotLeftToRefund, Pieces, ShippingRefundTooLarge, rest_of_share
from storefront.payments.models import Payment, Refund, RefundLine
from storefront.payments.refunds import RefundTooLarge, request_refund
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.factories.apps import install
from tests.orders.conftest import one
from tests.orders.factories import Promise, add_payment, make_order, sale_line
from tests.payments.refunding import record_refund_failed, record_refunded
from tests.races import run_concurrently
from tests.shops.factories import NOW
from tests.verifying import everything_agrees as everything_agrees


@pytest.fixture(params=["/api/apps", "/api/v1"])
def app(request, shop) -> ApiClient:
    return ApiClient(install(shop, "read_orders", "write_orders").token, prefix=request.param)


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", price=Decimal("10.00"), sku="M1", stock_qty=10)


@pytest.fixture
def paid(shop, mug) -> Order:
    """Three mugs and a pot with 10.00 off and 5.00 for the delivery, 20% tax added: 49.20 + 6.00 = 54.00."""
    pot = make_product(shop, "Pot", price=Decimal("20.00"), stock_qty=10)
    lines = [
        sale_line(mug, 3, discount=Decimal("6.00"), tax=Decimal("4.80")),
        sale_line(pot, discount=Decimal("4.00"), tax=Decimal("3.20")),
    ]
    amounts = {"discount": "10.00", "shipping": "5.00", "tax": "9.00", "total": "54.00"}
    shop.prices_include_tax = False
    order = make_order(
        shop,
        *lines,
        shipping_method="Parcel",
        discount_lines=[{"name": "Autumn", "amount": "10.00"}],
        tax_lines=[{"name": "VAT", "percent": "20", "amount": "9.00"}],
        **{name: Decimal(value) for name, value in amounts.items()},
    )
    return payments.mark_paid(shop=shop, order=order, now=NOW)


def refund(order: Order, *pieces: Pieces, **given) -> Refund:
    return request_refund(shop=order.shop, order=order, lines=pieces, now=NOW, **given)


def line_of(order: Order, name: str) -> OrderLine:
    return order.lines.get(name=name)


def pieces_of(line: OrderLine) -> dict[str, int]:
    line.refresh_from_db()
    return {
        name: getattr(line, f"{name}_qty")
        for name in ("fulfilled", "refunded", "withdrawn", "restocked")
        if getattr(line, f"{name}_qty")
    }


def test_pieces_cost_what_was_paid_for_them(app, shop, paid):
    mugs = paid.lines.first()
    answer = app.post(f"/orders/{paid.pk}/refunds", {"lines": [{"line_id": mugs.pk, "qty": 1}], "reason": "Chipped"})
    assert answer.status_code == 201
    made = one(answer)
    assert (made["amount"], made["shipping"], made["part_of"]) == ("9.60", "0.00", None)
    share = {"amount": "9.60", "tax": "1.60", "withdrawn_qty": 1, "restocked_qty": 0}
    assert made["lines"] == [{"line_id": mugs.pk, "qty": 1} | share]
    found = one(app.get(f"/orders/{paid.pk}"))
    assert found["refunds"] == [made]
    assert [(line["refunded_qty"], line["left_qty"]) for line in found["lines"]] == [(1, 2), (0, 1)]
    assert Event.objects.filter(shop=shop, topic="order.updated").latest("pk").data["refunds"] == [made]


def test_delivery_is_refunded_in_parts_with_its_tax(app, paid):
    pot = paid.lines.last()
    body = {"lines": [{"line_id": pot.pk, "qty": 1}], "shipping": "2.50"}
    assert one(app.post(f"/orders/{paid.pk}/refunds", body))["amount"] == "21.70"
    answer = app.post(f"/orders/{paid.pk}/refunds", {"shipping": "3.51"})
    assert (answer.status_code, answer.json()["code"]) == (422, "shipping_refund_too_large")
    assert answer.json()["errors"] == {"shipping": ["At most €3.50 of the delivery can still be refunded."]}
    assert one(app.post(f"/orders/{paid.pk}/refunds", {"shipping": "3.50"}))["amount"] == "3.50"
    assert app.post(f"/orders/{paid.pk}/refunds", {"shipping": "0.01"}).json()["message"] == (
        "Nothing is left to refund of the delivery."
    )


def test_all_parts_come_to_the_total(shop, paid):
    mugs, pot = paid.lines.all()
    parts = [refund(paid, Pieces(mugs.pk, 1)).amount for _ in range(3)]
    parts += [refund(paid, Pieces(pot.pk, 1), shipping=Decimal("6.00")).amount]
    assert sum(parts) == paid.total
    with pytest.raises(NotLeftToRefund, match="no pieces can still be refunded"):
        refund(paid, Pieces(mugs.pk, 1))


@pytest.mark.parametrize("currency", ["EUR", "JPY", "RSD"])
@given(
    paid=st.integers(0, 999_900),
    tries=st.lists(st.tuples(st.integers(1, 4), st.booleans()), max_size=12),
    qty=st.integers(1, 9),
)
def test_whatever_the_parts_of_a_line_they_come_to_what_was_paid(currency, paid, tries, qty):
    """Also where refunds between them failed."""
    standing, refunded, paid = [], 0, paid * unit(currency)
    for pieces, fails in [*tries, *[(1, False)] * qty]:
        taken = min(pieces, qty - refunded)
        part = rest_of_share(paid, refunded + taken, qty, sum(standing, Decimal(0)), currency)
        if taken and not fails:
            standing.append(part)
            refunded += taken
    assert refunded == qty
    assert sum(standing) == paid
    assert all(part >= 0 and part % unit(currency) == 0 for part in standing)


def test_parts_of_a_third_of_a_cent_come_to_the_line(shop):
    order = make_order(shop, sale_line(make_product(shop, stock_qty=9), 3, line_total=Decimal("10.00")))
    payments.mark_paid(shop=shop, order=order, now=NOW)
    line = order.lines.get()
    amounts = []
    for fails in (True, False, False, True, False):
        made = refund(order, Pieces(line.pk, 1))
        amounts.append(made.amount)
        if fails:
            record_refund_failed(shop=shop, refund=made, why="Closed", now=NOW)
    assert [str(amount) for amount in amounts] == ["3.33", "3.33", "3.34", "3.33", "3.33"]


def test_pieces_that_are_not_sent_are_taken_first_and_need_no_sending(app, shop, paid):
    mugs, pot = paid.lines.all()
    fulfil_order(shop=shop, order=paid, pieces=[(mugs.pk, 1)], now=NOW)
    refund(paid, Pieces(mugs.pk, 2), Pieces(pot.pk, 1))
    assert pieces_of(mugs) == {"fulfilled": 1, "refunded": 2, "withdrawn": 2}
    found = one(app.get(f"/orders/{paid.pk}"))
    assert (found["status"], found["fulfilment_status"]) == ("fulfilled", "fulfilled")
    refund(paid, Pieces(mugs.pk, 1))
    assert pieces_of(mugs) == {"fulfilled": 1, "refunded": 3, "withdrawn": 2}


def test_the_refund_says_which_pieces_they_are(shop, paid):
    mugs = paid.lines.first()
    fulfil_order(shop=shop, order=paid, pieces=[(mugs.pk, 1)], now=NOW)
    with pytest.raises(NotLeftToRefund, match="1 piece that were sent"):
        refund(paid, Pieces(mugs.pk, 2, sent=True))
    refund(paid, Pieces(mugs.pk, 1, sent=True))
    assert pieces_of(mugs) == {"fulfilled": 1, "refunded": 1}
    with pytest.raises(NotLeftToRefund, match="2 pieces that were not sent"):
        refund(paid, Pieces(mugs.pk, 3, sent=False))
    refund(paid, Pieces(mugs.pk, 2, sent=False))
    assert pieces_of(mugs) == {"fulfilled": 1, "refunded": 3, "withdrawn": 2}


def test_a_line_named_twice_counts_together(app, paid):
    mugs = paid.lines.first()
    wanted = {"lines": [{"line_id": mugs.pk, "qty": 2}, {"line_id": mugs.pk, "qty": 2, "restock": True}]}
    assert app.post(f"/orders/{paid.pk}/refunds", wanted).json()["code"] == "not_left_to_refund"
    wanted["lines"][0]["qty"] = 1
    (line,) = one(app.post(f"/orders/{paid.pk}/refunds", wanted))["lines"]
    assert (line["qty"], line["restocked_qty"], line["amount"]) == (3, 2, "28.80")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"lines": []}, "lines"),
        ({"lines": [{"line_id": 1, "qty": 0}]}, "lines.0.qty"),
        ({"lines": [{"line_id": 1, "qty": 1, "restock": 1}]}, "lines.0.restock"),
        ({"lines": [{"line_id": 1, "qty": 1, "sent": "yes"}]}, "lines.0.sent"),
        ({"lines": [{"line_id": 2**50, "qty": 1}]}, "lines"),
        ({"shipping": 1}, "shipping"),
        ({"shipping": "-1.00"}, "shipping"),
    ],
)
def test_invalid_member_is_named(app, paid, body, field):
    answer = app.post(f"/orders/{paid.pk}/refunds", body)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    assert not Refund.objects.exists()


def test_another_orders_line_is_refused(app, shop, other_shop, paid):
    foreign = make_order(other_shop, sale_line(make_product(other_shop))).lines.get()
    answer = app.post(f"/orders/{paid.pk}/refunds", {"lines": [{"line_id": foreign.pk, "qty": 1}]})
    assert answer.json()["message"] == f"This order has no line with the id {foreign.pk}."


def test_restock_is_by_line_and_the_ledger_names_order_and_reason(shop, paid, mug):
    mugs, pot = paid.lines.all()
    made = refund(paid, Pieces(mugs.pk, 2, restock=True), Pieces(pot.pk, 1), reason="Wrong colour")
    assert made.restocked
    mug.refresh_from_db()
    assert mug.stock_qty == 9
    row = StockAdjustment.objects.filter(shop=shop).latest("pk")
    assert (row.kind, row.reference, row.reason, row.stock_after) == (
        "returned",
        f"order {paid.number}",
        "Wrong colour",
        9,
    )
    assert (pieces_of(mugs)["restocked"], pieces_of(pot).get("restocked", 0)) == (2, 0)
    # A cancellation puts back the rest, and nothing twice.
    payments.cancel_order(shop=shop, order=paid, now=NOW)
    mug.refresh_from_db()
    assert mug.stock_qty == 10


def test_after_a_cancellation_nothing_is_restocked_again(shop, paid, mug):
    payments.cancel_order(shop=shop, order=paid, now=NOW)
    made = refund(paid, Pieces(paid.lines.first().pk, 3, restock=True))
    mug.refresh_from_db()
    assert (made.restocked, mug.stock_qty) == (False, 10)


def test_a_bundles_parts_and_untracked_stock_are_restocked_as_they_were_taken(shop):
    from storefront.catalogue.stock import StockUse

    part = make_product(shop, "Part", stock_qty=10)
    untracked = make_product(shop, "Free", track_inventory=False)
    bundle = make_product(shop, "Set", price=Decimal("6.00"))
    uses = (StockUse("product", part.pk, 6), StockUse("product", untracked.pk, 3))
    order = make_order(shop, sale_line(bundle, 3, uses=uses))
    payments.mark_paid(shop=shop, order=order, now=NOW)
    refund(order, Pieces(order.lines.get().pk, 1, restock=True))
    part.refresh_from_db()
    assert part.stock_qty == 6


def test_less_than_the_pieces_cost_can_be_refunded(app, paid):
    mugs = paid.lines.first()
    body = {"lines": [{"line_id": mugs.pk, "qty": 1}], "amount": "9.61"}
    answer = app.post(f"/orders/{paid.pk}/refunds", body)
    assert answer.json()["errors"] == {"amount": ["The chosen items and delivery come to €9.60."]}
    made = one(app.post(f"/orders/{paid.pk}/refunds", body | {"amount": "8.00"}))
    assert (made["amount"], made["lines"][0]["amount"]) == ("8.00", "9.60")


def test_never_more_than_was_paid_with_refunds_of_amounts(app, paid):
    app.post(f"/orders/{paid.pk}/refunds", {"amount": "50.00"})
    answer = app.post(f"/orders/{paid.pk}/refunds", {"lines": [{"line_id": paid.lines.first().pk, "qty": 1}]})
    assert answer.json()["message"] == "At most €4.00 can still be refunded."
    assert RefundLine.objects.count() == 0
    assert pieces_of(paid.lines.first()) == {}


def test_a_failed_refund_releases_its_pieces_but_restocks_nothing_twice(app, shop, paid, mug):
    mugs, pot = paid.lines.all()
    fulfil_order(shop=shop, order=paid, pieces=[(pot.pk, 1)], now=NOW)
    made = refund(paid, Pieces(mugs.pk, 3, restock=True))
    assert one(app.get(f"/orders/{paid.pk}"))["status"] == "fulfilled"
    record_refund_failed(shop=shop, refund=made, why="Closed", now=NOW)
    assert pieces_of(mugs) == {"restocked": 3}
    found = one(app.get(f"/orders/{paid.pk}"))
    assert (found["status"], found["fulfilment_status"]) == ("open", "partially_fulfilled")
    failed = Event.objects.get(shop=shop, topic="refund.failed").data
    assert [line["line_id"] for line in failed["lines"]] == [mugs.pk]
    assert Event.objects.filter(shop=shop).latest("pk").data == found
    again = refund(paid, Pieces(mugs.pk, 3, restock=True))
    mug.refresh_from_db()
    assert (again.amount, again.restocked, mug.stock_qty) == (Decimal("28.80"), False, 10)


def test_a_refund_that_bounces_later_releases_its_pieces(shop, paid):
    from storefront.payments.providers.base import RefundReport, RefundStanding, Report, Standing
    from storefront.payments.settling import settle

    mugs = paid.lines.first()
    made = refund(paid, Pieces(mugs.pk, 1))
    record_refunded(shop=shop, refund=made, reference="re_1", now=NOW)
    failed = RefundReport(made.amount, "re_1", made.key, RefundStanding.FAILED, "Account closed")
    report = Report(Standing.PAID, captured=paid.total, refunds=(failed,))
    settle(shop=shop, payment=Payment.objects.get(), report=report, source="news", now=NOW)
    assert Refund.objects.get().status == "failed"
    assert pieces_of(mugs) == {}


def test_a_cancelled_fulfilment_of_refunded_pieces_leaves_them_unsent(shop, paid):
    mugs = paid.lines.first()
    made = fulfil_order(shop=shop, order=paid, pieces=[(mugs.pk, 2)], now=NOW)
    failing = refund(paid, Pieces(mugs.pk, 1, sent=True))
    cancel_fulfilment(shop=shop, order=paid, fulfilment_id=made.pk, now=NOW)
    assert pieces_of(mugs) == {"refunded": 1, "withdrawn": 1}
    record_refund_failed(shop=shop, refund=failing, why="Closed", now=NOW)
    assert pieces_of(mugs) == {}


def test_several_payments_pay_back_one_refund_by_line(app, shop, mug):
    order = make_order(shop, sale_line(mug, 2), promise=Promise("manual", Decimal("12.00")))
    add_payment(order, Promise("manual", Decimal("8.00")))
    payments.mark_paid(shop=shop, order=order, now=NOW)
    line = order.lines.get()
    made = one(app.post(f"/orders/{order.pk}/refunds", {"lines": [{"line_id": line.pk, "qty": 2}]}))
    first, second = Refund.objects.order_by("pk")
    assert (made["id"], first.amount, second.amount, second.part_of) == (
        first.pk,
        Decimal("8.00"),
        Decimal("12.00"),
        first,
    )
    record_refund_failed(shop=shop, refund=first, why="Closed", now=NOW)
    assert pieces_of(line)["refunded"] == 2
    record_refund_failed(shop=shop, refund=second, why="Closed", now=NOW)
    assert pieces_of(line) == {}


@pytest.mark.disagrees
def test_a_gift_card_that_was_used_is_not_refunded(shop):
    from storefront.gift_cards import ledger

    card = {"message": "", "recipient_email": "", "send_on": ""}
    order = make_order(shop, sale_line(make_product(shop, "Card", price=Decimal("25.00")), 2, gift_card=card, uses=()))
    payments.mark_paid(shop=shop, order=order, now=NOW)
    line, used = order.lines.get(), GiftCard.objects.order_by("pk").first()
    GiftCard.objects.filter(pk=used.pk).update(digest="d" * 64)
    from uuid import uuid4

    given = {"currency": "EUR", "key": uuid4(), "cart_id": None, "now": NOW}
    ledger.spend(shop=shop, card_id=used.pk, amount=Decimal("5.00"), **given)
    refund(order, Pieces(line.pk, 1))
    assert [each.disabled_at is None for each in GiftCard.objects.order_by("pk")] == [True, False]
    with pytest.raises(Exception, match="only 1 of 2 gift cards have not been used"):
        refund(order, Pieces(line.pk, 1))
    assert pieces_of(line)["refunded"] == 1
    GiftCard.objects.filter(pk=used.pk).update(digest=None)


@pytest.mark.disagrees
def test_verify_names_a_line_whose_refunded_pieces_no_refund_explains(shop, paid):
    from storefront.payments.verifying import refund_deviations

    OrderLine.objects.filter(pk=paid.lines.first().pk).update(refunded_qty=1)
    assert [found.check for found in refund_deviations(shop)] == ["pieces refunded"]


@pytest.mark.django_db(transaction=True)
def test_two_refunds_at_once_never_exceed_the_pieces_or_the_money(shop):
    order = make_order(
        shop,
        sale_line(make_product(shop, price=Decimal("1.00"), stock_qty=9), 3),
        shipping=Decimal("1.00"),
        total=Decimal("4.00"),
    )
    payments.mark_paid(shop=shop, order=order, now=NOW)
    line = order.lines.get()
    refused = (NotLeftToRefund, RefundTooLarge, ShippingRefundTooLarge)
    calls = [lambda: refund(order, Pieces(line.pk, 2, restock=True))] * 3
    calls += [lambda: refund(order, shipping=Decimal("0.60"))] * 3
    answers = run_concurrently(*calls, refusal=refused)
    assert sum(isinstance(answer, Refund) for answer in answers) == 2
    assert Payment.objects.get().refunded == Decimal("2.60")
    assert pieces_of(line) == {"refunded": 2, "withdrawn": 2, "restocked": 2}


@pytest.mark.django_db(transaction=True)
def test_a_piece_is_sent_or_refunded_before_it_not_both(shop):
    order = make_order(shop, sale_line(make_product(shop, price=Decimal("1.00"), stock_qty=9), 1))
    payments.mark_paid(shop=shop, order=order, now=NOW)
    line = order.lines.get()
    from storefront.orders.actions import OrderNotOpen
    from storefront.orders.fulfilling import NotLeftToFulfil

    answers = run_concurrently(
        lambda: fulfil_order(shop=shop, order=order, now=NOW),
        lambda: refund(order, Pieces(line.pk, 1, sent=False)),
        refusal=(NotLeftToRefund, NotLeftToFulfil, OrderNotOpen),
    )
    assert sum(isinstance(answer, Exception) for answer in answers) == 1
    assert pieces_of(line) in ({"fulfilled": 1}, {"refunded": 1, "withdrawn": 1})


def test_a_delivery_of_nothing_refunds_nothing(app, paid):
    """And not the whole order, as without any member."""
    answer = app.post(f"/orders/{paid.pk}/refunds", {"shipping": "0.00"})
    assert (answer.status_code, answer.json()["errors"]) == (422, {"lines": ["Nothing was paid for these items."]})
    assert not Refund.objects.exists()
