"""Every page meets WCAG 2.2 AA by axe-core, on a wide and a narrow screen, in light and in dark."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser import steps
from tests.browser.conftest import NARROW, WIDE
from tests.catalogue.factories import make_category, make_option, make_product, make_variant

pytestmark = [pytest.mark.browser, pytest.mark.proof]

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def check(shopper) -> None:
    # As people see it: a form's answer is not loaded yet when its first words are there, and icons are words without
    # their font.
    shopper.page.wait_for_load_state()
    shopper.page.evaluate("document.fonts.ready.then(() => true)")
    found = Axe().run(shopper.page, options=RULES)
    problems = [
        f"{problem['id']}: {node['html'][:160]} {node['failureSummary']}"
        for problem in found.response["violations"]
        for node in problem["nodes"]
    ]
    assert not problems, f"{shopper.page.url}: " + "\n".join(problems)


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_every_page_meets_wcag_aa(street, visit, width, scheme):
    cups = make_category(street, "Cups", description="For tea and coffee.")
    cup = make_product(street, "Cup", categories=(cups,), is_featured=True, compare_price="20.00", description="Nice.")
    make_variant(cup, "Blue")
    make_variant(cup, "Red", stock_qty=0)
    make_option(cup, "Engraving", {"Gold": "5.00", "Silver": "4.00"}, type="radio")
    make_option(cup, "Name", {"Name": "1.00"}, type="text")
    for number in range(30):
        make_product(street, f"Plate {number}", categories=(cups,), stock_qty=number % 3, low_stock_threshold=1)
    shopper = visit(width, color_scheme=scheme)
    shopper.expects = {404, 403, 422}
    for path in ("/", "/products", "/products?q=zzz", "/categories/cups", "/products/cup", "/basket", "/nope"):
        shopper.open(path)
        check(shopper)
    page = shopper.open("/products/cup")
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("link", name="View basket").wait_for()
    check(shopper)
    shopper.open("/basket")
    check(shopper)
    steps.click_through(page, "link", "Go to checkout")
    check(shopper)
    steps.click_through(page, "button", "Continue to delivery")
    check(shopper)
    steps.fill_details(page)
    page.wait_for_url("**/delivery")
    check(shopper)
    steps.choose_delivery(page)
    page.wait_for_url("**/payment")
    check(shopper)
    steps.pay_by_card(page)
    page.wait_for_url("**/orders/*")
    check(shopper)
    shopper.open("/cart/resume?cart=x")
    check(shopper)
