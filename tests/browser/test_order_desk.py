"""A merchant fulfils and refunds an order in a browser; the shopper sees both."""

from datetime import timedelta
from decimal import Decimal

import pytest
from playwright.sync_api import expect

from storefront.kit import clock
from storefront.kit.format import format_money
from storefront.payments import actions as payments
from storefront.payments.jobs import pay_back_refunds
from storefront.payments.models import Refund
from tests.browser.test_staff_sign_in import enter_password
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line
from tests.staff import admin_url, make_staff

pytestmark = pytest.mark.browser


@pytest.mark.walk
def test_fulfils_and_refunds_an_order(street, visit):
    order = make_order(street, sale_line(make_product(street, "Mug", price=Decimal("9.50")), 2), now=clock.now())
    payments.mark_paid(shop=street, order=order, now=clock.now())
    make_staff(street, role="manager")
    merchant, shopper = visit(), visit()

    page = merchant.open("/admin/")
    page.get_by_label("Email address").fill("anna")
    page.get_by_label("Password").fill("lighthouse-1")
    with page.expect_navigation():
        page.get_by_role("button", name="Sign in").click()
    page = merchant.open(admin_url(order, "change"))
    page.get_by_text("Quantities and tracking").click()
    page.get_by_label("Carrier").fill("DHL")
    page.get_by_label("Tracking number").fill("JD0146")
    page.get_by_label("Tracking URL").fill("https://dhl.example.com/JD0146")
    page.get_by_role("button", name="Mark as fulfilled").click()
    expect(page.get_by_text("2 × Mug").first).to_be_visible()

    page.get_by_role("button", name="Refund").click()
    page.get_by_label("Everything that is left").uncheck()
    page.get_by_label("Amount").fill("9.505")
    expect(page.get_by_text("no more than 2 decimal places")).to_be_visible()
    expect(page.locator("#modal-content").get_by_role("button", name="Refund")).to_be_disabled()
    page.get_by_label("Amount").fill("9.50")
    expect(page.locator("#modal-content").get_by_role("button", name="Refund €9.50")).to_be_enabled()
    # The dialog asks for the sum after each field. Its next question would cut the one before short.
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        page.get_by_label("Reason").fill("Scratched")
    page.locator("#modal-content").get_by_role("button", name="Refund €9.50").click()
    expect(page.get_by_text("Refund started.")).to_be_visible()
    pay_back_refunds(now=clock.now(), limit=1)
    page.reload()
    expect(page.get_by_text("Partially refunded").first).to_be_visible()
    merchant.photograph("order-desk")

    page = shopper.open(f"/orders/{order.public_id}")
    expect(page.get_by_role("link", name="DHL JD0146")).to_have_attribute("href", "https://dhl.example.com/JD0146")
    expect(page.get_by_text("€9.50 refunded")).to_be_visible()
    shopper.photograph("order-on-its-way")


def test_the_refund_dialog_says_its_sum_and_survives_the_password(street, visit):
    pot = sale_line(make_product(street, "Pot", price=Decimal("16.20")), 3)
    order = make_order(street, pot, now=clock.now())
    payments.mark_paid(shop=street, order=order, now=clock.now())
    anna = make_staff(street)
    merchant = visit()
    page = enter_password(merchant, admin_url(order, "change"))
    dialog = page.locator("#modal-content")
    button, pieces = dialog.get_by_role("button", name="Refund"), dialog.get_by_label("Pot, not sent", exact=True)
    page.get_by_role("button", name="Refund").click()
    expect(button).to_contain_text(f"Refund {format_money(order.total, 'EUR')}")
    dialog.get_by_label("Everything that is left").uncheck()
    expect(button).to_be_disabled()
    expect(dialog.get_by_text("Choose items, delivery, an amount or everything.")).to_be_visible()
    merchant.photograph("refund-nothing-chosen")
    pieces.fill("1")
    expect(button).to_contain_text("Refund €16.20")
    merchant.photograph("refund-one-piece")
    pieces.fill("2")
    expect(button).to_contain_text("Refund €32.40")
    pieces.fill("4")
    expect(button).to_be_disabled()
    merchant.photograph("refund-too-many")
    pieces.fill("0")
    dialog.get_by_label("Everything that is left").check()
    expect(button).to_contain_text(f"Refund {format_money(order.total, 'EUR')}")
    expect(pieces).to_be_hidden()
    merchant.photograph("refund-everything")
    dialog.get_by_label("Everything that is left").uncheck()
    pieces.fill("1")
    dialog.get_by_label("Reason").fill("Cracked")
    expect(button).to_contain_text("Refund €16.20")

    anna.staff_sessions.update(confirmed_at=clock.now() - timedelta(hours=1))
    button.click()
    page.get_by_label("Password").fill("lighthouse-1")
    page.get_by_role("button", name="Confirm").click()
    expect(pieces).to_have_value("1")
    expect(dialog.get_by_label("Reason")).to_have_value("Cracked")
    expect(dialog.get_by_label("Restock Pot, not sent")).to_be_checked()
    expect(button).to_contain_text("Refund €16.20")
    merchant.photograph("refund-after-the-password")
    assert not Refund.objects.exists()
    button.click()
    expect(page.get_by_text("Refund started.")).to_be_visible()
    refund = Refund.objects.get()
    assert (refund.amount, refund.reason) == (Decimal("16.20"), "Cracked")
    # It comes back once.
    page.reload()
    expect(dialog.get_by_label("Reason")).to_have_count(0)
