"""A provider that answers what cannot be true: no order is placed or paid by it, and the merchant sees it."""

from decimal import Decimal

import pytest
from django.utils import timezone

from storefront.orders.models import Order
from storefront.payments.models import OrderDraft, Payment, PaymentEntry, ProviderAccount
from storefront.payments.providers.base import RefundReport, RefundStanding, Report, Standing
from storefront.payments.rules import contradiction
from tests.payments.conftest import account_of, press, return_path, stock
from tests.payments.test_news import send
from tests.payments.test_redirect import later
from tests.staff import admin_url, make_staff, open_desk

NONSENSE = [{"captured": "0"}, {"captured": "1e400"}, {"currency": "JPY"}, {"amount": "1.00"}]
PAID = {"captured": Decimal("9.50"), "amount": Decimal("9.50"), "currency": "EUR", "reference": "acc_1"}
IMPOSSIBLE = [
    *({"captured": Decimal(amount)} for amount in ("0", "9.51", "-9.50", "NaN", "sNaN", "Infinity", "1e400", "1e-400")),
    *({"disputed": Decimal(amount)} for amount in ("-1", "NaN", "1e400", "0.001")),
    *({"amount": Decimal(amount)} for amount in ("9.49", "950", "NaN", "sNaN", "1e400")),
    *({"currency": currency} for currency in ("JPY", "eur", "EUR" * 1000)),
    *({"reference": reference} for reference in ("acc_2", "acc_1\0", "x" * 5000)),
    {"refunds": (RefundReport(Decimal("1.00")),)},
    *({"refunds": (RefundReport(Decimal(amount), "re_1"),)} for amount in ("9.51", "0", "-1", "NaN", "1e400")),
    *({"refunds": (RefundReport(Decimal("1.00"), name),)} for name in ("re\0", "x" * 5000)),
    {"refunds": (RefundReport(Decimal("5.00"), "re_1"), RefundReport(Decimal("5.00"), "re_2"))},
    {"refunds": (RefundReport(Decimal("1.00"), "re_1"), RefundReport(Decimal("1.00"), "re_1"))},
]
POSSIBLE = [
    {},
    {"captured": Decimal("9.49")},
    {"amount": None, "currency": "", "reference": ""},
    {"disputed": Decimal("9.80")},
    {
        "refunds": (
            RefundReport(Decimal("9.50"), "re_1", standing=RefundStanding.FAILED),
            RefundReport(Decimal("9.50"), "re_2"),
        )
    },
]
# Answers that the provider's code cannot read: no answer at all.
GARBAGE = [{"captured": None}, {"captured": []}, {"state": "settled"}, {"state": None}, {"refunds": 7}]


def found_in(told) -> str:
    known = {"amount": Decimal("9.50"), "currency": "EUR", "reference": "acc_1", "asked": {}}
    return contradiction(Report(Standing.PAID, **PAID | told), **known)


def test_what_is_a_contradiction():
    assert [told for told in IMPOSSIBLE if not found_in(told)] == []
    assert [found_in(told) for told in POSSIBLE] == [""] * len(POSSIBLE)
    # What ended without money may have been asked for in any way.
    ended = Report(Standing.CANCELLED, currency="JPY")
    assert contradiction(ended, amount=1, currency="EUR", reference="", asked={}) == ""


@pytest.fixture
def pressed(bank, shopper, mug):
    press(shopper, mug)
    bank.pay(account_of(bank))


@pytest.mark.slow
@pytest.mark.parametrize("lie", NONSENSE, ids=str)
def test_what_cannot_be_true_places_no_order_and_alerts_the_merchant(bank, shop, shopper, mug, pressed, lie, desk):
    bank.lies = lie
    assert "Your payment is being checked" in shopper.read(return_path())
    assert send(shop, *bank.news(account_of(bank))).status_code == 200
    later(minutes=2)
    payment = Payment.objects.get()
    assert (Order.objects.count(), payment.state, payment.captured) == (0, "open", 0)
    assert payment.alert
    entries = PaymentEntry.objects.filter(kind="refused")
    assert [entry.detail for entry in entries] == [payment.alert], "logged once, however often it is said"
    page = desk.get(admin_url(Payment, "changelist") + "?attention=needed").content.decode()
    assert payment.alert.split("'")[0] in page.replace("&#x27;", "'")
    # Stock is not held for ever, and nobody is asked to pay again meanwhile.
    assert stock(mug) == 9
    later(minutes=40)
    assert (stock(mug), OrderDraft.objects.get().state) == (10, "ended")

    # The truth, however late.
    bank.lies = {}
    later(days=1)
    payment.refresh_from_db()
    assert (payment.state, payment.alert, Order.objects.get().payment_status) == ("paid", "", "paid")
    assert stock(mug) == 9


