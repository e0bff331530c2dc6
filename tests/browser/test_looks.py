"""A merchant edits the home page beside its preview; shoppers see it once it is saved."""

import pytest
from playwright.sync_api import expect

from storefront.content.models import Looks, LooksVersion
from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import check
from tests.browser.test_staff_sign_in import enter_password
from tests.catalogue.factories import make_category, make_product
from tests.content.test_looks import picture
from tests.staff import admin_url, make_staff

pytestmark = pytest.mark.browser
ACCENT = "getComputedStyle(document.documentElement).getPropertyValue('--accent')"


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_edits_the_home_page_beside_its_preview(street, visit, width, scheme):
    cups = make_category(street, "Cups")
    make_product(street, "Mug", categories=(cups,), is_featured=True)
    make_category(street, "Empty")
    make_staff(street, role="manager")
    merchant, shopper = visit(width), visit(width, color_scheme=scheme)
    page = enter_password(merchant)
    merchant.open(admin_url(Looks, "changelist"))
    preview = page.frame_locator("[data-preview]")
    expect(preview.get_by_role("heading", name="Mug")).to_be_visible()

    # Another opening, with a picture, moved to the top by keyboard.
    page.get_by_label("Add a section").select_option("Opening")
    page.get_by_role("button", name="Add", exact=True).click()
    page.locator("[data-block]").last.get_by_label("Heading").fill("Autumn")
    expect(preview.get_by_role("heading", name="Autumn")).to_be_visible()
    chosen = picture("tree.png")
    page.locator("[data-block]").last.get_by_label("Picture", exact=True).set_input_files(
        {"name": "tree.png", "mimeType": "image/png", "buffer": chosen.read()}
    )
    expect(preview.locator(".hero__picture img[src*='tree']")).to_have_count(1)
    up = page.locator("[data-block]").last.get_by_role("button", name="Move up")
    up.focus()
    for _ in range(4):
        page.keyboard.press("Enter")
    expect(page.locator("[data-block]").first).to_contain_text("Opening")
    expect(preview.locator("main h1")).to_have_text("Autumn")

    page.get_by_label("Accent colour").fill("#7a00ff")
    expect(preview.locator("link[href*='colours=7a00ff-faf8f3']")).to_have_count(1)
    page.get_by_label("Logo", exact=True).set_input_files(
        {"name": "mark.png", "mimeType": "image/png", "buffer": picture().file.getvalue()}
    )
    expect(preview.locator(".masthead__logo[src*='mark']")).to_have_count(1)
    page.get_by_role("button", name="Phone").click()
    merchant.photograph("looks")
    check(merchant)
    assert Looks.objects.get().accent == "#23573f"
    assert "Autumn" not in shopper.open("/").content()

    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("” saved.")).to_be_visible()
    shown = shopper.open("/")
    expect(shown.locator("main h1")).to_have_text("Autumn")
    expect(shown.locator(".masthead__logo")).to_be_visible()
    assert shown.evaluate(ACCENT) == ("#7a00ff" if scheme == "light" else "#bdaeff")
    assert shown.evaluate("document.fonts.check('1em Fraunces') && document.fonts.check('1em Figtree')")
    check(shopper)
    shopper.photograph("own-looks")


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_chooses_a_theme_and_goes_back(street, visit, width):
    make_product(street, "Mug")
    make_staff(street, role="manager")
    merchant, shopper = visit(width), visit(width)
    page = enter_password(merchant)
    merchant.open(admin_url(Looks, "changelist"))
    page.get_by_role("link", name="Choose a look").click()
    merchant.photograph("themes")
    check(merchant)
    page.get_by_role("button", name="Choose Linen").click()
    expect(page.get_by_text("Your shop has a new look.")).to_be_visible()
    expect(page.get_by_text("Your home page shows demo pictures.")).to_be_visible()
    expect(shopper.open("/").locator("main h1")).to_have_text("Made slowly, to be kept for long")
    check(shopper)
    page.get_by_role("link", name="Earlier versions").click()
    merchant.photograph("versions")
    check(merchant)
    page.get_by_role("button", name="Back to this").click()
    expect(page.get_by_text("The looks are as they were.")).to_be_visible()
    expect(shopper.open("/").locator("main h1")).to_have_text(f"Welcome to {street.name}")
    assert LooksVersion.objects.filter(shop=street).count() == 3
