"""A stranger, a merchant of another shop, and a provider that answers anything."""

from decimal import Decimal

import pytest
from django.utils import timezone

from storefront.orders.models import Order
from storefront.payments.accounts import save_settings
from storefront.payments.models import Payment, PaymentEntry, ProviderAccount, Refund
from storefront.payments.providers.registry import PROVIDERS
from storefront.payments.refunds import request_refund
from tests.checkout.shopper import Shopper
from tests.payments.bank import SECRET
from tests.payments.conftest import account_of, press, return_path, stock
from tests.payments.test_news import send
from tests.payments.test_redirect import later
from tests.shops.factories import NOW
from tests.staff import admin_url


def test_news_replayed_at_a_shop_with_the_same_bank_account_change_nothing_there(bank, shop, other_shop, shopper, mug):
    """A merchant with two shops and one account: each event is for the shop of its payment."""
    settings = {"api": bank.url, "secret": SECRET, "capture": "at_once"}
    save_settings(shop=other_shop, provider=PROVIDERS["bank"], given=settings, now=NOW)
    press(shopper, mug)
    bank.pay(account_of(bank))
    event = bank.news(account_of(bank), "evt_1")
    for _ in range(3):
        assert send(other_shop, *event).status_code == 200
    assert not PaymentEntry.objects.filter(kind="news").exists()
    assert not Order.objects.exists()
    assert send(shop, *event).status_code == 200
    assert Order.objects.get().shop == shop


@pytest.mark.parametrize("reference", ["\0", "x\0", "y" * 5000, "💶" * 300])
def test_news_with_impossible_ids_are_no_trouble(bank, shop, shopper, mug, reference):
    press(shopper, mug)
    account = account_of(bank)
    account.id = reference
    assert send(shop, *bank.news(account, f"evt{reference}")).status_code == 200
    assert PaymentEntry.objects.filter(kind="news").count() == 1, "found by our key"


def test_a_price_that_changes_after_the_press_changes_nothing(bank, shop, shopper, mug):
    press(shopper, mug)
    mug.price = Decimal("99.00")
    mug.save()
    bank.pay(account_of(bank))
    shopper.get(return_path())
    order = Order.objects.get()
    assert (order.total, order.payment_status, bank.held) == (Decimal("9.50"), "paid", Decimal("9.50"))


def test_a_currency_that_changes_after_the_press_changes_nothing(bank, shop, shopper, mug):
    press(shopper, mug)
    shop.currency = "JPY"
    shop.save()
    bank.pay(account_of(bank))
    assert "9.50" in shopper.get(return_path(), follow=True).content.decode()
    order = Order.objects.get()
    assert (order.total, order.currency, order.payment_status) == (Decimal("9.50"), "EUR", "paid")
    request_refund(shop=shop, order=order, now=timezone.now())
    later(minutes=2)
    assert (Refund.objects.get().currency, Refund.objects.get().status, bank.held) == ("EUR", "done", 0)


def test_a_currency_that_changes_before_the_press_is_shown_first(bank, shop, shopper, mug):
    shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})
    shopper.fill_details()
    form = shopper.payment_fields("bank")
    shop.currency = "JPY"
    shop.save()
    answer = shopper.post("/checkout/payment", form)
    assert answer.status_code in (409, 422)
    assert not bank.accounts
    assert not Payment.objects.exists()


def test_back_and_a_second_press_after_paying_lead_to_the_order(bank, shopper, mug):
    shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})
    shopper.fill_details()
    form = shopper.payment_fields("bank")
    shopper.post("/checkout/payment", form)
    bank.pay(account_of(bank))
    for _ in range(2):
        answer = shopper.post("/checkout/payment", form)
        assert answer["Location"] == f"/orders/{Order.objects.get().public_id}"
    assert (len(bank.accounts), Order.objects.count(), stock(mug)) == (1, 1, 9)


def test_another_basket_in_a_second_tab_after_paying_in_the_first_is_not_lost(bank, shopper, mug):
    press(shopper, mug)
    bank.pay(account_of(bank))
    shopper.post("/basket/add", {"product": mug.pk, "qty": "2"})
    shopper.get(return_path())
    assert (Order.objects.get().total, bank.held) == (Decimal("9.50"), Decimal("9.50"))
    assert 'value="2"' in shopper.read("/basket")


def test_a_copied_address_of_an_open_payment_ends_nothing(bank, shop, shopper, mug):
    press(shopper, mug)
    thief = Shopper(shop)
    thief.post("/basket/add", {"product": mug.pk, "qty": "1"})
    for path in ("/return", "/another", ""):
        address = return_path().removesuffix("/return") + path
        page = thief.post(address, {}) if path == "/another" else thief.get(address)
        assert "started in another browser" in page.content.decode()
    assert (account_of(bank).state, bank.calls, stock(mug)) == ("open", ["start"], 9)


def test_amounts_that_are_none_are_not_refunded(bank, shopper, mug, api, desk):
    press(shopper, mug)
    bank.pay(account_of(bank))
    shopper.get(return_path())
    order = Order.objects.get()
    url = admin_url(order, "change").replace("change/", "refund/")
    for amount in ("1e400", "-1", "NaN", "Infinity", "0", "9.501", "0.001", "1e-9"):
        assert api.post(f"/orders/{order.pk}/refunds", {"amount": amount}).status_code == 422
        desk.post(url, {"_form_submitted": "on", "amount": amount, "reason": ""})
    later()
    assert (Refund.objects.count(), bank.held) == (0, order.total)


def test_a_connection_that_answers_garbage_is_told_in_words(bank, shop, desk, monkeypatch):
    def garbage(_settings):
        raise KeyError("charges_enabled")

    monkeypatch.setattr(PROVIDERS["bank"], "check", garbage)
    url = admin_url(ProviderAccount.objects.get(), "change").replace("change/", "check_connection/")
    assert "The provider did not answer." in desk.post(url, {"_form_submitted": "on"}, follow=True).content.decode()
