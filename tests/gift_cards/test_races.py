"""One card in several hands at once, on SQLite and on PostgreSQL."""

from contextlib import suppress
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import transaction

from storefront.gift_cards import ledger
from storefront.gift_cards.jobs import queue_due_cards
from storefront.gift_cards.models import GiftCard, GiftCardEntry
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.payments.actions import OrderNotPayable, mark_paid
from storefront.payments.jobs import pay_back_refunds
from storefront.payments.refunds import request_refund
from tests.checkout.shopper import Shopper
from tests.gift_cards.factories import balance, make_card
from tests.gift_cards.test_spending import enter, fill
from tests.orders.factories import make_order, sale_line
from tests.races import run_concurrently

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_two_checkouts_with_one_card_are_one_order(shop, mug):
    """The second one sees the page again, and what it would have to pay now."""
    card, code = make_card(shop, "20.00")
    shoppers = [Shopper(shop) for _ in range(2)]
    for each in shoppers:
        fill(each, mug)
        enter(each, code)
    forms = [each.payment_fields("") for each in shoppers]
    calls = [
        lambda each=each, form=form: each.post("/checkout/payment", form)
        for each, form in zip(shoppers, forms, strict=True)
    ]
    answers = run_concurrently(*calls)
    assert sorted(answer.status_code for answer in answers) == [303, 422]
    refused = next(answer for answer in answers if answer.status_code == 422)
    assert "Place order and pay €20.00" in refused.content.decode()
    assert (Order.objects.get().payment_status, balance(card)) == ("paid", 0)


def test_two_presses_of_one_checkout_spend_once(shop, mug):
    card, code = make_card(shop)
    shopper = Shopper(shop)
    fill(shopper, mug)
    enter(shopper, code)
    form = shopper.payment_fields("")
    answers = run_concurrently(*[lambda: shopper.post("/checkout/payment", form)] * 4)
    assert {answer["Location"] for answer in answers} == {f"/orders/{Order.objects.get().public_id}"}
    assert balance(card) == 30


def test_spending_at_once_never_takes_more_than_is_left(shop):
    card, _ = make_card(shop)

    def spend() -> None:
        with transaction.atomic():
            given = {"card_id": card.pk, "amount": Decimal("9.00"), "currency": "EUR", "cart_id": None}
            ledger.spend(shop=shop, key=uuid4(), now=clock.now(), **given)

    answers = run_concurrently(*[spend] * 8, refusal=ledger.GiftCardChanged)
    assert sum(answer is None for answer in answers) == 5
    assert balance(card) == 5
    GiftCardEntry.objects.filter(kind="spent").delete()
    GiftCard.objects.update(balance=50)


def test_a_refund_sent_by_two_workers_arrives_once(shop, mug):
    card, code = make_card(shop)
    shopper = Shopper(shop)
    fill(shopper, mug)
    enter(shopper, code)
    shopper.post("/checkout/payment", shopper.payment_fields(""))
    order = Order.objects.get()
    asked = request_refund(shop=shop, order=order, amount=Decimal("8.00"), now=clock.now())

    def send() -> None:
        with transaction.atomic():
            given = {"payment": asked.payment.key, "key": asked.key, "amount": asked.amount}
            ledger.refund(shop=shop, now=clock.now(), **given)

    run_concurrently(*[send] * 4)
    assert pay_back_refunds(now=clock.now(), limit=10) == 1
    assert balance(card) == 38


def test_an_order_marked_as_paid_twice_at_once_delivers_each_piece_once(shop, card_product):
    chosen = {"recipient_email": "", "message": "", "send_on": ""}
    card_product.refresh_from_db()
    order = make_order(shop, sale_line(card_product, 3, gift_card=chosen))

    def mark() -> None:
        with suppress(OrderNotPayable):
            mark_paid(shop=shop, order=order, now=clock.now())

    run_concurrently(*[mark] * 3)
    assert sorted(GiftCard.objects.values_list("number", flat=True)) == [1, 2, 3]
    queued = run_concurrently(*[lambda: queue_due_cards(now=clock.now(), limit=10)] * 2)
    assert sum(queued) == 3
