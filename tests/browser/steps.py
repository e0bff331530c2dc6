"""Steps of a purchase, page by page, by labels and buttons, and of the admin."""

from typing import Literal

from playwright.sync_api import Page, expect

PAYS, DECLINED = "4242 4242 4242 4242", "4000 0000 0000 0002"


def click_through(page: Page, role: Literal["button", "link"], name: str) -> None:
    """Click, and wait for the next page. A click alone does not wait, so the next step could act on the old page."""
    with page.expect_navigation():
        page.get_by_role("main").get_by_role(role, name=name, exact=True).first.click()


def fill_details(page: Page, *, then: str = "Continue to delivery") -> None:
    page.get_by_label("Email address").fill("ada@example.com")
    address = page.get_by_role("group", name="Delivery address").or_(page.locator("main"))
    address = address.last
    address.get_by_label("Name", exact=True).first.fill("Ada Lovelace")
    address.get_by_label("Street and number").first.fill("Hafenstraße 1")
    address.get_by_label("Postal code").first.fill("24103")
    address.get_by_label("Town or city").first.fill("Kiel")
    address.get_by_label("Country").first.select_option("DE")
    click_through(page, "button", then)


def choose_delivery(page: Page) -> None:
    page.get_by_label("Parcel").check()
    click_through(page, "button", "Continue to payment")


def pay_by_card(page: Page, number: str = PAYS) -> None:
    page.get_by_role("radio", name="card").check()
    page.get_by_label("Card number").fill(number)
    page.get_by_label("Expiry date").fill("12/34")
    page.get_by_label("Security code").fill("123")
    page.get_by_role("button", name="Place order and pay").click()


def expect_order(page: Page, total: str) -> None:
    """Expect the confirmation of an order with this total."""
    page.wait_for_url("**/orders/*")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("main")).to_contain_text(total)


def click_deed(page: Page, name: str) -> None:
    """Choose a deed at the top, which is in a menu on a narrow screen."""
    menu, deed = page.get_by_text("more_horiz"), page.get_by_role("link", name=name)
    expect(menu.or_(deed).locator("visible=true").first).to_be_visible()
    if not deed.is_visible():
        menu.click()
    deed.click()


def fill_code(page, label: str, code: str) -> None:
    """Fill in a discount code or a gift card, whose field is behind one line until a code was entered."""
    field = page.get_by_label(label, exact=True)
    if not field.is_visible():
        page.locator(".codes summary").click()
    field.fill(code)
