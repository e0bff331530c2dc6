"""A merchant uploads a table of her own, maps its columns and imports it, on a desk, on a phone and without scripts."""

import pytest
from playwright.sync_api import expect

from storefront.catalogue.models import Product
from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import check
from tests.product_files.test_admin_imports import work

pytestmark = pytest.mark.browser

TABLE = (
    b"Artikel;Art.-Nr.;VK;Farbton\n"
    b"Blue mug;M-1;9,50;a very long text of a colour with many words in it\n"
    b"Cup;C-1;a lot;red\n"
)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_table_is_mapped_and_imported(street, sit, width):
    merchant = sit(width)
    page = merchant.open("/admin/catalogue/productimport/add/")
    page.locator("input[type=file]").set_input_files({"name": "prices.csv", "mimeType": "text/csv", "buffer": TABLE})
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Waiting to start")).to_be_visible()
    work()
    page.reload()
    merchant.photograph("needs-mapping")
    page.get_by_role("link", name="Map its columns").click()
    expect(page.get_by_label("VK")).to_have_value("price")
    check(merchant)
    merchant.photograph("mapping")
    page.get_by_role("button", name="Show the first products").click()
    expect(page.get_by_text("line 3, VK: expected a number, found 'a lot'")).to_be_visible()
    check(merchant)
    merchant.photograph("mapping-preview")
    page.get_by_role("button", name="Import the file").click()
    expect(page.get_by_text("The file is being imported.")).to_be_visible()
    work()
    page.reload()
    expect(page.get_by_text("1 created")).to_be_visible()
    merchant.photograph("mapped")
    assert Product.objects.get(shop=street, sku="M-1").name == "Blue mug"
