"""Suggestions while a shopper types, with the keyboard, with the mouse, and the search without JavaScript."""

import pytest
from playwright.sync_api import expect

from tests.catalogue.factories import make_product

pytestmark = pytest.mark.browser


@pytest.fixture
def products(street):
    make_product(street, "Harbour mug", description="<p>Holds tea</p>")
    make_product(street, "Mug rack")
    make_product(street, "<b>Odd</b> mug")
    make_product(street, "Blanket")


def test_suggestions_by_keyboard(products, visit):
    page = visit().open("/")
    field = page.get_by_role("combobox", name="Search products")
    field.press_sequentially("mugs")
    options = page.get_by_role("option")
    expect(options).to_have_count(3)
    expect(field).to_have_attribute("aria-expanded", "true")
    # Names are text, not HTML.
    expect(options.filter(has_text="<b>Odd</b> mug")).to_have_count(1)
    field.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    field.press("ArrowUp")
    # Back in the field, then round to the end.
    expect(options.first).to_have_attribute("aria-selected", "false")
    field.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    field.press("Escape")
    expect(page.locator("#suggestions")).to_be_hidden()
    field.press_sequentially(" harb")
    expect(options).to_have_count(1)
    field.press("ArrowDown")
    field.press("Enter")
    page.wait_for_url("**/products/harbour-mug")


def test_suggestions_by_mouse_and_a_search_past_them(products, visit):
    page = visit().open("/")
    field = page.get_by_role("combobox", name="Search products")
    field.press_sequentially("blan")
    page.get_by_role("option", name="Blanket").click()
    page.wait_for_url("**/products/blanket")
    field.fill("mug")
    expect(page.get_by_role("option")).to_have_count(3)
    field.press("Enter")
    page.wait_for_url("**/products?q=mug")
    expect(field).to_have_value("mug")


def test_typing_asks_once_for_what_was_typed(products, visit):
    page = visit().open("/")
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "suggestions" in request.url else None)
    field = page.get_by_role("combobox", name="Search products")
    field.press_sequentially("harbour")
    expect(page.get_by_role("option")).to_have_count(1)
    assert [url.rpartition("?q=")[2] for url in asked] == ["harbour"]


def test_the_search_works_without_javascript(products, visit):
    page = visit(java_script_enabled=False).open("/")
    field = page.get_by_role("searchbox", name="Search products")
    field.fill("blankit")
    field.press("Enter")
    page.wait_for_url("**/products?q=blankit")
    expect(page.get_by_text("No products match blankit. Showing blanket instead.")).to_be_visible()
