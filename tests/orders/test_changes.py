"""Orders are marked as paid, fulfilled and cancelled once each."""

from datetime import timedelta

import pytest

from storefront.kit.refusals import Refusal
from storefront.orders.actions import OrderNotOpen
from storefront.orders.fulfilling import fulfil_order
from storefront.orders.models import Order
from storefront.payments import actions as payments
from storefront.payments.actions import OrderNotPayable
from storefront.payments.jobs import ask_providers
from storefront.payments.refunds import request_refund
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_product
from tests.orders.factories import Promise, make_order, sale_line
from tests.payments.conftest import stock
from tests.races import run_concurrently
from tests.shops.factories import NOW

LATER = NOW + timedelta(minutes=10)


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", stock_qty=10)


def placed(shop, mug, qty=2, **given) -> Order:
    return make_order(shop, sale_line(mug, qty), **given)


def held(mug) -> Promise:
    return Promise("demo", mug.price * 2, "demo_1", is_held=True)


def topics(shop) -> list[str]:
    return sorted(Event.objects.filter(shop=shop, topic__startswith="order.").values_list("topic", flat=True))


def test_order_is_marked_as_paid_once(shop, mug):
    order = payments.mark_paid(shop=shop, order=placed(shop, mug), now=LATER)
    assert (order.payment_status, order.payments.get().status) == ("paid", "paid")
    assert topics(shop) == ["order.paid", "order.placed"]
    with pytest.raises(OrderNotPayable):
        payments.mark_paid(shop=shop, order=order, now=LATER)


def test_cancelling_restocks_once_and_voids_the_payment(shop, mug):
    order = placed(shop, mug)
    assert stock(mug) == 8
    order = payments.cancel_order(shop=shop, order=order, now=LATER)
    assert (order.status, order.cancelled_at, order.payments.get().status) == ("cancelled", LATER, "voided")
    assert stock(mug) == 10
    for change in (payments.cancel_order, fulfil_order, payments.mark_paid):
        with pytest.raises(Refusal):
            change(shop=shop, order=order, now=LATER)
    assert stock(mug) == 10


def test_cancelling_does_not_restock_an_untracked_product(shop):
    sticker = make_product(shop, track_inventory=False, stock_qty=0)
    payments.cancel_order(shop=shop, order=placed(shop, sticker), now=LATER)
    assert stock(sticker) == 0


def test_an_order_of_another_shop_is_not_there(shop, other_shop, mug):
    order = placed(shop, mug)
    for change in (payments.cancel_order, fulfil_order, payments.mark_paid, request_refund):
        with pytest.raises(Order.DoesNotExist):
            change(shop=other_shop, order=order, now=LATER)


def test_worker_captures_an_authorised_payment(shop, mug):
    order = placed(shop, mug, promise=held(mug))
    with pytest.raises(OrderNotPayable):
        payments.mark_paid(shop=shop, order=order, now=NOW)
    assert ask_providers(now=NOW + timedelta(seconds=30), limit=10) == 0
    assert ask_providers(now=LATER, limit=10) == 1
    order.refresh_from_db()
    assert (order.payment_status, order.payments.get().status) == ("paid", "paid")
    assert ask_providers(now=LATER, limit=10) == 0
    assert topics(shop).count("order.paid") == 1


def test_worker_voids_the_authorised_payment_of_a_cancelled_order(shop, mug):
    order = placed(shop, mug, promise=held(mug))
    payments.cancel_order(shop=shop, order=order, now=NOW)
    assert ask_providers(now=LATER, limit=10) == 1
    order.refresh_from_db()
    assert (order.payment_status, order.payments.get().status) == ("pending", "voided")


def race(change, shop, order, times=6) -> int:
    """How many of several concurrent calls succeeded."""

    calls = [lambda: change(shop=shop, order=order, now=LATER)] * times
    return sum(not isinstance(answer, Refusal) for answer in run_concurrently(*calls, refusal=Refusal))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", [payments.cancel_order, fulfil_order, payments.mark_paid])
def test_concurrent_calls_make_each_change_once(shop, mug, change):
    assert race(change, shop, placed(shop, mug)) == 1
    assert stock(mug) == (10 if change is payments.cancel_order else 8)
    assert len(topics(shop)) == 2


@pytest.mark.django_db(transaction=True)
def test_concurrent_cancellation_and_fulfilment_do_one_of_the_two(shop, mug):
    order = placed(shop, mug)

    def ask(change, done: str) -> str:
        change(shop=shop, order=order, now=LATER)
        return done

    answers = run_concurrently(
        lambda: ask(payments.cancel_order, "cancelled"), lambda: ask(fulfil_order, "fulfilled"), refusal=OrderNotOpen
    )
    order.refresh_from_db()
    assert [answer for answer in answers if not isinstance(answer, OrderNotOpen)] == [order.status]
    assert stock(mug) == (10 if order.status == "cancelled" else 8)
