"""A shopper's account in a browser: registering, signing out and in, and ordering."""

import re

import pytest
from playwright.sync_api import expect

from storefront.customers.models import Customer
from storefront.orders.models import Order
from tests.browser import steps
from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import check
from tests.catalogue.factories import make_product
from tests.customers.factories import PASSWORD
from tests.mailbox import Mailbox, open_mailbox
from tests.worker import run_due_tasks

pytestmark = pytest.mark.browser

EMAIL = "ada@example.com"


@pytest.fixture
def mailbox(settings):
    with open_mailbox() as mailbox:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", mailbox.port
        yield mailbox


def mailed_link(mailbox: Mailbox) -> str:
    run_due_tasks()
    return re.search(r"https?://\S+/account/link\?\S+", mailbox.texts(EMAIL)[-1])[0]


def register(shopper, mailbox: Mailbox) -> None:
    page = shopper.open("/")
    page.get_by_role("link", name="Sign in").click()
    page.get_by_role("link", name="Create an account").click()
    page.get_by_label("Email address").fill(EMAIL)
    page.get_by_role("button", name="Send me the link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your email")
    page = shopper.open(mailed_link(mailbox))
    assert "signature" not in page.url
    page.get_by_label("Name").fill("Ada Lovelace")
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Hello, Ada Lovelace")


def sign_in(page) -> None:
    page.get_by_label("Email address").fill(EMAIL)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()


@pytest.mark.walk
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_registers_signs_in_and_orders(street, visit, mailbox, width):
    make_product(street, "Saucer", stock_qty=9)
    shopper = visit(width)
    register(shopper, mailbox)
    page = shopper.page
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You have signed out.")).to_be_visible()

    shopper.open("/products/saucer")
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("link", name="View basket").click()
    page.get_by_role("link", name="Go to checkout").click()
    steps.click_through(page, "link", "Sign in")
    shopper.photograph("sign-in")
    sign_in(page)
    page.wait_for_url("**/checkout")
    expect(page.get_by_label("Email address")).to_have_value(EMAIL)
    shopper.photograph("checkout-signed-in")
    expect(page.locator("#basket-link")).to_contain_text("1")
    steps.fill_details(page)
    steps.choose_delivery(page)
    steps.pay_by_card(page)
    steps.expect_order(page, "€14.40")

    order = Order.objects.get()
    assert order.customer == Customer.objects.get()
    with page.expect_navigation():
        page.get_by_role("link", name="Account").click()
    shopper.photograph("account")
    page.get_by_role("link", name=f"Order {order.number}").click()
    expect(page.locator("main")).to_contain_text("Saucer")
    shopper.photograph("account-order")


def test_a_basket_is_kept_for_its_owner_and_merged_at_sign_in(street, visit, mailbox):
    make_product(street, "Saucer", stock_qty=9)
    shopper, phone = visit(), visit(NARROW)
    register(shopper, mailbox)
    for browser in (shopper, phone):
        browser.open("/products/saucer").get_by_role("button", name="Add to basket").click()
        expect(browser.page.get_by_text("is in your basket.")).to_be_visible()
    page = phone.open("/account")
    sign_in(page)
    expect(page.locator("#basket-link")).to_contain_text("2")
    shopper.open("/basket")
    expect(shopper.page.get_by_label("Quantity of Saucer")).to_have_value("2")
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("#basket-link")).to_contain_text("0")


@pytest.mark.proof
@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_every_account_page_meets_wcag_aa(street, visit, mailbox, width, scheme):
    shopper = visit(width, color_scheme=scheme)
    shopper.expects = {403, 404, 422}
    for path in ("sign-in", "register", "forgot", "mailed", "link?x=1"):
        shopper.open(f"/account/{path}")
        check(shopper)
    page = shopper.open("/account/sign-in")
    steps.click_through(page, "button", "Sign in")
    check(shopper)
    shopper.photograph("sign-in-wrong")
    page = shopper.open("/account/register")
    page.get_by_label("Email address").fill(EMAIL)
    page.get_by_role("button", name="Send me the link").click()
    page.wait_for_url("**/mailed")
    shopper.open(mailed_link(mailbox))
    check(shopper)
    shopper.photograph("choose-password")
    page.get_by_label("Name").fill("Ada Lovelace")
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    # A click does not wait for the response, and leaving the page before it would leave her signed out.
    expect(page.get_by_role("heading", level=1)).to_have_text("Hello, Ada Lovelace")
    check(shopper)
    for city in ("Kiel", "Plön"):
        shopper.open("/account/addresses/new")
        page.get_by_label("Street and number").fill("Hafenstraße 1")
        page.get_by_label("Postal code").fill("24103")
        page.get_by_label("Town or city").fill(city)
        page.get_by_label("Country").select_option("DE")
        page.get_by_role("button", name="Save address").click()
        page.wait_for_url("**/addresses")
    for path in ("", "/orders", "/addresses", "/addresses/new", "/details", "/orders/999"):
        shopper.open(f"/account{path}")
        check(shopper)
        shopper.photograph("account" + path.replace("/", "-"))
