"""The text editor keeps what it cannot edit: tables, pictures, lines."""

import pytest
from playwright.sync_api import expect

from storefront.catalogue.models import Product
from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import check
from tests.browser.test_staff_sign_in import enter_password
from tests.catalogue.factories import make_product
from tests.staff import admin_url, make_staff

pytestmark = pytest.mark.browser

TABLE = '<table><tbody><tr><th>Size</th><td colspan="2">30 × 20 cm</td></tr></tbody></table>'
PICTURE = '<img src="/static/website/icon.svg" alt="A loom">'
LINKED = f'<a href="https://example.com/" rel="noopener noreferrer">{PICTURE}</a>'
REST = (
    "<h2>Care</h2><h3>Wash</h3><h4>Dry</h4><p>H<sub>2</sub>O <u>only</u></p><hr>"
    "<pre>a\n  <b>b</b></pre><dl><dt>Wool</dt><dd>Soft</dd></dl>"
)
TEXT = f"<p>Woven by hand.</p>{TABLE}<p>On {PICTURE} here.</p>{REST}"


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_text_with_tables_and_pictures_is_edited_and_loses_nothing(street, visit, width):
    make_staff(street, role="manager")
    throw = make_product(street, "Throw", description=TEXT)
    merchant = visit(width)
    page = enter_password(merchant)
    merchant.open(admin_url(throw, "change"))
    editor = page.get_by_role("textbox", name="Description", exact=True)
    expect(editor.get_by_role("cell", name="30 × 20 cm")).to_be_visible()
    expect(editor.get_by_alt_text("A loom")).to_be_attached()
    assert "<p" not in editor.inner_text()
    merchant.photograph("editor-table")
    check(merchant)
    editor.get_by_text("Woven by hand.").click()
    editor.press("Home")
    editor.press_sequentially("Soft. ")
    save(page)
    assert stored() == TEXT.replace("Woven", "Soft. Woven")

    # A piece is removed whole; the cursor stays in an empty line.
    merchant.open(admin_url(throw, "change"))
    editor.get_by_role("cell", name="30 × 20 cm").click()
    page.get_by_role("button", name="Remove", exact=True).locator("visible=true").click()
    save(page)
    assert stored() == f"<p>Soft. Woven by hand.</p><p><br></p><p>On {PICTURE} here.</p>{REST}"


def test_a_text_can_be_edited_as_html(street, visit):
    make_staff(street, role="manager")
    throw = make_product(street, "Throw", description=f"<p>Old</p>{TABLE}")
    merchant = visit(WIDE)
    page = enter_password(merchant)
    merchant.open(admin_url(throw, "change"))
    description = page.locator(".editor:has(#id_description)")
    description.get_by_role("button", name="Edit as HTML").click()
    source = description.get_by_role("textbox", name="HTML")
    expect(source).to_have_value(f"<p>Old</p>{TABLE}")
    check(merchant)
    source.fill(f"<p>New</p>{TABLE}<p style='color:red'>{LINKED}</p>")
    expect(page.locator("[data-result-text]")).to_contain_text("New")
    description.get_by_role("button", name="Edit as HTML").click()
    expect(description.get_by_role("cell", name="30 × 20 cm")).to_be_visible()
    description.get_by_role("button", name="Edit as HTML").click()
    expect(source).to_have_value(f"<p>New</p>{TABLE}<p>{LINKED}</p>")
    source.fill(f"<p>Newest</p>{TABLE}")
    save(page)
    assert stored() == f"<p>Newest</p>{TABLE}"


def save(page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("” saved.")).to_be_visible()


def stored() -> str:
    return Product.objects.get().description
