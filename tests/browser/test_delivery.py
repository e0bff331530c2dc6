"""An order that is collected, and one to a zone with free delivery from an amount on: at both widths, with axe."""

import pytest
from playwright.sync_api import expect

from storefront.orders.models import Order
from tests.browser import steps
from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import check
from tests.catalogue.factories import make_product
from tests.pricing.rows import make_place, make_rate

pytestmark = pytest.mark.browser


def to_the_checkout(shopper):
    page = shopper.open("/products/saucer")
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("link", name="View basket").click()
    page.wait_for_url("**/basket")
    steps.click_through(page, "link", "Go to checkout")
    return page


@pytest.mark.walk
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_an_order_is_collected(street, visit, width):
    make_product(street, "Saucer", price="10.00")
    make_place(street, hours="Monday to Friday, 9 to 18", ready="Ready in 2 hours")
    shopper = visit(width)
    page = to_the_checkout(shopper)
    address = page.get_by_role("heading", name="Delivery address")
    expect(address).to_be_visible()
    page.get_by_label("Collect at Harbour shop").check()
    expect(address).to_be_hidden()
    expect(page.get_by_label("Same as delivery address")).to_be_hidden()
    check(shopper)
    shopper.photograph("details of an order to collect")
    page.get_by_label("Email address").fill("ada@example.com")
    billing = page.locator(".checkout__billing")
    for label, text in {"Name": "Ada", "Street and number": "Kai 1", "Postal code": "24103", "Town": "Kiel"}.items():
        billing.get_by_label(label).first.fill(text)
    steps.click_through(page, "button", "Continue")
    page.wait_for_url("**/payment")
    expect(page.get_by_text("Collect at", exact=True)).to_be_visible()
    check(shopper)
    shopper.photograph("payment of an order to collect")
    steps.pay_by_card(page)
    steps.expect_order(page, "Ready in 2 hours")
    check(shopper)
    shopper.photograph("order to collect")
    assert Order.objects.get().pickup_place["city"] == "Hamburg"


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_delivery_is_free_from_an_amount_on(street, visit, width):
    make_product(street, "Saucer", price="30.00")
    street.shipping_rates.update(free_from="30.00", delivery_time="2 to 3 days")
    make_rate(street, "Express", "12.50", countries=["DE"], sort_order=-1)
    make_rate(street, "Parcel abroad", "14.90", countries=["AT"])
    shopper = visit(width)
    page = to_the_checkout(shopper)
    steps.fill_details(page)
    expect(page.get_by_label("Parcel")).to_be_checked()
    expect(page.get_by_text("2 to 3 days")).to_be_visible()
    check(shopper)
    shopper.photograph("delivery methods")
    steps.choose_delivery(page)
    steps.pay_by_card(page)
    steps.expect_order(page, "2 to 3 days")
    assert (Order.objects.get().shipping_method, Order.objects.get().shipping) == ("Parcel", 0)
