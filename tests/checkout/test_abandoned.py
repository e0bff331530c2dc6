"""`checkout.abandoned`: a checkout with an email address that was left without an order, reported once."""

from datetime import timedelta

import pytest
import time_machine

from storefront.checkout import queries
from storefront.checkout.actions import report_abandoned_checkout
from storefront.checkout.jobs import report_abandoned_checkouts
from storefront.checkout.models import Checkout
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.server.worker.sweeps import SWEEPS
from storefront.shops.models import AllowedOrigin
from storefront.webhooks.models import Event
from tests.addresses import ADDRESS
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper, fill_cart
from tests.client import ApiClient
from tests.races import run_concurrently
from tests.shops.factories import make_token

HOUR = timedelta(hours=1)


def sweep(later: timedelta = HOUR + timedelta(seconds=1), limit: int = 10) -> int:
    return report_abandoned_checkouts(now=clock.now() + later, limit=limit)


def reported() -> list[dict]:
    return [event.data for event in Event.objects.filter(topic="checkout.abandoned").order_by("pk")]


@pytest.fixture
def left(shop, api, mug, shopper) -> Shopper:
    """A shopper who left after the first step."""
    AllowedOrigin.objects.create(shop=shop, origin="https://www.example.com")
    cart = fill_cart(api, {"product_id": mug.pk, "qty": 2})
    given = {"client_reference": "s-1", "metadata": {"a": "b"}, "cancel_url": "https://www.example.com/cart"}
    shopper.arrive(api.post("/cart/checkout", given, cart=cart).json()["checkout_url"])
    assert shopper.fill_details().status_code == 303
    return shopper


@pytest.mark.rule("R-HOOK-25")
def test_a_checkout_that_was_left_is_reported_once_with_what_is_known(shop, left):
    assert sweep(timedelta(minutes=59)) == 0
    assert [sweep(), sweep()] == [1, 0]
    (data,) = reported()
    checkout = Checkout.objects.get()
    assert data["id"] == checkout.pk
    assert {name: data[name] for name in ("email", "currency", "customer_id", "client_reference", "metadata")} == {
        "email": "ada@example.com",
        "currency": "EUR",
        "customer_id": None,
        "client_reference": "s-1",
        "metadata": {"a": "b"},
    }
    assert data["cancel_url"] == "https://www.example.com/cart"
    assert data["shipping_address"] == checkout.shipping_address
    assert [(item["name_snapshot"], item["qty"]) for item in data["items"]] == [("Mug", 2)]
    assert data["totals"]["item_count"] == 2
    assert Event.objects.get(topic="checkout.abandoned").shop == shop
    assert report_abandoned_checkouts in [sweep.batch for sweep in SWEEPS]


@pytest.mark.rule("R-HOOK-25")
def test_a_change_begins_the_wait_again(left):
    with time_machine.travel(clock.now() + timedelta(minutes=40), tick=False):
        left.fill_details(email="grace@example.com")
        assert sweep(timedelta(minutes=50)) == 0
        assert sweep() == 1
    assert [data["email"] for data in reported()] == ["grace@example.com"]


@pytest.mark.rule("R-HOOK-25")
def test_the_operator_sets_the_time(settings, left):
    settings.ABANDONED_MINUTES = 5
    assert [sweep(timedelta(minutes=4)), sweep(timedelta(minutes=6))] == [0, 1]


@pytest.mark.rule("R-HOOK-25")
def test_an_order_is_no_abandoned_checkout(left):
    left.post("/checkout/payment", left.payment_fields())
    assert Order.objects.count() == 1
    assert sweep() == 0
    assert reported() == []


@pytest.mark.rule("R-HOOK-25")
def test_an_order_can_still_follow_and_nothing_is_reported_again(left):
    sweep()
    left.fill_details()
    assert sweep() == 0
    left.post("/checkout/payment", left.payment_fields())
    assert Order.objects.count() == len(reported()) == 1


@pytest.mark.rule("R-HOOK-25")
def test_an_emptied_basket_is_not_reported(left, mug):
    left.post("/basket/update", {"key": f"p{mug.pk}", "qty": "0"})
    assert [sweep(), sweep()] == [1, 0]
    assert reported() == []


@pytest.mark.rule("R-HOOK-25")
def test_a_basket_that_is_gone_is_not_reported(left):
    assert sweep(timedelta(days=8)) == 1
    assert reported() == []


@pytest.mark.rule("R-HOOK-25", "R-CART-19")
def test_a_cart_and_a_followed_link_alone_report_nothing(api, mug, shopper):
    shopper.bring(api, {"product_id": mug.pk})
    assert sweep() == 0
    assert not Event.objects.filter(topic="checkout.abandoned").exists()


def test_each_shop_hears_of_its_own_in_batches(left, other_shop):
    api, shopper = ApiClient(make_token(other_shop)), Shopper(other_shop)
    shopper.bring(api, {"product_id": make_product(other_shop, "Pan").pk})
    shopper.fill_details(email="eve@example.com")
    assert [sweep(limit=1), sweep(limit=1), sweep(limit=1)] == [1, 1, 0]
    events = Event.objects.filter(topic="checkout.abandoned")
    assert {(event.shop_id, event.data["email"]) for event in events} == {
        (left.shop.pk, "ada@example.com"),
        (other_shop.pk, "eve@example.com"),
    }


def test_what_other_shops_sent_is_in_no_event(left, other_shop):
    sweep()
    assert ADDRESS["name"] in str(reported())
    assert not Event.objects.filter(shop=other_shop).exists()


@pytest.mark.slow
@pytest.mark.rule("R-HOOK-25")
@pytest.mark.django_db(transaction=True)
def test_workers_at_once_report_a_checkout_once(left):
    checkout, now = Checkout.objects.get(), clock.now() + HOUR
    given = {"checkout_id": checkout.pk, "unchanged_since": now, "now": now}
    results = run_concurrently(*(lambda: report_abandoned_checkout(**given) for _ in range(4)))
    assert sorted(results) == [False, False, False, True]
    assert len(reported()) == 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_placing_beside_the_sweep_is_an_order_and_at_most_one_report(left):
    fields, now = left.payment_fields(), clock.now() + HOUR
    given = {"checkout_id": Checkout.objects.get().pk, "unchanged_since": now, "now": now}
    placed, _ = run_concurrently(
        lambda: left.post("/checkout/payment", fields).status_code, lambda: report_abandoned_checkout(**given)
    )
    assert placed == 303
    assert Order.objects.count() == 1
    events = list(Event.objects.filter(topic__in=["order.placed", "checkout.abandoned"]).order_by("pk"))
    assert [event.topic for event in events] in (["order.placed"], ["checkout.abandoned", "order.placed"])


def test_a_checkout_that_cannot_be_reported_keeps_no_other_waiting(shop, left, api, mug, monkeypatch):
    second = Shopper(shop)
    second.arrive(
        api.post("/cart/checkout", cart=fill_cart(api, {"product_id": mug.pk, "qty": 1})).json()["checkout_url"]
    )
    assert second.fill_details().status_code == 303
    first, other = Checkout.objects.order_by("updated_at")
    quote = queries.quote

    def broken_for_one(shop, cart, checkout, now):
        if checkout.pk == first.pk:
            raise ZeroDivisionError
        return quote(shop, cart, checkout, now)

    monkeypatch.setattr(queries, "quote", broken_for_one)
    assert sweep() == 1
    assert [data["id"] for data in reported()] == [other.pk]
    first.refresh_from_db()
    assert first.abandoned_at is None
