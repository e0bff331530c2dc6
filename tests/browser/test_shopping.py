"""Shopping with a mouse, with the keyboard alone, without JavaScript, and with a declined card."""

import pytest
from playwright.sync_api import Page, expect

from storefront.orders.models import Order
from tests.browser import steps
from tests.browser.conftest import NARROW, WIDE
from tests.catalogue.factories import make_category, make_option, make_product, make_variant

pytestmark = pytest.mark.browser


@pytest.fixture
def products(street):
    cups = make_category(street, "Cups")
    make_product(street, "Saucer", categories=(cups,))
    cup = make_product(street, "Cup", categories=(cups,), is_featured=True)
    make_variant(cup, "Blue", price="12.00")
    make_variant(cup, "Red", price="14.00", stock_qty=1)
    make_variant(cup, "Grey", stock_qty=0)
    make_option(cup, "Engraving", {"Gold": "5.00"}, required=True)


@pytest.mark.walk
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_buying_from_the_front_page_to_the_confirmation(products, visit, width):
    shopper = visit(width)
    page = shopper.open("/")
    shopper.photograph("home")
    with page.expect_navigation():
        page.get_by_role("link", name="All products").first.click()
    shopper.photograph("listing")
    page.get_by_role("link", name="Cup", exact=True).click()
    page.get_by_role("radio", name="Red").check()
    expect(page.locator("#price")).to_have_text("€19.00")
    page.get_by_label("Engraving").select_option(label="Gold (+ €5.00)")
    expect(page.get_by_role("button", name="Add to basket")).to_contain_text("€19.00")
    shopper.photograph("product")
    page.get_by_role("button", name="Add to basket").click()
    expect(page.get_by_text("is in your basket.")).to_be_visible()
    expect(page.locator("#basket-link")).to_contain_text("1")
    steps.click_through(page, "link", "View basket")
    shopper.photograph("basket")
    page.get_by_role("link", name="Go to checkout").click()
    steps.fill_details(page)
    steps.choose_delivery(page)
    steps.pay_by_card(page)
    steps.expect_order(page, "€23.90")
    assert Order.objects.get().payment_status == "paid"


def test_a_variant_that_is_sold_out_cannot_be_added(products, visit):
    page = visit().open("/products/cup")
    page.get_by_role("radio", name="Grey").check()
    expect(page.locator("#buy [data-buy]")).to_be_disabled()
    expect(page.locator("#buy [data-buy]")).to_have_text("Sold out")


def test_a_refusal_is_shown_beside_the_button(products, visit):
    shopper = visit()
    shopper.expects = {422}
    page = shopper.open("/products/cup")
    page.get_by_role("radio", name="Red").check()
    page.get_by_label("Engraving").select_option(index=1)
    page.get_by_label("Quantity").fill("2")
    page.get_by_role("button", name="Add to basket").click()
    expect(page.get_by_role("alert")).to_contain_text("Not enough stock of Cup – Red. Only 1 more available.")


def test_a_quantity_changes_without_a_new_page(products, visit):
    page = visit().open("/products/saucer")
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("link", name="View basket").click()
    # With its scripts, which hear of the change.
    page.wait_for_url("**/basket")
    page.evaluate("window.same = true")
    page.get_by_label("Quantity of Saucer").fill("3")
    page.get_by_label("Quantity of Saucer").press("Tab")
    expect(page.locator(".totals__sum")).to_contain_text("€28.50")
    expect(page.locator("#basket-link")).to_contain_text("3")
    page.get_by_role("button", name="Remove Saucer").click()
    expect(page.get_by_text("Your basket is empty")).to_be_visible()
    assert page.evaluate("window.same")


@pytest.mark.walk
def test_everything_works_without_javascript(products, visit):
    shopper = visit(java_script_enabled=False)
    page = shopper.open("/products/cup")
    page.get_by_role("radio", name="Blue").check()
    page.get_by_label("Engraving").select_option(index=1)
    page.get_by_role("button", name="Add to basket").click()
    expect(page.get_by_text("is in your basket.")).to_be_visible()
    page.get_by_label("Quantity of Cup").fill("2")
    page.get_by_role("button", name="Update").click()
    expect(page.locator(".totals__sum")).to_contain_text("€34.00")
    page.get_by_role("link", name="Go to checkout").click()
    steps.fill_details(page)
    steps.choose_delivery(page)
    steps.pay_by_card(page)
    steps.expect_order(page, "€38.90")


