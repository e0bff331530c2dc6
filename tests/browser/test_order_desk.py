"""A merchant fulfils and refunds an order in a browser; the shopper sees both."""

from decimal import Decimal

import pytest
from playwright.sync_api import expect

from storefront.kit import clock
from storefront.payments import actions as payments
from storefront.payments.jobs import pay_back_refunds
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line
from tests.staff import admin_url, make_staff

pytestmark = pytest.mark.browser


def test_fulfils_and_refunds_an_order(street, visit):
    order = make_order(street, sale_line(make_product(street, "Mug", price=Decimal("9.50")), 2), now=clock.now())
    payments.mark_paid(shop=street, order=order, now=clock.now())
    make_staff(street, role="manager")
    merchant, shopper = visit(), visit()

    page = merchant.open("/admin/")
    page.get_by_label("Username").fill("anna")
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
    page.get_by_label("Amount").fill("9.505")
    page.locator("#modal-content").get_by_role("button", name="Refund").click()
    expect(page.get_by_text("no more than 2 decimal places")).to_be_visible()
    merchant.photograph("refund-dialog")
    page.get_by_label("Amount").fill("9.50")
    page.get_by_label("Reason").fill("Scratched")
    page.locator("#modal-content").get_by_role("button", name="Refund").click()
    expect(page.get_by_text("Refund started.")).to_be_visible()
    pay_back_refunds(now=clock.now(), limit=1)
    page.reload()
    expect(page.get_by_text("Partially refunded").first).to_be_visible()
    merchant.photograph("order-desk")

    page = shopper.open(f"/orders/{order.public_id}")
    expect(page.get_by_role("link", name="DHL JD0146")).to_have_attribute("href", "https://dhl.example.com/JD0146")
    expect(page.get_by_text("€9.50 refunded")).to_be_visible()
    shopper.photograph("order-on-its-way")
