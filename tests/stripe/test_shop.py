"""A shop that sells through the fake: what becomes of orders, stock and money."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest
import stripe
from django.test import Client

from storefront.kit import clock
from storefront.orders.fulfilling import fulfil_order
from storefront.orders.models import Order
from storefront.payments.actions import cancel_order
from storefront.payments.models import Payment, Refund
from storefront.payments.refunds import request_refund
from storefront.shops.models import Shop
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.shops.factories import make_shop
from tests.stripe.client import KEYS
from tests.stripe.selling import books_agree, offer_stripe, run_worker

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

PAYS, DISPUTED = "4242424242424242", "4000000000000259"
NEWS = "/payments/stripe/news"


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", price=Decimal("9.50"), stock_qty=10)


@pytest.fixture
def press(shop, mug, fake):
    """Press pay for a mug. Returns the PaymentIntent."""

    def pressed(capture: str = "at_once") -> dict:
        offer_stripe(shop, capture)
        shopper = Shopper(shop)
        shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})
        answer = shopper.order("stripe")
        assert answer.status_code == 303, answer.content
        pressed.shopper, pressed.page = shopper, answer["Location"]
        return fake.intent()

    return pressed


def send(event: dict, host: str = "shop.example.com", secret: str = KEYS["webhook_secret"]) -> int:
    body = json.dumps(event)
    signature = stripe.WebhookSignature.generate_signature_header(body, secret)
    headers = {"host": host, "Stripe-Signature": signature}
    return Client().post(NEWS, body, "application/json", headers=headers).status_code


def stock(mug) -> int:
    mug.refresh_from_db()
    return mug.stock_qty


def test_the_page_lets_in_stripe_alone_and_holds_no_secret_key(press, fake):
    press()

    page = press.shopper.get(press.page)

    policy = page["Content-Security-Policy"]
    assert f"frame-src 'self' {fake.url};" in f"{policy};"
    assert f"script-src 'self' {fake.url};" in f"{policy};"
    assert f'payment=(self "{fake.url}")' in page["Permissions-Policy"]
    assert fake.url not in press.shopper.get("/basket")["Content-Security-Policy"]
    assert "payment=" not in press.shopper.get("/basket")["Permissions-Policy"]
    assert KEYS["secret_key"].encode() not in page.content
    assert "no-store" in page["Cache-Control"]


def test_news_places_the_order_whatever_its_order_and_number(press, fake, mug):
    intent = press()
    fake("confirm", intent=intent["id"], number=PAYS)

    for event in [*reversed(fake("seen")["events"]), *fake("seen")["events"]]:
        assert send(event) == 200

    order = Order.objects.get()
    assert (order.payment_status, stock(mug)) == ("paid", 9)
    payment = Payment.objects.get()
    assert books_agree(payment, fake.intent())
    assert payment.entries.filter(kind="captured").count() == 1
    # Each event is logged once: created, charge.succeeded, payment_intent.succeeded.
    assert payment.entries.filter(kind="news").count() == 3


def test_forged_news_and_those_of_another_shop_change_nothing(press, fake):
    other = make_shop("other.example.com")
    offer_stripe(other)
    intent = press()
    fake("confirm", intent=intent["id"], number=PAYS)
    event = fake("seen")["events"][-1]

    assert send(event, secret="whsec_other") == 400
    assert send(event, host="other.example.com") == 200

    assert Payment.objects.get().entries.filter(kind="news").count() == 0
    assert Order.objects.count() == 0


def test_news_in_advance_of_our_own_answer_finds_the_payment(press, fake):
    """The start had no answer, so that the shop does not know Stripe's id."""
    fake.fail("payment_intents$", "lost")
    intent = press()
    assert Payment.objects.get().reference == ""
    fake("confirm", intent=intent["id"], number=PAYS)

    assert send(fake("seen")["events"][-1]) == 200

    assert Payment.objects.get().reference == intent["id"]
    assert Order.objects.get().payment_status == "paid"


def test_what_is_not_paid_in_time_is_cancelled_and_the_stock_is_back(press, fake, mug):
    press()
    assert stock(mug) == 9

    run_worker(after=timedelta(minutes=31))

    assert fake.intent()["status"] == "canceled"
    assert stock(mug) == 10


