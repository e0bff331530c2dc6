"""The sample app in a browser: its badge on pages, its block at the checkout, and neither after it is uninstalled."""

import pytest
from playwright.sync_api import expect

from tests.examples.conftest import shops_apart  # noqa: F401, a fixture
from tests.examples.test_app import checkout_link

pytestmark = [pytest.mark.browser, pytest.mark.timeout(480)]


def test_shows_the_app_until_it_is_uninstalled(shops_apart, chromium):  # noqa: F811
    shops = shops_apart
    token = shops.install()
    page = chromium.new_context().new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)

    page.goto(f"{shops.url}/products/mug")
    expect(page.locator("#gift-badge")).to_have_text("We wrap gifts: choose it at checkout.")
    page.goto(checkout_link(shops))
    expect(page.get_by_role("region", name="Gift wrapping")).to_contain_text("We wrap Mug in recycled paper.")
    expect(page.locator("#gift-badge")).to_have_count(0)
    page.get_by_label("Email address").fill("ada@example.com")
    page.get_by_label("Name", exact=True).first.fill("Ada Lovelace")
    page.get_by_label("Street and number").first.fill("Hafenstraße 1")
    page.get_by_label("Postal code").first.fill("24103")
    page.get_by_label("Town or city").first.fill("Kiel")
    page.get_by_role("button", name="Continue to delivery").click()
    page.get_by_role("button", name="Continue to payment").click()
    page.get_by_role("button", name="Order").click()
    page.wait_for_url("**/orders/*")
    shops.wait(lambda: shops.kept("SELECT total FROM sale") == [("19.00",)], "the delivery")

    shops.uninstall()
    shops.wait(lambda: shops.kept("SELECT * FROM installation WHERE NOT is_active"), "the last delivery")
    page.goto(f"{shops.url}/products/mug")
    expect(page.get_by_role("heading", level=1)).to_have_text("Mug")
    expect(page.locator("#gift-badge")).to_have_count(0)
    assert shops.call("GET", "/shop", token).status_code == 401
    assert complaints == []
