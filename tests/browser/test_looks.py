"""A merchant chooses the shop's looks and sees them at once; shoppers see them once they are saved."""

import pytest
from playwright.sync_api import expect

from storefront.content.models import Looks
from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import check
from tests.browser.test_staff_sign_in import enter_password
from tests.catalogue.factories import make_category, make_product
from tests.staff import admin_url, make_staff

pytestmark = pytest.mark.browser
ACCENT = "getComputedStyle(document.documentElement).getPropertyValue('--accent')"


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_sees_colours_before_they_are_saved(street, visit, width, scheme):
    cups = make_category(street, "Cups")
    make_product(street, "Mug", categories=(cups,))
    make_category(street, "Empty")
    make_staff(street, role="manager")
    merchant, shopper = visit(width), visit(width, color_scheme=scheme)
    page = enter_password(merchant)
    merchant.open(admin_url(Looks, "changelist"))
    preview = page.frame_locator("[data-preview]")
    expect(preview.get_by_text("Mug")).to_be_visible()
    page.get_by_label("Accent colour").fill("#7a00ff")
    page.get_by_label("Top of the home page").select_option("own")
    page.get_by_label("Heading").fill("Autumn")
    expect(preview.get_by_role("heading", name="Autumn")).to_be_visible()
    expect(preview.locator("link[href='?colours=7a00ff-faf8f3']")).to_have_count(1)
    merchant.photograph("looks")
    assert Looks.objects.get().accent == "#23573f"
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("changed successfully")).to_be_visible()

    shown = shopper.open("/")
    expect(shown.get_by_role("heading", name="Autumn")).to_be_visible()
    assert shown.evaluate(ACCENT) == ("#7a00ff" if scheme == "light" else "#bdaeff")
    assert shown.evaluate("document.fonts.check('1em Fraunces') && document.fonts.check('1em Figtree')")
    check(shopper)
    shopper.photograph("own-looks")
    shopper.open("/products/mug")
    check(shopper)
