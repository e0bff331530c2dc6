"""One checkout becomes one order, whatever is clicked, reloaded or opened twice."""

import pytest

from storefront.orders.models import Order
from storefront.payments.models import Payment
from storefront.webhooks.models import Event
from tests.checkout.shopper import Shopper
from tests.races import run_concurrently


def test_sending_the_form_again_redirects_to_the_existing_order(api, shopper, mug, gateway):
    shopper.bring(api, {"product_id": mug.pk})
    shopper.fill_details()
    fields = shopper.payment_fields("demo")
    first, second = (shopper.post("/checkout/payment", fields) for _ in range(2))
    assert first["Location"] == second["Location"] == f"/orders/{Order.objects.get().public_id}"
    assert len(gateway.started) == 1
    assert Event.objects.filter(topic="order.placed").count() == 1


def test_a_second_tab_leads_to_the_order_even_after_new_things_are_in_the_basket(api, shopper, mug):
    shopper.bring(api, {"product_id": mug.pk})
    shopper.fill_details()
    tab = shopper.payment_fields()
    placed = shopper.post("/checkout/payment", tab)
    shopper.bring(api, {"product_id": mug.pk})
    assert shopper.post("/checkout/payment", tab)["Location"] == placed["Location"]
    assert Order.objects.count() == 1


def test_the_next_basket_of_the_same_visitor_becomes_an_order_of_its_own(api, shopper, mug):
    for _ in range(2):
        shopper.bring(api, {"product_id": mug.pk})
        assert shopper.order().status_code == 303
    first, second = Order.objects.order_by("number")
    assert second.number == first.number + 1


def test_somebody_elses_checkout_cannot_be_sent(shop, api, shopper, mug):
    shopper.bring(api, {"product_id": mug.pk})
    shopper.fill_details()
    fields = shopper.payment_fields()
    shopper.post("/checkout/payment", fields)
    stranger = Shopper(shop)
    assert stranger.post("/checkout/payment", fields)["Location"] == "/basket"


@pytest.mark.django_db(transaction=True)
def test_concurrent_presses_join_one_payment_and_place_one_order(api, shop, mug, gateway):
    shopper = Shopper(shop)
    shopper.bring(api, {"product_id": mug.pk})
    shopper.fill_details()
    fields = shopper.payment_fields("demo")
    tabs = [Shopper(shop) for _ in range(6)]
    for tab in tabs:
        tab.browser.cookies = shopper.browser.cookies

    led_to = run_concurrently(*(lambda tab=tab: tab.post("/checkout/payment", fields)["Location"] for tab in tabs))

    order = Order.objects.get()
    assert set(led_to) == {f"/orders/{order.public_id}"}
    # Some presses may have asked again, with the same key: it is one payment.
    assert set(gateway.started) == set(gateway.captured) == {Payment.objects.get().reference}
    assert gateway.cancelled == []
    mug.refresh_from_db()
    assert mug.stock_qty == 49
