"""Shopping with checkout and account on a separate host: only the URL shows it."""

import pytest
from playwright.sync_api import expect

from storefront.customers.models import CustomerGroup
from storefront.orders.models import Order
from storefront.pricing.models import GroupPrice
from tests.answers import words_of
from tests.browser import steps
from tests.browser.conftest import NARROW, WIDE
from tests.catalogue.factories import make_product
from tests.customers.factories import PASSWORD, make_customer

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("own_hosts")]

EMAIL = "ada@example.com"


@pytest.fixture
def secure(settings) -> str:
    return f"http://{settings.SECURE_HOST}/localhost"


def fill_basket(shopper, count: int) -> None:
    page = shopper.open("/products/mug")
    page.get_by_role("button", name="Add to basket").click()
    expect(page.locator("#basket-link")).to_contain_text(str(count))


def sign_in(page) -> None:
    page.get_by_label("Email address").fill(EMAIL)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()


@pytest.mark.walk
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_from_the_basket_to_an_order_and_back(street, visit, secure, width):
    make_product(street, "Mug", price="9.50", stock_qty=9)
    shopper = visit(width)
    page = shopper.page
    fill_basket(shopper, 1)
    steps.click_through(page, "link", "View basket")
    steps.click_through(page, "link", "Go to checkout")
    expect(page).to_have_url(f"{secure}/checkout")
    steps.click_through(page, "link", "Change your basket")
    expect(page).to_have_url(f"{shopper.address}/basket")
    page.get_by_label("Quantity of Mug").fill("2")
    page.get_by_label("Quantity of Mug").press("Enter")
    expect(page.locator("#basket-link")).to_contain_text("2")
    steps.click_through(page, "link", "Go to checkout")
    expect(page.locator("main")).to_contain_text("€19.00")
    steps.fill_details(page)
    steps.choose_delivery(page)
    steps.pay_by_card(page)
    steps.expect_order(page, "€23.90")
    assert page.url == f"{secure}/orders/{Order.objects.get().public_id}"
    steps.click_through(page, "link", "Back to the shop")
    expect(page).to_have_url(f"{shopper.address}/")
    expect(page.locator("#basket-link")).to_contain_text("0")


def test_a_payment_for_an_unavailable_product_redirects_to_the_basket(street, visit, secure):
    """The form of one host redirects to a page of the other, which the Content-Security-Policy must allow."""
    mug = make_product(street, "Mug", price="9.50", stock_qty=9)
    shopper = visit()
    page = shopper.page
    fill_basket(shopper, 1)
    shopper.open("/checkout")
    steps.fill_details(page)
    steps.choose_delivery(page)
    mug.status = "draft"
    mug.save()
    steps.pay_by_card(page)
    page.wait_for_url(f"{shopper.address}/basket")
    expect(page.locator("main")).to_contain_text("No longer available")


def test_signing_in_on_the_one_host_gives_its_prices_on_the_other(street, visit, secure):
    mug = make_product(street, "Mug", price="9.50", stock_qty=9)
    group = CustomerGroup.objects.create(shop=street, name="Trade")
    GroupPrice.objects.create(shop=street, group=group, product=mug, price="7.00")
    make_customer(street, name="Ada Lovelace", group=group)
    shopper = visit()
    page = shopper.page
    fill_basket(shopper, 1)
    with page.expect_navigation():
        page.get_by_role("link", name="Sign in").click()
    expect(page).to_have_url(f"{secure}/account/sign-in")
    sign_in(page)
    page.wait_for_url(f"{secure}/account")
    expect(page.locator("#basket-link")).to_contain_text("1")
    shopper.open("/products/mug")
    expect(page.locator("#price")).to_have_text("€7.00")
    expect(page.locator("#basket-link")).to_contain_text("1")
    assert "Ada" not in words_of(page.content())
    with page.expect_navigation():
        page.get_by_role("link", name="Account").click()
    page.get_by_role("searchbox", name="Search products").fill("mug")
    page.get_by_role("searchbox", name="Search products").press("Enter")
    page.wait_for_url(f"{shopper.address}/products?q=mug")
    expect(page.locator("main")).to_contain_text("€7.00")
    shopper.open(f"{secure}/account")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{shopper.address}/")
    expect(page.get_by_text("You have signed out.")).to_be_visible()
    expect(page.locator("#basket-link")).to_contain_text("0")
    shopper.open("/products/mug")
    expect(page.locator("#price")).to_have_text("€9.50")
    shopper.open(f"{secure}/account")
    page.wait_for_url(f"{secure}/account/sign-in*")