def test_paying_just_before_the_end_is_an_order(press, fake, mug):
    intent = press()
    fake("confirm", intent=intent["id"], number=PAYS)

    run_worker(after=timedelta(minutes=31))

    assert Order.objects.get().payment_status == "paid"
    assert stock(mug) == 9


def test_pressing_again_is_the_same_payment(press, fake, mug):
    intent = press()

    press.shopper.order("stripe")

    assert [each["id"] for each in fake.objects("payment_intent")] == [intent["id"]]
    assert stock(mug) == 9


def test_another_basket_ends_the_payment_at_stripe(press, fake, mug):
    first = press()
    press.shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})

    press.shopper.order("stripe")

    second, ended = fake.objects("payment_intent")
    assert (ended["id"], ended["status"]) == (first["id"], "canceled")
    assert (second["amount"], stock(mug)) == (1900, 8)


def test_what_was_paid_in_another_tab_is_not_paid_again(press, fake, mug):
    intent = press()
    press.shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})
    fields = press.shopper.payment_fields("stripe")
    fake("confirm", intent=intent["id"], number=PAYS)

    answer = press.shopper.post("/checkout/payment", fields)

    assert Order.objects.get().payment_status == "paid"
    assert len(fake.objects("payment_intent")) == 1
    assert answer["Location"] == f"/orders/{Order.objects.get().public_id}"


def test_a_card_is_held_until_the_order_is_fulfilled(press, fake, shop):
    intent = press("on_fulfilment")
    fake("confirm", intent=intent["id"], number=PAYS)
    run_worker(after=timedelta(minutes=2))
    order = Order.objects.get()
    assert (order.payment_status, fake.intent()["status"]) == ("pending", "requires_capture")

    fulfil_order(shop=shop, order=order, now=clock.now())
    run_worker(after=timedelta(minutes=70))

    order.refresh_from_db()
    assert (order.payment_status, fake.intent()["status"]) == ("paid", "succeeded")


def test_cancelling_an_order_releases_the_held_money(press, fake, shop):
    intent = press("on_fulfilment")
    fake("confirm", intent=intent["id"], number=PAYS)
    run_worker(after=timedelta(minutes=2))

    cancel_order(shop=shop, order=Order.objects.get(), now=clock.now())
    run_worker(after=timedelta(minutes=70))

    assert fake.intent()["status"] == "canceled"
    assert Payment.objects.get().state == "cancelled"


def test_refunds_arrive_at_stripe_once(press, fake, shop):
    intent = press()
    fake("confirm", intent=intent["id"], number=PAYS)
    run_worker(after=timedelta(minutes=2))
    order = Order.objects.get()
    request_refund(shop=shop, order=order, amount=Decimal("4.00"), now=clock.now())
    fake.fail("POST /v1/refunds", "lost")

    run_worker()
    run_worker(after=timedelta(hours=2))

    assert [each["amount"] for each in fake.objects("refund")] == [400]
    refund = Refund.objects.get()
    assert (refund.status, refund.reference) == ("done", fake.objects("refund")[0]["id"])
    for event in fake("seen")["events"]:
        send(event)
    assert books_agree(Payment.objects.get(), fake.intent())
    assert Payment.objects.get().returned == Decimal("4.00")


@pytest.mark.parametrize("heard", ["news", "worker"])
def test_a_refund_that_fails_later_is_taken_back(press, fake, shop, heard):
    intent = press()
    fake("confirm", intent=intent["id"], number=PAYS)
    run_worker(after=timedelta(minutes=2))
    for amount in ("4.00", "5.50"):
        request_refund(shop=shop, order=Order.objects.get(), amount=Decimal(amount), now=clock.now())
        run_worker()
    assert Order.objects.get().payment_status == "refunded"

    fake("act", verb="fail_refund", intent=intent["id"])
    if heard == "news":
        assert send(fake("seen")["events"][-1]) == 200
    else:
        run_worker(after=timedelta(hours=2))

    failed, order = Refund.objects.get(amount=Decimal("5.50")), Order.objects.get()
    assert failed.failure == "Stripe could not give the money back (expired_or_canceled_card)."
    assert (failed.status, order.payment_status, order.refunded) == ("failed", "partially_refunded", Decimal("4.00"))
    assert books_agree(Payment.objects.get(), fake.intent())
    request_refund(shop=shop, order=order, now=clock.now())
    run_worker()
    assert Order.objects.get().payment_status == "refunded"


