"""Filtering a listing: with scripts at once, without them by a button, on a phone in a drawer."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import check
from tests.catalogue.factories import make_category, make_product, make_variant

pytestmark = pytest.mark.browser


@pytest.fixture
def goods(street):
    kitchen = make_category(street, "Kitchen")
    brands = [street.brands.create(name=name) for name in ("Acme", "Bolt & Sons")]
    for number, (name, material) in enumerate((("Cup", "Stoneware"), ("Mug", "Porcelain"), ("Bowl", "Stoneware"))):
        product = make_product(
            street,
            name,
            categories=(kitchen,),
            brand=brands[number % 2],
            price=5 + number,
            attributes=[{"name": "Material", "values": [material]}],
        )
        make_variant(product, ("Blue", "Red", "Moss")[number], price=5 + number, stock_qty=number)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_tick_filters_at_once_and_keeps_focus_and_drawer(goods, visit, width):
    shopper = visit(width)
    page = shopper.open("/categories/kitchen?sort=name")
    cards = page.locator(".product-card__name")
    if width == NARROW:
        expect(page.get_by_role("checkbox", name="Acme")).to_be_hidden()
        page.locator("summary", has_text="Filters").click()
    box = page.get_by_role("checkbox", name="Stoneware")
    box.focus()
    page.keyboard.press("Space")
    expect(cards).to_have_text(["Bowl", "Cup"])
    expect(box).to_be_focused()
    expect(box).to_be_checked()
    page.get_by_label("From").fill("6")
    page.keyboard.press("Enter")
    expect(cards).to_have_text(["Bowl"])
    expect(page).to_have_url(f"{shopper.address}/categories/kitchen?sort=name&filter.Material=Stoneware&min_price=6")
    shopper.photograph("filters")
    check(shopper)
    page.get_by_role("link", name="From €6.00, remove this filter").click()
    expect(cards).to_have_text(["Bowl", "Cup"])
    page.get_by_role("link", name="Clear all").click()
    page.wait_for_url("**/categories/kitchen?sort=name")
    page.go_back()
    expect(cards).to_have_text(["Bowl", "Cup"])


def test_a_button_filters_without_scripts(goods, visit):
    page = visit(NARROW, java_script_enabled=False).open("/products")
    page.locator("summary", has_text="Filters").click()
    page.get_by_role("checkbox", name="In stock").check()
    page.get_by_role("button", name="Apply filters").click()
    expect(page.locator(".product-card__name")).to_have_count(2)
    expect(page.get_by_role("link", name="In stock, remove this filter")).to_be_visible()
