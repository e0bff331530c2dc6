"""A gift card is bought, arrives by mail, and pays for two orders, at two widths; the pages are accessible."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.core import mail
from playwright.sync_api import expect

from storefront.gift_cards.models import GiftCard
from storefront.orders.models import Order
from tests.browser import steps
from tests.browser.conftest import NARROW, WIDE
from tests.catalogue.factories import make_product
from tests.gift_cards.factories import send_due

pytestmark = pytest.mark.browser


@pytest.mark.walk
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_card_is_bought_mailed_and_spent_over_two_orders(street, visit, width):
    given = {"type": "digital", "requires_shipping": False, "track_inventory": False, "is_gift_card": True}
    make_product(street, "Gift card", price="25.00", allow_custom_price=True, min_custom_price="10.00", **given)
    make_product(street, "Saucer", price="20.00", requires_shipping=False)
    shopper = visit(width)
    page = shopper.open("/products/gift-card")
    page.get_by_label("Your price").fill("30")
    page.get_by_label("Email address of the recipient").fill("ben@example.com")
    page.get_by_label("Message").fill("Happy birthday!")
    check(page, shopper, "gift card product")
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("link", name="View basket").click()
    page.wait_for_url("**/basket")
    expect(page.get_by_text("For ben@example.com")).to_be_visible()
    page.get_by_role("link", name="Go to checkout").click()
    steps.fill_details(page, then="Continue to payment")
    steps.pay_by_card(page)
    steps.expect_order(page, "€30.00")
    send_due()
    page.reload()
    expect(page.get_by_text("Sent to ben@example.com")).to_be_visible()
    check(page, shopper, "order with a gift card")
    code = re.search(r"Your code: (\S+)", mail.outbox[-1].body)[1]
    for due in ("€0.00", "€10.00"):
        spend(page, shopper, code, due)
    assert GiftCard.objects.get().balance == 0
    page = shopper.open("/gift-card")
    page.get_by_label("Gift card code").fill(code)
    page.get_by_role("button", name="Show balance").click()
    expect(page.get_by_text("This gift card has been used up.")).to_be_visible()
    check(page, shopper, "balance of a gift card")


def spend(page, shopper, code: str, due: str) -> None:
    """Buy the saucer with the card, and with a bank card for what is due."""
    shopper.open("/products/saucer")
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("link", name="View basket").click()
    page.wait_for_url("**/basket")
    page.get_by_role("link", name="Go to checkout").click()
    steps.fill_details(page, then="Continue to payment")
    shopper.expects = {422}
    steps.fill_code(page, "Gift card code", "nothing")
    with page.expect_navigation():
        page.get_by_role("button", name="Use gift card").click()
    expect(page.get_by_text("This gift card code is not valid.")).to_be_visible()
    expect(page.get_by_label("Gift card code")).to_be_focused()
    expect(page.get_by_label("Gift card code")).to_have_value("nothing")
    steps.fill_code(page, "Gift card code", code)
    with page.expect_navigation():
        page.get_by_role("button", name="Use gift card").click()
    expect(page.locator(".totals__sum").last).to_contain_text(due)
    check(page, shopper, f"payment with a gift card, {due[1:]} due")
    if due == "€0.00":
        page.get_by_role("button", name="Place order", exact=True).click()
    else:
        steps.pay_by_card(page)
    # Nothing is left to pay, so the last sum is the total.
    steps.expect_order(page, "€20.00")
    check(page, shopper, f"order paid with a gift card, {due[1:]} due")
    assert Order.objects.latest("id").payment_status == "paid"


def check(page, shopper, name: str) -> None:
    shopper.photograph(name)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
