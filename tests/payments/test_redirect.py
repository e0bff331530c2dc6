"""Paying at a provider that shoppers are redirected to, and everything that goes wrong on the way."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from storefront.orders.models import Order
from storefront.payments.asking import ASKED_EVERY
from storefront.payments.jobs import ask_providers, delete_old_drafts, end_expired_drafts, pay_back_refunds
from storefront.payments.models import OrderDraft, Payment, PaymentEntry, Refund
from storefront.webhooks.models import Event
from tests.checkout.shopper import Shopper
from tests.payments.conftest import account_of, press, return_path, stock


def later(**given) -> None:
    """What the worker does after this time, until nothing is due."""
    now = timezone.now() + timedelta(**given)
    for sweep in (ask_providers, end_expired_drafts, ask_providers, pay_back_refunds):
        for _ in range(10):
            if not sweep(now=now, limit=100):
                break


def test_shopper_pays_at_the_bank_and_comes_back_to_the_order(bank, shopper, mug):
    answer = press(shopper, mug)
    account = account_of(bank)
    assert (answer.status_code, answer["Location"]) == (303, f"{bank.url}/pay/{account.id}")
    # Until then: stock is held, and there is no order.
    assert stock(mug) == 9
    assert (Payment.objects.get().state, Order.objects.count()) == ("open", 0)
    bank.pay(account)
    back = shopper.get(account.return_url.removeprefix("https://shop.example.com"))
    order = Order.objects.get()
    assert back["Location"] == f"/orders/{order.public_id}"
    assert (order.payment_status, order.payments.get().captured, stock(mug)) == ("paid", order.total, 9)
    topics = Event.objects.filter(topic__startswith="order.").values_list("topic", flat=True)
    assert sorted(topics) == ["order.paid", "order.placed"]
    assert shopper.browser.get("/basket").content.count(b"Your basket is empty") == 1


def test_declined_at_the_bank_puts_the_stock_back_and_says_why(bank, shopper, mug):
    press(shopper, mug)
    bank.pay(account_of(bank), "decline")
    back = shopper.get(return_path(), follow=True)
    assert b"The bank declined the payment. Nothing was charged." in back.content
    assert (stock(mug), Order.objects.count(), OrderDraft.objects.get().state) == (10, 0, "ended")
    # Another try is another payment.
    assert press(shopper, mug)["Location"].startswith(bank.url)
    assert Payment.objects.count() == 2


def test_shopper_who_closes_the_tab_gets_the_order(bank, shopper, mug):
    press(shopper, mug)
    bank.pay(account_of(bank))
    later(minutes=2)
    order = Order.objects.get()
    assert (order.payment_status, order.email) == ("paid", "ada@example.com")
    assert shopper.get(return_path())["Location"] == f"/orders/{order.public_id}"


def test_a_shopper_who_never_pays_gives_the_stock_back(bank, shopper, mug):
    press(shopper, mug)
    later(minutes=20)
    assert (stock(mug), Payment.objects.get().state) == (9, "open")
    later(minutes=31)
    assert (stock(mug), Payment.objects.get().state) == (10, "cancelled")
    assert account_of(bank).state == "cancelled"
    later(hours=3)
    assert stock(mug) == 10


def test_a_bank_that_does_not_answer_the_start_shows_that_the_payment_is_checked(bank, shopper, mug):
    bank.silent = {"start", "look"}
    answer = press(shopper, mug)
    assert (answer.status_code, answer["Location"]) == (303, return_path())
    page = shopper.read(return_path())
    assert "Your payment is being checked" in page
    assert 'http-equiv="refresh"' in page
    assert stock(mug) == 9
    bank.silent = set()
    # The bank has never heard of it, so nothing can come of it.
    later(minutes=2)
    assert (stock(mug), Payment.objects.get().state, Order.objects.count()) == (10, "cancelled", 0)


def test_a_bank_that_does_not_answer_when_the_shopper_comes_back_is_not_taken_for_unpaid(bank, shopper, mug):
    press(shopper, mug)
    bank.pay(account_of(bank))
    bank.silent = {"look"}
    assert "Your payment is being checked" in shopper.read(return_path())
    bank.silent = set()
    with time_machine.travel(timezone.now() + ASKED_EVERY):
        assert shopper.get(return_path())["Location"].startswith("/orders/")


def test_an_answer_that_is_lost_is_found_by_our_key(bank, shopper, mug):
    bank.deaf = {"start"}
    press(shopper, mug)
    bank.pay(account_of(bank))
    later(minutes=2)
    payment = Payment.objects.get()
    assert (payment.state, payment.reference) == ("paid", account_of(bank).id)
    assert Order.objects.get().payment_status == "paid"


def test_money_that_comes_after_the_stock_went_back_takes_it_again(bank, shopper, mug):
    press(shopper, mug)
    bank.pay(account_of(bank), "later")
    # The bank was too late to cancel it, and says so.
    later(hours=1)
    assert (stock(mug), Payment.objects.get().state) == (9, "processing")
    OrderDraft.objects.update(state="ended", stock_taken=[])
    mug.stock_qty = 10
    mug.save()
    bank.pay(account_of(bank))
    later(hours=3)
    assert (stock(mug), Order.objects.get().payment_status) == (9, "paid")


def test_money_that_comes_when_the_last_piece_is_gone_goes_back(bank, shopper, mug):
    press(shopper, mug)
    bank.pay(account_of(bank), "later")
    OrderDraft.objects.update(state="ended", stock_taken=[])
    mug.stock_qty = 0
    mug.save()
    bank.pay(account_of(bank))
    assert "came too late" in shopper.read(return_path())
    later(minutes=1)
    assert (bank.held, Order.objects.count(), stock(mug)) == (0, 0, 0)
    assert (Refund.objects.get().status, Refund.objects.get().order) == ("done", None)


def test_money_for_a_draft_that_was_deleted_long_ago_goes_back(bank, shopper, mug):
    press(shopper, mug)
    later(hours=1)
    assert delete_old_drafts(now=timezone.now() + timedelta(days=13), limit=10) == 0
    assert delete_old_drafts(now=timezone.now() + timedelta(days=15), limit=10) == 1
    account_of(bank).state = "open"
    bank.pay(account_of(bank))
    Payment.objects.update(due_at=timezone.now())
    later(days=16)
    assert (account_of(bank).refunded, bank.held, Order.objects.count()) == (mug.price, 0, 0)


def test_pressing_the_same_again_continues_the_same_payment(bank, shopper, mug):
    shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})
    shopper.fill_details()
    form = shopper.payment_fields("bank")
    first, second = (shopper.post("/checkout/payment", form)["Location"] for _ in range(2))
    assert first == second == f"{bank.url}/pay/{account_of(bank).id}"
    assert stock(mug) == 9


@pytest.mark.slow
def test_who_holds_the_last_piece_can_continue_or_choose_another_method(bank, shopper, mug):
    mug.stock_qty = 1
    mug.save()
    press(shopper, mug)
    assert stock(mug) == 0
    assert "Your payment is not finished" in shopper.read(return_path())
    again = shopper.post("/checkout/payment", shopper.payment_fields("bank"))
    assert again["Location"] == f"{bank.url}/pay/{account_of(bank).id}"
    assert shopper.get(return_path().removesuffix("/return"))["Location"] == f"{bank.url}/pay/{account_of(bank).id}"
    assert shopper.post(return_path().replace("/return", "/another"), {})["Location"] == "/checkout/payment"
    assert (stock(mug), account_of(bank).state) == (1, "cancelled")
    assert shopper.post("/checkout/payment", shopper.payment_fields("manual")).status_code == 303
    assert Order.objects.get().payment_method == "manual"


def test_who_pays_for_a_piece_that_is_taken_off_sale_meanwhile_can_continue(bank, shopper, mug):
    press(shopper, mug)
    mug.status = "draft"
    mug.save()
    assert shopper.get("/checkout/payment")["Location"] == return_path()
    bank.pay(account_of(bank))
    shopper.get(return_path())
    assert Order.objects.get().payment_status == "paid"


def test_pressing_something_else_ends_the_first_payment(bank, shopper, mug):
    press(shopper, mug)
    first = account_of(bank)
    answer = shopper.post("/checkout/payment", shopper.payment_fields("manual"))
    order = Order.objects.get()
    assert answer["Location"] == f"/orders/{order.public_id}"
    assert (first.state, order.payment_method, stock(mug)) == ("cancelled", "manual", 9)


@pytest.mark.slow
def test_pressing_something_else_after_paying_leads_to_the_order_that_was_paid(bank, shopper, mug):
    press(shopper, mug)
    bank.pay(account_of(bank))
    answer = shopper.post("/checkout/payment", shopper.payment_fields("manual"))
    order = Order.objects.get()
    assert answer["Location"] == f"/orders/{order.public_id}"
    assert (order.payment_method, order.payment_status, stock(mug)) == ("bank", "paid", 9)


def test_pressing_something_else_while_the_bank_is_silent_says_that_the_first_is_checked(bank, shopper, mug):
    press(shopper, mug)
    bank.silent = {"cancel", "look"}
    answer = shopper.post("/checkout/payment", shopper.payment_fields("manual"))
    assert answer["Location"] == return_path()
    assert (Order.objects.count(), stock(mug)) == (0, 9)


def test_another_browser_sees_nothing_of_the_payment(bank, shop, shopper, mug):
    press(shopper, mug)
    for path in (return_path(), return_path().removesuffix("/return")):
        page = Shopper(shop).read(path)
        assert "started in another browser" in page
        assert "ada@example.com" not in page
        assert bank.calls == ["start"]


def test_a_payment_of_another_shop_is_not_there(bank, other_shop, shopper, mug):
    press(shopper, mug)
    assert Shopper(other_shop).get(return_path()).status_code == 404


def test_money_is_held_until_something_is_shipped(bank, shop, shopper, mug, api):
    from storefront.orders.fulfilling import fulfil_order
    from storefront.payments.models import ProviderAccount

    account = ProviderAccount.objects.get()
    account.values["capture"] = "on_fulfilment"
    account.save()
    press(shopper, mug)
    bank.pay(account_of(bank))
    shopper.get(return_path())
    order = Order.objects.get()
    later(hours=2)
    assert (order.payments.get().state, bank.held, order.payment_status) == ("authorised", 0, "pending")
    fulfil_order(shop=shop, order=order, now=timezone.now())
    later(hours=2)
    order.refresh_from_db()
    assert (order.payments.get().state, bank.held, order.payment_status) == ("paid", order.total, "paid")


def test_the_log_says_what_happened_and_adds_up(bank, shopper, mug):
    press(shopper, mug)
    bank.pay(account_of(bank))
    shopper.get(return_path())
    entries = list(PaymentEntry.objects.values_list("kind", "from_state", "to_state", "source"))
    assert entries == [
        ("state", "", "started", "call"),
        ("state", "started", "open", "call"),
        ("captured", "open", "paid", "look"),
    ]
    assert sum(PaymentEntry.objects.values_list("amount", flat=True)) == bank.held


def test_the_payment_page_lets_forms_lead_to_the_bank_and_no_other_page_does(bank, shopper, mug):
    shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})
    shopper.fill_details()
    policies = {path: shopper.get(path)["Content-Security-Policy"] for path in ("/checkout/payment", "/checkout")}
    assert "form-action 'self' http://127.0.0.1:*" in policies["/checkout/payment"]
    assert "127.0.0.1" not in policies["/checkout"]


def test_a_shop_without_an_account_does_not_offer_the_provider(bank, shop, shopper, mug):
    from storefront.payments.models import ProviderAccount

    ProviderAccount.objects.all().delete()
    assert press(shopper, mug).status_code == 422


@pytest.mark.parametrize("minutes", [1, 40])
def test_a_basket_deleted_meanwhile_does_not_lose_the_order(bank, shopper, mug, minutes):
    from storefront.carts.models import Cart

    press(shopper, mug)
    Cart.objects.all().delete()
    bank.pay(account_of(bank))
    with time_machine.travel(timezone.now() + timedelta(minutes=minutes)):
        later(minutes=2)
    assert Order.objects.get().payment_status == "paid"
