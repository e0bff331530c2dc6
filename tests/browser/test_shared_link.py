"""One checkout link in two browsers: neither sees, changes or pays for what the other does."""

import pytest
from playwright.sync_api import expect

from storefront.orders.models import Order
from tests.browser import steps
from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import check
from tests.catalogue.factories import make_product
from tests.checkout.shopper import fill_cart, link_to
from tests.client import ApiClient
from tests.shops.factories import make_token

pytestmark = pytest.mark.browser


@pytest.fixture
def api(street):
    return ApiClient(make_token(street))


@pytest.mark.walk
def test_a_forwarded_link_reveals_and_changes_nothing(street, api, visit):
    mug = make_product(street, "Mug", price="9.50", stock_qty=50)
    pot = make_product(street, "Pot", price="9.50", stock_qty=50)
    cart = fill_cart(api, {"product_id": mug.pk, "qty": 2})
    link = link_to(api, cart)
    attacker, victim = visit(), visit(NARROW)
    attacker.open(link)
    expect(attacker.page.locator("main")).to_contain_text("Mug")

    page = victim.open(link)
    assert "signature" not in page.url
    steps.fill_details(page)
    steps.choose_delivery(page)

    for path in ("/checkout", "/checkout/payment", "/basket"):
        seen = attacker.open(path).content()
        assert "ada@example.com" not in seen
        assert "Hafenstraße" not in seen
    attacker.open("/checkout").get_by_label("Email address").fill("attacker@example.com")
    steps.fill_details(attacker.page)
    # The owner of the cart's token replaces its lines, for the same total.
    api.delete(f"/cart/p{mug.pk}", cart=cart)
    api.post("/cart", {"product_id": pot.pk, "qty": 2}, cart=cart)

    steps.pay_by_card(page)
    steps.expect_order(page, "€23.90")
    order = Order.objects.get()
    assert (order.email, order.shipping_address["line1"]) == ("ada@example.com", "Hafenstraße 1")
    assert list(order.lines.values_list("name", "qty")) == [("Mug", 2)]
    data = api.get("/cart", cart=cart).json()["data"]
    assert [item["name_snapshot"] for item in data["items"]] == ["Pot"]
    assert [placed["number"] for placed in data["orders"]] == [order.number]


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_what_a_link_adds_is_shown_and_undone_and_what_changes_is_said(street, api, visit, width):
    mug = make_product(street, "Mug", price="9.50", stock_qty=2)
    make_product(street, "Pot", price="9.50", stock_qty=50)
    link = link_to(api, fill_cart(api, {"product_id": mug.pk, "qty": 2}))
    shopper = visit(width)
    shopper.expects = {422}
    page = shopper.open("/products/mug")
    page.get_by_role("button", name="Add to basket").click()
    expect(page.get_by_text("is in your basket.")).to_be_visible()
    shopper.open(link)
    notice = page.get_by_role("region", name="Items added by your link")
    expect(notice).to_contain_text("1 × Mug")
    expect(notice).to_contain_text("Mug: 1 of 2")
    shopper.photograph("brought")
    check(shopper)
    steps.click_through(page, "button", "Undo")
    expect(page.get_by_text("The items from the link were removed from your basket.")).to_be_visible()
    expect(notice).to_have_count(0)
    steps.fill_details(page)
    steps.choose_delivery(page)

    tab = shopper.context.new_page()
    tab.goto(shopper.address + "/products/pot")
    tab.get_by_role("button", name="Add to basket").click()
    expect(tab.get_by_text("is in your basket.")).to_be_visible()
    steps.pay_by_card(page)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Pot was added.")
    expect(alert).to_contain_text("The total changed from €14.40 to €23.90.")
    shopper.photograph("not-as-shown")
    check(shopper)
    steps.pay_by_card(page)
    steps.expect_order(page, "€23.90")
