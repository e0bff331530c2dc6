"""Staff save a view of a list, find it again, rename and delete it, on a desk and on a phone."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import check
from tests.browser.test_staff_sign_in import enter_password
from tests.catalogue.factories import make_product
from tests.staff import make_staff

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_view_is_saved_renamed_and_deleted(street, visit, width):
    make_staff(street, role="manager")
    for name, status in (("Mug", "draft"), ("Scarf", "active")):
        make_product(street, name, status=status)
    merchant = visit(width)
    page = enter_password(merchant)
    merchant.open("/admin/catalogue/product/?status__exact=draft&o=5")
    views = page.get_by_role("navigation", name="Views")
    dialog = page.locator("#modal-content")
    views.get_by_role("button", name="Save view").click()
    dialog.get_by_role("textbox", name="Name").fill("Unfinished")
    check(merchant)
    merchant.photograph("save-view")
    dialog.get_by_role("button", name="Save view").click()
    expect(page.get_by_text("View “Unfinished” saved.")).to_be_visible()
    expect(views.get_by_role("link", name="Unfinished")).to_have_attribute("aria-current", "page")
    check(merchant)
    merchant.photograph("saved-view")

    views.get_by_role("link", name="All").click()
    expect(page.get_by_text("Scarf", exact=True)).to_be_visible()
    merchant.open("/admin/catalogue/product/?q=mug")
    views.get_by_role("button", name="Save view").click()
    dialog.get_by_role("textbox", name="Name").fill("unfinished")
    dialog.get_by_role("button", name="Save view").click()
    expect(dialog.get_by_text("This list already has a view with this name.")).to_be_visible()
    expect(dialog.get_by_role("textbox", name="Name")).to_have_value("unfinished")
    dialog.get_by_role("button", name="Go back").click()

    views.get_by_role("link", name="Unfinished").click()
    expect(page.get_by_text("Scarf", exact=True)).to_have_count(0)
    views.get_by_role("button", name="Rename").click()
    expect(dialog.get_by_role("textbox", name="Name")).to_have_value("Unfinished")
    dialog.get_by_role("textbox", name="Name").fill("To finish")
    dialog.get_by_role("button", name="Rename").click()
    expect(views.get_by_role("link", name="To finish")).to_have_attribute("aria-current", "page")
    views.get_by_role("button", name="Delete").click()
    dialog.get_by_role("button", name="Delete view").click()
    expect(page.get_by_text("View “To finish” deleted.")).to_be_visible()
    expect(views).to_have_count(0)
