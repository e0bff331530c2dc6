"""Staff work with the list of products on a desk and on a phone: rows, filters, prices in their rows, and
actions on chosen rows."""

from decimal import Decimal

import pytest
from playwright.sync_api import expect

from storefront.catalogue.models import Product
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.payments.actions import mark_paid
from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import check
from tests.browser.test_staff_sign_in import enter_password
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line
from tests.staff import admin_url, make_staff

pytestmark = [pytest.mark.browser, pytest.mark.proof]
SIDEWAYS = "document.documentElement.scrollWidth - innerWidth"
ROW_HEIGHT = 90


@pytest.fixture(params=[(WIDE, "light"), (NARROW, "dark")], ids=["desk", "phone"])
def merchant(request, street, visit):
    """A merchant at the list of products. Axe takes a second for three rows."""
    width, scheme = request.param
    for number in range(6):
        make_product(street, f"Mug {number}", price="9.50", stock_qty=4, status="active" if number else "draft")
    make_staff(street, role="manager")
    merchant = visit(width, color_scheme=scheme)
    enter_password(merchant)
    merchant.open(admin_url(Product, "changelist"))
    return merchant


def test_a_price_is_changed_in_its_row_by_keyboard_and_taken_back(merchant):
    page, rows = merchant.page, merchant.page.locator("tbody tr")
    expect(rows).to_have_count(6)
    assert page.evaluate(SIDEWAYS) <= 0
    if page.viewport_size["width"] == NARROW:
        assert all(row.bounding_box()["height"] < ROW_HEIGHT - 8 for row in rows.all())
    check(merchant)
    rows.nth(1).get_by_role("button", name="Price of Mug 4: €9.50").press("Enter")
    price = rows.nth(1).get_by_role("spinbutton")
    expect(price).to_be_focused()
    price.fill("12.345")
    page.keyboard.press("Enter")
    expect(rows.nth(1).get_by_role("alert")).to_contain_text("no more than 2 decimal places")
    expect(price).to_have_value("12.345")
    assert page.evaluate(SIDEWAYS) <= 0
    check(merchant)
    merchant.photograph("list-price")
    price.fill("12")
    page.keyboard.press("Enter")
    expect(rows.nth(1).get_by_role("button", name="Undo")).to_be_focused()
    assert Product.objects.get(name="Mug 4").price == 12
    check(merchant)
    page.keyboard.press("Enter")
    expect(rows.nth(1).get_by_role("button", name="Price of Mug 4: €9.50")).to_be_visible()
    assert Product.objects.get(name="Mug 4").price == Decimal("9.50")
    rows.nth(2).get_by_role("button", name="Stock of Mug 3: 4").click()
    expect(rows.nth(2).get_by_role("spinbutton")).to_be_focused()
    page.keyboard.press("Escape")
    expect(rows.nth(2).get_by_role("spinbutton")).to_have_count(0)


def test_filters_have_counts_and_a_bar_has_the_actions_on_chosen_rows(merchant):
    page, rows, bar = merchant.page, merchant.page.locator("tbody tr"), merchant.page.locator("#chosen")
    expect(bar).to_be_hidden()
    page.locator(".list-chips").get_by_role("link", name="Status").click()
    draft = page.get_by_role("dialog").get_by_role("link", name="Draft")
    expect(draft).to_contain_text("1")
    check(merchant)
    merchant.photograph("list-filter")
    draft.click()
    expect(rows).to_have_count(1)
    page.get_by_role("link", name="Remove the filter Status").click()
    expect(rows).to_have_count(6)
    rows.nth(0).get_by_role("checkbox").check()
    rows.nth(1).get_by_role("checkbox").check()
    expect(bar.locator("[data-count]")).to_have_text("Chosen: 2")
    assert page.evaluate(SIDEWAYS) <= 0
    check(merchant)
    merchant.photograph("list-bar")
    assert bar.get_by_role("button").last.inner_text() == "Delete"
    bar.get_by_role("button", name="Archive").click()
    expect(page.get_by_text("2 updated.")).to_be_visible()
    # Arrows lead from row to row, and a click beside the name opens one.
    rows.nth(3).get_by_role("link").first.focus()
    page.keyboard.press("ArrowDown")
    expect(rows.nth(4).get_by_role("link").first).to_be_focused()
    rows.nth(4).locator(".mark").click()
    expect(page.locator("#id_name")).to_be_visible()


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")], ids=["desk", "phone"])
def test_orders_are_filtered_chosen_and_fulfilled_from_their_list(street, visit, width, scheme):
    mug = make_product(street, "Mug", stock_qty=9)
    for _ in range(3):
        mark_paid(shop=street, order=make_order(street, sale_line(mug), now=clock.now()), now=clock.now())
    make_order(street, sale_line(mug), now=clock.now())
    make_staff(street, role="manager")
    merchant = visit(width, color_scheme=scheme)
    enter_password(merchant)
    page = merchant.open(admin_url(Order, "changelist"))
    rows, bar = page.locator("tbody tr"), page.locator("#chosen")
    expect(rows).to_have_count(4)
    expect(bar).to_be_hidden()
    # No number, amount or country is broken within.
    tallest = ROW_HEIGHT if width == NARROW else 50
    assert all(row.bounding_box()["height"] < tallest for row in rows.all())
    merchant.photograph("orders")
    check(merchant)
    page.locator(".list-chips").get_by_role("link", name="Payment").click()
    paid = page.get_by_role("dialog").get_by_role("link", name="Paid", exact=False).first
    expect(paid).to_contain_text("3")
    check(merchant)
    paid.click()
    expect(rows).to_have_count(3)
    # By keyboard: down a row, choose it, and the next one.
    rows.nth(0).get_by_role("link").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("x")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("x")
    expect(bar.locator("[data-count]")).to_have_text("Chosen: 2")
    check(merchant)
    merchant.photograph("orders-chosen")
    bar.get_by_role("button", name="Mark as fulfilled").click()
    expect(page.get_by_text("2 orders were marked as fulfilled.")).to_be_visible()
    assert Order.objects.filter(status="fulfilled").count() == 2


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_lists_work_without_scripts(street, visit, width):
    make_product(street, "Mug", price="9.50")
    make_product(street, "Cup", price="4.50", status="draft")
    make_staff(street, role="manager")
    merchant = visit(width, java_script_enabled=False)
    enter_password(merchant)
    page = merchant.open(admin_url(Product, "changelist"))
    rows, bar = page.locator("tbody tr"), page.locator("#chosen")
    expect(page.get_by_role("link", name="Add product")).to_be_visible()
    expect(bar).to_be_hidden()
    merchant.photograph("list-without-scripts")
    page.get_by_role("button", name="Price of Mug: €9.50").click()
    page.get_by_role("spinbutton").fill("12")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    assert Product.objects.get(name="Mug").price == 12
    page = merchant.open(admin_url(Product, "changelist"))
    page.locator(".list-chips").get_by_role("link", name="Status").click()
    page.get_by_role("link", name="Draft").click()
    expect(rows).to_have_count(1)
    rows.first.get_by_role("checkbox").check()
    expect(bar).to_be_visible()
    bar.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_text("1 updated.")).to_be_visible()
    assert Product.objects.get(name="Cup").status == "active"
