"""A provider's news: forged, twice, too early, too late, and of another shop."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from storefront.orders.models import Order
from storefront.payments.accounts import save_settings
from storefront.payments.jobs import ask_providers
from storefront.payments.models import Payment, PaymentEntry
from storefront.payments.providers.registry import PROVIDERS
from storefront.webhooks.models import Event
from tests.payments.bank import SECRET
from tests.payments.conftest import account_of, press, return_path, stock
from tests.races import run_concurrently
from tests.shops.factories import NOW


def send(shop, body: bytes, headers: dict[str, str], provider: str = "bank"):
    browser = Client(headers={"host": shop.domain} | headers)
    return browser.post(f"/payments/{provider}/news", body, content_type="application/json")


def test_news_before_the_shopper_comes_back_place_the_order(bank, shop, shopper, mug):
    press(shopper, mug)
    bank.pay(account_of(bank))
    assert send(shop, *bank.news(account_of(bank))).status_code == 200
    order = Order.objects.get()
    assert order.payment_status == "paid"
    assert shopper.get(return_path())["Location"] == f"/orders/{order.public_id}"
    assert Event.objects.filter(topic="order.paid").count() == 1


def test_the_same_event_is_logged_once_and_changes_nothing_the_second_time(bank, shop, shopper, mug):
    press(shopper, mug)
    bank.pay(account_of(bank))
    event = bank.news(account_of(bank), "evt_1")
    assert [send(shop, *event).status_code for _ in range(3)] == [200] * 3
    assert PaymentEntry.objects.filter(event_id="evt_1").count() == 1
    assert bank.calls.count("look") == 1
    assert Payment.objects.get().captured == bank.held


@pytest.mark.parametrize("secret", ["", "wrong", SECRET[:-1]])
def test_forged_news_are_refused(bank, shop, shopper, mug, secret):
    press(shopper, mug)
    bank.pay(account_of(bank))
    assert send(shop, *bank.news(account_of(bank), secret=secret)).status_code == 400
    assert not PaymentEntry.objects.filter(kind="news").exists()
    assert not Order.objects.exists()


def test_news_say_only_that_something_happened(bank, shop, shopper, mug):
    """Whoever knows the secret can have the bank asked, and no more."""
    press(shopper, mug)
    assert send(shop, *bank.news(account_of(bank))).status_code == 200
    assert (Payment.objects.get().state, Order.objects.count()) == ("open", 0)


def test_one_shops_news_do_not_move_another_shops_payment(bank, shop, other_shop, shopper, mug):
    settings = {"api": bank.url, "secret": "others_secret", "capture": "at_once"}
    save_settings(shop=other_shop, provider=PROVIDERS["bank"], given=settings, now=NOW)
    press(shopper, mug)
    bank.pay(account_of(bank))
    assert send(other_shop, *bank.news(account_of(bank), secret="others_secret")).status_code == 200
    assert send(other_shop, *bank.news(account_of(bank))).status_code == 400
    assert not PaymentEntry.objects.filter(kind="news").exists()
    assert not Order.objects.exists()


def test_news_of_a_payment_whose_start_had_no_answer_find_it_by_our_key(bank, shop, shopper, mug):
    bank.deaf = {"start"}
    press(shopper, mug)
    bank.pay(account_of(bank))
    assert send(shop, *bank.news(account_of(bank))).status_code == 200
    assert Order.objects.get().payment_status == "paid"


def test_news_while_the_bank_is_silent_are_kept_for_the_worker(bank, shop, shopper, mug):
    press(shopper, mug)
    bank.pay(account_of(bank))
    bank.silent = {"look"}
    assert send(shop, *bank.news(account_of(bank))).status_code == 200
    assert not Order.objects.exists()
    bank.silent = set()
    assert ask_providers(now=timezone.now() + timedelta(seconds=1), limit=10) == 1
    assert Order.objects.get().payment_status == "paid"


def test_news_of_nothing_of_ours_are_accepted_and_what_is_no_news_is_refused(bank, shop):
    account = bank._open({"key": "0" * 32, "amount": "1.00", "is_held": False, "return_url": "/"})
    assert send(shop, *bank.news(account)).status_code == 200
    assert send(shop, b"{", {}).status_code == 400
    assert send(shop, b"{}", {}, provider="demo").status_code == 400
    assert send(shop, b"{}", {}, provider="nobody").status_code == 404
    assert send(shop, b"x" * 300_000, {}).status_code == 413
    assert Client(headers={"host": shop.domain}).get("/payments/bank/news").status_code == 405


def test_news_arrive_on_the_secure_host_too(bank, shop, shopper, mug, apart):
    body, headers = bank.news(bank._open({"key": "1" * 32, "amount": "1.00", "is_held": False, "return_url": "/"}))
    browser = Client(headers={"host": "secure.example.com"} | headers)
    path = f"/{shop.domain}/payments/bank/news"
    assert browser.post(path, body, content_type="application/json").status_code == 200


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_news_and_the_return_at_once_place_one_order(bank, shop, shopper, mug):
    press(shopper, mug)
    bank.pay(account_of(bank))
    path = return_path()

    def sweep():
        return ask_providers(now=timezone.now() + timedelta(hours=1), limit=10)

    calls = [lambda: send(shop, *bank.news(account_of(bank))).status_code] * 4
    run_concurrently(*calls, *[lambda: shopper.get(path).status_code] * 3, sweep, sweep)

    assert Order.objects.get().payment_status == "paid"
    assert Event.objects.filter(topic="order.paid").count() == 1
    assert sum(PaymentEntry.objects.values_list("amount", flat=True)) == bank.held
    assert stock(mug) == 9