def test_everything_works_with_the_keyboard_alone(products, visit):
    page = visit().open("/products/saucer")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to main content")).to_be_focused()
    page.keyboard.press("Enter")
    _tab_to(page, page.get_by_role("button", name="Add to basket"))
    page.keyboard.press("Enter")
    _tab_to(page, page.get_by_role("link", name="View basket"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/basket")
    _tab_to(page, page.get_by_role("link", name="Go to checkout"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/checkout")
    for label, text in (
        ("Email address", "ada@example.com"),
        ("Name", "Ada Lovelace"),
        ("Street and number", "Hafenstraße 1"),
        ("Postal code", "24103"),
        ("Town or city", "Kiel"),
    ):
        _tab_to(page, page.get_by_label(label, exact=True).first)
        page.keyboard.type(text)
    _tab_to(page, page.get_by_label("Country").first)
    page.keyboard.type("Germany")
    _tab_to(page, page.get_by_role("button", name="Continue to delivery"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/delivery")
    _tab_to(page, page.get_by_label("Parcel"))
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    page.wait_for_url("**/payment")
    _tab_to(page, page.get_by_role("radio", name="invoice"))
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    steps.expect_order(page, "€14.40")
    assert Order.objects.get().payment_method == "manual"


def _tab_to(page, wanted) -> None:
    for _ in range(60):
        page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"the keyboard does not reach {wanted}")


def test_a_declined_card_is_reported_and_another_one_pays(products, visit):
    shopper = visit()
    shopper.expects = {402, 422}
    page = shopper.open("/products/saucer")
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("link", name="View basket").click()
    page.get_by_role("link", name="Go to checkout").click()
    steps.fill_details(page)
    steps.choose_delivery(page)
    steps.pay_by_card(page, steps.DECLINED)
    expect(page.get_by_role("alert")).to_contain_text("declined")
    expect(page.get_by_role("alert")).to_be_in_viewport()
    expect(page.get_by_label("Card number")).to_be_focused()
    assert not Order.objects.exists()
    shopper.photograph("declined")
    steps.pay_by_card(page)
    steps.expect_order(page, "€14.40")


def test_sorts_as_soon_as_another_order_is_chosen(products, visit):
    page = visit().open("/products")
    expect(page.get_by_role("button", name="Sort")).to_be_hidden()
    page.get_by_label("Sort by").select_option("price_desc")
    page.wait_for_url("**/products?sort=price_desc")
    plain = visit(java_script_enabled=False).open("/products")
    plain.get_by_label("Sort by").select_option("price_desc")
    plain.get_by_role("button", name="Sort").click()
    plain.wait_for_url("**/products?sort=price_desc")


def basket_of_saucer_and_cup(shopper) -> Page:
    page = shopper.open("/products/saucer")
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("link", name="View basket").wait_for()
    page.goto(page.url.replace("saucer", "cup"))
    page.get_by_role("radio", name="Blue").check()
    page.get_by_label("Engraving").select_option(index=1)
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("link", name="View basket").click()
    page.wait_for_url("**/basket")
    return page


def test_focus_stays_when_a_line_leaves_the_basket(products, visit):
    page = basket_of_saucer_and_cup(visit())
    first, second = (page.get_by_role("button", name=f"Remove {name}") for name in ("Saucer", "Cup"))
    first.press("Enter")
    expect(first).to_have_count(0)
    expect(second).to_be_focused()
    quantity = page.get_by_label("Quantity of Cup")
    quantity.fill("2")
    quantity.press("Enter")
    expect(page.locator(".totals__sum")).to_contain_text("€34.00")
    expect(quantity).to_be_focused()
    second.press("Enter")
    expect(page.get_by_text("Your basket is empty")).to_be_visible()
    expect(page.locator("#basket a").first).to_be_focused()


def test_focus_stays_and_nothing_is_stale_when_two_answers_come_at_once(products, visit):
    page = basket_of_saucer_and_cup(visit())
    held = []
    page.route("**/basket/update", lambda route: held.append(route))
    first, second = (page.get_by_role("button", name=f"Remove {name}") for name in ("Saucer", "Cup"))
    with page.expect_request("**/basket/update"):
        first.press("Enter")
    with page.expect_request("**/basket/update"):
        second.press("Enter")
    held[0].continue_()
    expect(first).to_have_count(0)
    held[1].continue_()
    expect(page.get_by_text("Your basket is empty")).to_be_visible()
    expect(page.locator("#basket a").first).to_be_focused()


def test_being_offline_is_said_and_loses_nothing(products, visit):
    shopper = visit(NARROW)
    page = shopper.open("/products/saucer")
    button = page.get_by_role("button", name="Add to basket")
    page.context.set_offline(True)
    button.click()
    expect(page.get_by_text("You are offline. Please try again")).to_be_visible()
    expect(button).not_to_have_attribute("aria-busy", "true")
    shopper.photograph("offline")
    page.context.set_offline(False)
    shopper.complaints.clear()
    button.click()
    expect(page.get_by_role("link", name="View basket")).to_be_visible()
