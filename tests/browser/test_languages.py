"""Pages in several languages in a browser: the switch follows what htmx changes, amounts are written as on the page,
and pages from right to left are as good as the others."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import check
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant

pytestmark = pytest.mark.browser
# How far from the left a word of an element is.
PLACE_OF = """([part, word]) => {
  const text = document.querySelector(part).firstChild, range = document.createRange(), start = text.data.indexOf(word);
  range.setStart(text, start);
  range.setEnd(text, start + word.length);
  return range.getBoundingClientRect().left;
}"""


@pytest.fixture
def goods(street):
    street.further_languages = ["de", "ar"]
    street.save()
    cups = make_category(street, "Cups")
    for number in range(30):
        make_product(street, f"Plate {number}", categories=(cups,), stock_qty=number)
    cup = make_product(
        street, "Cup", categories=(cups,), price="1234.50", stock_qty=5, description="<ul><li>9 cm high.</li></ul>"
    )
    make_option(cup, "Engraving", {"Gold": "5.00", "Silver": "4.00"}, type="radio")
    for name in ("one", "two"):
        make_media(cup, f"/static/website/placeholder.svg?{name}")
    make_variant(make_product(street, "Bowl", categories=(cups,)), "Blue", stock_qty=3)
    return street


def test_the_switch_follows_the_filters(goods, visit):
    page = visit(locale="en-GB").open("/de/categories/cups")
    page.get_by_role("checkbox", name="Auf Lager").check()
    link = page.locator(".versions").get_by_role("link", name="English")
    expect(link).to_have_attribute("href", re.compile(r"^/categories/cups\?stock=1"))
    link.click()
    expect(page).to_have_url(re.compile(r"[^/]*//[^/]*/categories/cups\?stock=1[^/]*$"))


def test_amounts_are_written_as_on_the_page(goods, visit):
    page = visit(locale="de-DE").open("/de/products/cup")
    page.get_by_text("Gold").click()
    expect(page.locator("[data-buy]")).to_contain_text("1.239,50\xa0€")
    page = visit(locale="en-GB").open("/products/cup")
    page.get_by_text("Gold").click()
    expect(page.locator("[data-buy]")).to_contain_text("€1,239.50")


def test_the_offer_leads_to_the_page_or_away_for_good(goods, visit):
    page = visit(locale="de-DE").open("/products/cup")
    expect(page.locator(".offer a").first).to_have_attribute("hreflang", "de")
    page.locator(".offer__decline").click()
    page.wait_for_url("**/products/cup")
    expect(page.locator(".offer")).to_have_count(0)
    page = visit(locale="de-DE").open("/products/cup")
    page.locator(".offer a").first.click()
    page.wait_for_url("**/de/products/cup")


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_pages_from_right_to_left(goods, visit, width):
    shopper = visit(width, locale="de-DE")
    for name, path in (
        ("home", "/ar/"),
        ("listing", "/ar/products?page=2"),
        ("product", "/ar/products/cup"),
        ("basket", "/ar/basket"),
        ("sign-in", "/ar/account/sign-in"),
    ):
        page = shopper.open(path)
        shopper.photograph(f"{name}-rtl")
        check(shopper)
    page = shopper.open("/ar/products/cup")
    # A text without a translation is in its own direction.
    nine, high = (page.evaluate(PLACE_OF, [".prose li", word]) for word in ("9", "high"))
    assert nine < high
    name, basket = (
        page.locator(part).first.bounding_box() for part in (".masthead__name", ".masthead__row > :last-child")
    )
    assert name["x"] > basket["x"], "the shop's name is at the right"
