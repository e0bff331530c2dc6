"""A customer saves a card at the checkout, pays with it the next time, and removes it, in a real browser."""

import pytest
from playwright.sync_api import expect

from storefront.orders.models import Order
from storefront.payments.models import Payment, SavedMethod
from tests.browser import steps
from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import check
from tests.browser.test_account import sign_in
from tests.browser.test_stripe import PAYS, pay
from tests.catalogue.factories import make_product
from tests.customers.factories import make_customer
from tests.stripe.conftest import fake, stripe_process  # noqa: F401 - fixtures
from tests.stripe.selling import offer_stripe

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("own_hosts")]


@pytest.fixture
def shop(street, fake):  # noqa: F811
    offer_stripe(street)
    make_product(street, "Mug", price="9.50", stock_qty=9)
    make_customer(street)
    return street


def to_payment(shopper):
    """Put a mug into the basket and go to the payment step."""
    page = shopper.open("/products/mug")
    page.get_by_role("button", name="Add to basket").click()
    expect(page.locator("#basket-link")).to_contain_text("1")
    page.goto(f"{shopper.address}/basket")
    steps.click_through(page, "link", "Go to checkout")
    steps.fill_details(page)
    steps.choose_delivery(page)
    return page


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_saves_a_card_pays_with_it_and_removes_it(shop, visit, fake, width):  # noqa: F811
    shopper = visit(width)
    page = shopper.open("/")
    page.get_by_role("link", name="Sign in").click()
    sign_in(page)
    expect(page.get_by_role("heading", name="Your account")).to_be_visible()
    account = page.url

    to_payment(shopper)
    page.get_by_role("radio", name="Card, wallet or bank").check()
    page.get_by_role("checkbox", name="Save this method for next time").check()
    shopper.photograph("saved-methods-tick")
    check(shopper)
    page.get_by_role("button", name="Place order and pay").click()
    page.wait_for_url("**/checkout/payment/*")
    pay(page, PAYS)
    steps.expect_order(page, "€14.40")
    saved = SavedMethod.objects.get()
    assert (saved.label, saved.account_reference) == ("Visa •••• 4242", "acct_fake")

    # The next time no form is shown: one press pays.
    to_payment(shopper)
    expect(page.get_by_role("radio", name="Visa •••• 4242, expires 12/34")).to_be_checked()
    shopper.photograph("saved-methods-choice")
    check(shopper)
    page.get_by_role("button", name="Place order and pay").click()
    steps.expect_order(page, "€14.40")
    assert [order.payment_status for order in Order.objects.all()] == ["paid", "paid"]
    assert Payment.objects.last().method_reference == saved.method_reference

    page.goto(account)
    expect(page.get_by_role("heading", name="Saved payment methods")).to_be_visible()
    shopper.photograph("saved-methods-account")
    check(shopper)
    page.get_by_role("button", name="Remove Visa •••• 4242").click()
    expect(page.get_by_text("The payment method has been removed.")).to_be_visible()
    expect(page.get_by_role("heading", name="Saved payment methods")).to_be_hidden()
    check(shopper)
    assert fake.objects("payment_method")[0]["customer"] is None
    to_payment(shopper)
    expect(page.get_by_role("radio", name="Visa •••• 4242")).to_be_hidden()