def test_the_truth_that_nothing_is_paid_yet_leaves_the_shopper_the_time(bank, shopper, mug):
    press(shopper, mug)
    bank.lies = {"state": "paid", "captured": "0"}
    later(minutes=2)
    bank.lies = {}
    later(minutes=6)
    assert (Payment.objects.get().alert, Payment.objects.get().state, stock(mug)) == ("", "open", 9)
    assert OrderDraft.objects.get().state == "open"
    bank.pay(account_of(bank))
    shopper.get(return_path())
    assert Order.objects.get().payment_status == "paid"


@pytest.mark.parametrize("lie", GARBAGE, ids=str)
def test_garbage_is_no_answer(bank, shop, shopper, pressed, lie):
    bank.lies = lie
    assert "Your payment is being checked" in shopper.read(return_path())
    later(minutes=2)
    assert (Order.objects.count(), Payment.objects.get().state) == (0, "open")
    bank.lies = {}
    later(hours=2)
    assert Order.objects.get().payment_status == "paid"


def test_nul_in_a_reason_is_stored_without(bank, shopper, mug):
    press(shopper, mug)
    bank.pay(account_of(bank), "decline")
    bank.lies = {"failure": "No\0 funds. " + "x" * 1000}
    shopper.get(return_path())
    assert Payment.objects.get().failure.startswith("No funds.")


def test_a_wrong_amount_at_the_start_leads_nobody_to_the_bank(bank, shopper, mug):
    bank.lies = {"amount": "999.00"}
    page = press(shopper, mug)
    assert page.status_code == 422
    assert "not available at the moment. Nothing was charged." in page.content.decode()
    assert (account_of(bank).state, stock(mug), Payment.objects.get().state) == ("cancelled", 10, "cancelled")


@pytest.mark.parametrize("lie", [{"captured": "0"}, {"currency": "USD"}, {"amount": "1.00"}], ids=str)
def test_a_capture_that_cannot_be_true_does_not_pay_an_order(bank, shopper, mug, lie):
    account = ProviderAccount.objects.get()
    account.values["capture"] = "on_fulfilment"
    account.save()
    press(shopper, mug)
    bank.pay(account_of(bank))
    shopper.get(return_path())
    Payment.objects.update(is_held=False, due_at=timezone.now())
    bank.lies = lie
    later()
    order, payment = Order.objects.get(), Payment.objects.get()
    assert (order.payment_status, payment.state, payment.captured) == ("pending", "authorised", 0)
    assert payment.alert


def test_a_part_that_was_taken_does_not_pay_for_the_order(bank, shop, shopper, mug):
    press(shopper, mug)
    bank.pay(account_of(bank))
    account_of(bank).captured = Decimal("4.00")
    later(minutes=2)
    payment = Payment.objects.get()
    assert (payment.captured, payment.alert) == (4, "The provider charged 4.00 of the 9.50 requested.")
    assert Order.objects.count() == 0
    later(minutes=40)
    assert (bank.held, stock(mug), Order.objects.count()) == (0, 10, 0)


@pytest.mark.slow
def test_the_start_page_of_the_admin_says_so_to_its_own_shop(bank, shop, other_shop, shopper, pressed, desk):
    bank.lies = {"captured": "0"}
    later(minutes=2)
    page = desk.get("/admin/").content.decode()
    assert "needs attention: The provider reports that the payment is paid, but that nothing was charged." in page
    assert admin_url(Payment.objects.get(), "change") in page
    other = open_desk(make_staff(other_shop, "otto", "owner"), other_shop)
    assert "needs attention" not in other.get("/admin/").content.decode()
    # Who may not see payments is not told.
    fulfiller = open_desk(make_staff(shop, "finn", "fulfilment"), shop)
    assert "needs attention" not in fulfiller.get("/admin/").content.decode()
