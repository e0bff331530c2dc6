"""Paying at a bank on another host, in a browser: there and back, declined, silent, and with the tab closed."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from storefront.orders.models import Order
from storefront.payments.accounts import save_settings
from storefront.payments.jobs import ask_providers
from storefront.payments.providers.registry import PROVIDERS
from tests.browser import steps
from tests.browser.conftest import NARROW, WIDE
from tests.catalogue.factories import make_product
from tests.payments.bank import SECRET, bank_server
from tests.payments.provider import BankRedirect
from tests.shops.factories import NOW

pytestmark = pytest.mark.browser


@pytest.fixture
def bank(street, monkeypatch):
    with bank_server() as bank:
        monkeypatch.setitem(PROVIDERS, "bank", BankRedirect())
        street.payment_methods = ["bank", "manual"]
        street.save()
        settings = {"api": bank.url, "secret": SECRET, "capture": "at_once"}
        save_settings(shop=street, provider=PROVIDERS["bank"], given=settings, now=NOW)
        make_product(street, "Cup", stock_qty=5)
        yield bank


def to_the_bank(shopper):
    page = shopper.open("/products/cup")
    page.get_by_role("button", name="Add to basket").click()
    expect(page.get_by_text("is in your basket.")).to_be_visible()
    shopper.open("/checkout")
    steps.fill_details(page)
    steps.choose_delivery(page)
    page.get_by_role("radio", name="Bank transfer with your bank").check()
    page.get_by_role("button", name="Place order and pay").click()
    return page


@pytest.mark.walk
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_to_the_bank_and_back(bank, visit, width):
    shopper = visit(width)
    page = to_the_bank(shopper)
    expect(page).to_have_title("Bank")
    page.get_by_role("button", name="pay").click()
    steps.expect_order(page, "€14.40")
    assert Order.objects.get().payment_status == "paid"


def test_declined_says_why_and_another_method_pays(bank, visit):
    shopper = visit(NARROW)
    page = to_the_bank(shopper)
    page.get_by_role("button", name="decline").click()
    expect(page.get_by_text("The bank declined the payment.")).to_be_visible()
    shopper.photograph("payment-declined")
    page.get_by_role("radio", name="Invoice or bank transfer").check()
    page.get_by_role("button", name="Place order and pay").click()
    steps.expect_order(page, "€14.40")


def test_back_without_paying_can_continue(bank, visit):
    shopper = visit(NARROW)
    page = to_the_bank(shopper)
    expect(page).to_have_title("Bank")
    (account,) = bank.accounts.values()
    shopper.open(account.return_url)
    expect(page.get_by_role("heading", level=1)).to_have_text("Your payment is not finished")
    shopper.photograph("payment-not-finished")
    page.get_by_role("link", name="Continue to pay").click()
    expect(page).to_have_title("Bank")
    shopper.open(account.return_url)
    page.get_by_role("button", name="Choose another payment method").click()
    expect(page.get_by_role("button", name="Place order and pay")).to_be_visible()


def test_a_payment_that_is_checked_settles_by_itself(bank, visit):
    shopper = visit(NARROW)
    bank.silent = {"look"}
    page = to_the_bank(shopper)
    page.get_by_role("button", name="later").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your payment is being checked")
    shopper.photograph("payment-checked")
    (account,) = bank.accounts.values()
    bank.pay(account)
    bank.silent = set()
    steps.expect_order(page, "€14.40")


def test_a_closed_tab_gets_its_order(bank, visit):
    page = to_the_bank(visit())
    expect(page).to_have_title("Bank")
    (account,) = bank.accounts.values()
    page.close()
    bank.pay(account)
    ask_providers(now=timezone.now() + timedelta(minutes=2), limit=10)
    assert Order.objects.get().payment_status == "paid"
