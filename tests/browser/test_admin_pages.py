"""Every admin page respects its Content-Security-Policy (any console error fails the test) and meets WCAG 2.2 AA by
axe-core; on a phone, no page is wider than the screen."""

import pytest
from playwright.sync_api import expect

from storefront.kit import clock
from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import check
from tests.browser.test_staff_sign_in import enter_password
from tests.catalogue.factories import make_category, make_product, make_variant
from tests.customers.factories import make_customer
from tests.factories.apps import install
from tests.orders.factories import make_order, sale_line
from tests.staff import admin_url, make_staff
from tests.staff.signing_in import admin_urls

pytestmark = [pytest.mark.browser, pytest.mark.proof]


@pytest.fixture
def rows(street) -> list[str]:
    """Addresses of pages of rows, the longest first."""
    make_staff(street)
    mug = make_product(street, "Mug", categories=(make_category(street, "Cups"),))
    make_variant(mug, "Blue")
    order = make_order(street, sale_line(mug, 1), now=clock.now())
    installation = install(street, "read_shop").installation
    changed = [mug, order, installation, make_customer(street)]
    return [admin_url(row, "change") for row in changed] + [admin_url(mug, "delete"), admin_url(mug, "history")]


def looked_at(merchant, url: str) -> None:
    merchant.open(url)
    # Alpine has run when no element is cloaked.
    expect(merchant.page.locator("html")).not_to_have_attribute("x-cloak", "")
    check(merchant)


@pytest.mark.timeout(600)
def test_every_page_on_a_wide_screen(rows, visit):
    merchant = visit(WIDE)
    enter_password(merchant)
    # Pages that an owner cannot open are an error page of the shop.
    merchant.expects = {403, 404}
    named = [url for name, url in admin_urls() if name.endswith(("_changelist", "_add", "index", "password_change"))]
    for url in [*rows, "/admin/settings/", *named]:
        looked_at(merchant, url)


def test_pages_on_a_phone_in_the_dark(rows, visit):
    merchant = visit(NARROW, color_scheme="dark")
    page = enter_password(merchant)
    lists = ["", "settings/", "catalogue/product/", "orders/order/", "pricing/shippingrate/", "apps/installation/"]
    forms = ["catalogue/product/add/", "pricing/discount/add/", "content/looks/", "content/page/add/", "shops/shop/"]
    for url in [*rows, *(f"/admin/{path}" for path in (*lists, *forms)), "/admin/gift_cards/giftcard/add/"]:
        looked_at(merchant, url)
        wider = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wider <= 0, f"{url} is {wider} pixels too wide"


def test_the_search_is_reached_by_a_key_and_opens_what_it_finds(street, rows, visit):
    merchant = visit(WIDE)
    page = enter_password(merchant)
    page.locator("body").press("/")
    page.keyboard.type("mug")
    expect(page.locator("#finder-results a").first).to_be_visible()
    check(merchant)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Mug").first).to_be_visible()
