"""An owner adds a further domain and checks it, on a desk and on a phone."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import check
from tests.browser.test_staff_sign_in import enter_password
from tests.staff import make_staff

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_domain_is_added_and_checked(street, visit, width):
    make_staff(street)
    merchant = visit(width)
    page = enter_password(merchant)
    merchant.open("/admin/settings/")
    page.get_by_role("link", name="Domains").last.click()
    expect(page.get_by_role("link", name=street.base_url)).to_be_visible()
    merchant.photograph("domains-empty")
    merchant.open("/admin/shops/shopdomain/add/")
    page.get_by_role("textbox", name="Domain").fill("not a host")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Expected a host name such as www.example.com").first).to_be_visible()
    # A name that no resolver knows (RFC 6761).
    page.get_by_role("textbox", name="Domain").fill("www.shop.invalid")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("as soon as the operator of this deployment has confirmed it")).to_be_visible()
    check(merchant)
    if width == NARROW:
        page.get_by_text("more_horiz").click()
    page.get_by_role("link", name="Check").click()
    page.locator("#modal-content").get_by_role("button", name="Check").click()
    expect(page.get_by_text("The host name could not be resolved.").first).to_be_visible()
    merchant.photograph("domain")
    merchant.open("/admin/shops/shopdomain/")
    expect(page.get_by_text("Waiting for the operator")).to_be_visible()
    check(merchant)
    merchant.photograph("domains")