@pytest.mark.parametrize("end", ["finish_refund", "fail_refund"])
def test_a_refund_that_takes_days_counts_once_it_has_arrived(press, fake, end):
    intent = press()
    fake("confirm", intent=intent["id"], number=PAYS)
    run_worker(after=timedelta(minutes=2))
    fake("configure", refund_status="pending")
    request_refund(shop=Shop.objects.get(), order=Order.objects.get(), amount=Decimal("4.00"), now=clock.now())
    run_worker()
    run_worker(after=timedelta(minutes=5))
    refund = Refund.objects.get()
    assert (refund.status, refund.reference) == ("pending", fake.objects("refund")[0]["id"])
    assert (Order.objects.get().refunded, Payment.objects.get().refunded) == (0, Decimal("4.00"))

    fake("act", verb=end, intent=intent["id"])
    for event in fake("seen")["events"]:
        assert send(event) == 200
    run_worker()

    refund.refresh_from_db()
    status, sum_of_order = ("done", Decimal("4.00")) if end == "finish_refund" else ("failed", 0)
    assert (refund.status, Order.objects.get().refunded) == (status, sum_of_order)
    assert books_agree(Payment.objects.get(), fake.intent())


def test_refunds_in_the_dashboard_and_here_are_each_their_own(press, fake):
    """One of the same amount each, of which the news come late and backwards."""
    intent = press()
    fake("confirm", intent=intent["id"], number=PAYS)
    run_worker(after=timedelta(minutes=2))
    fake("act", verb="refund_in_dashboard", intent=intent["id"])
    request_refund(shop=Shop.objects.get(), order=Order.objects.get(), amount=Decimal("4.00"), now=clock.now())
    run_worker()
    for event in reversed(fake("seen")["events"]):
        assert send(event) == 200
    run_worker(after=timedelta(hours=2))

    rows = dict(Refund.objects.values_list("reference", "is_foreign"))
    assert rows == {each["id"]: not each["metadata"] for each in fake.objects("refund")}
    assert (len(rows), Order.objects.get().refunded) == (2, Decimal("8.00"))
    events = [event.data["refunded"] for event in Event.objects.filter(topic="order.refunded").order_by("pk")]
    assert events == ["4.00", "8.00"]
    assert books_agree(Payment.objects.get(), fake.intent())


@pytest.mark.parametrize("lie", [{"amount_received": 0}, {"currency": "usd"}, {"amount": 1}, {"amount_received": 9999}])
def test_what_stripe_cannot_have_done_places_no_order(press, fake, lie):
    intent = press()
    fake("confirm", intent=intent["id"], number=PAYS)
    fake("lie", **lie)

    assert send(fake("seen")["events"][-1]) == 200
    run_worker(after=timedelta(minutes=2))

    assert Order.objects.count() == 0
    assert (Payment.objects.get().state, Payment.objects.get().captured) == ("open", 0)
    assert Payment.objects.get().alert


def test_a_dispute_without_news_is_seen_by_the_worker(press, fake):
    intent = press()
    fake("confirm", intent=intent["id"], number=PAYS)
    run_worker(after=timedelta(minutes=2))
    fake("act", verb="dispute", intent=intent["id"])

    run_worker(after=timedelta(hours=2))

    assert Payment.objects.get().dispute == "Needs response (fraudulent)"


def test_a_dispute_shows_and_is_over_when_won(press, fake):
    intent = press()
    fake("confirm", intent=intent["id"], number=DISPUTED)
    for event in fake("seen")["events"]:
        send(event)
    payment = Payment.objects.get()
    assert (payment.disputed, payment.dispute) == (Decimal("9.50"), "Needs response (fraudulent)")

    fake("close_dispute", status="won")
    send(fake("seen")["events"][-1])

    payment.refresh_from_db()
    assert (payment.disputed, payment.dispute, payment.state) == (0, "Won (fraudulent)", "paid")
    assert books_agree(payment, fake.intent())


def test_wrong_keys_do_not_reach_the_shopper_in_words_of_the_merchant(shop, mug, fake):
    offer_stripe(shop, secret_key="sk_test_51Wrong")
    shopper = Shopper(shop)
    shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})

    page = shopper.order("stripe").content.decode()

    assert "This payment method is not available at the moment." in page
    assert "secret key" not in page
    assert stock(mug) == 10
