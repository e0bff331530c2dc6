"""A merchant tests an app's webhook in a browser, and sees the outcome."""

import pytest
from playwright.sync_api import expect

from storefront.webhooks.models import Delivery
from tests.receiver import receiving
from tests.staff import admin_url, make_staff
from tests.webhooks.factories import delivering, listener, register, wait_until

pytestmark = pytest.mark.browser


def test_tests_a_webhook(street, visit, settings):
    settings.STAFF_SECOND_FACTOR = "none"
    make_staff(street, role="owner")
    merchant = visit()
    page = merchant.open("/admin/")
    page.get_by_label("Email address").fill("anna")
    page.get_by_label("Password").fill("lighthouse-1")
    with page.expect_navigation():
        page.get_by_role("button", name="Sign in").click()
    app = listener(street, "read_orders")
    with receiving() as receiver, delivering():
        page = merchant.open(admin_url(register(app, f"{receiver.url}/hook"), "change"))
        merchant.photograph("webhook")
        page.get_by_role("link", name="Send a test").click()
        expect(page.get_by_text("Send a test delivery?")).to_be_visible()
        merchant.photograph("webhook-test-dialog")
        with page.expect_navigation():
            page.get_by_role("button", name="Send", exact=True).click()
        assert receiver.next().path == "/hook"
        wait_until(lambda: Delivery.objects.filter(status="delivered").exists())
    expect(page.get_by_text("Test delivery sent.")).to_be_visible()
    expect(page.get_by_text("order.placed (test)").first).to_be_visible()
    page.reload()
    expect(page.get_by_text("Delivered", exact=True)).to_be_visible()
    merchant.photograph("webhook-test-delivery")
