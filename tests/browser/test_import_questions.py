"""A merchant uploads a price list with a mistake, is asked before anything changes, imports it all the same, and undoes
it."""

import pytest
from playwright.sync_api import expect

from storefront.catalogue.models import Product
from tests.browser.conftest import NARROW, WIDE
from tests.browser.steps import click_deed
from tests.browser.test_accessibility import check
from tests.catalogue.factories import make_product
from tests.product_files.test_admin_imports import work

pytestmark = pytest.mark.browser

LIST = b"SKU,Regular price\nM-1,0\nC-1,12.00\n"


def price_of(shop, sku: str) -> str:
    return f"{Product.objects.get(shop=shop, sku=sku).price:.2f}"


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_list_that_makes_goods_free_is_asked_about_and_undone(street, sit, width):
    make_product(street, "Mug", sku="M-1", price="9.50")
    make_product(street, "Cup", sku="C-1", price="8.00")
    merchant = sit(width)
    page = merchant.open("/admin/catalogue/productimport/add/")
    page.locator("input[type=file]").set_input_files({"name": "list.csv", "mimeType": "text/csv", "buffer": LIST})
    page.get_by_label("update existing products").check()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("Waiting to start")).to_be_visible()
    work()
    page.reload()
    expect(page.get_by_text("Mug: price 9.50 to 0.00")).to_be_visible()
    assert (price_of(street, "M-1"), price_of(street, "C-1")) == ("9.50", "8.00")
    check(merchant)
    merchant.photograph("import-asks")

    page.get_by_role("link", name="import it", exact=True).click()
    expect(page.get_by_text("1 price would be set to 0.00")).to_be_visible()
    check(merchant)
    merchant.photograph("import-question")
    page.locator("form").get_by_role("button", name="Import", exact=True).click()
    assert price_of(street, "M-1") == "9.50"
    page.get_by_role("checkbox", name="1 price would be set to 0.00").check()
    page.locator("form").get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("The file is imported now.")).to_be_visible()
    work()
    page.reload()
    expect(page.get_by_text("2 updated")).to_be_visible()
    assert (price_of(street, "M-1"), price_of(street, "C-1")) == ("0.00", "12.00")

    click_deed(page, "Undo")
    merchant.photograph("undo-question")
    page.get_by_role("button", name="Undo the import").click()
    expect(page.get_by_text("The import is being undone.")).to_be_visible()
    work()
    page.reload()
    expect(page.get_by_text("2 put back or removed, 0 left")).to_be_visible()
    merchant.photograph("undone")
    assert (price_of(street, "M-1"), price_of(street, "C-1")) == ("9.50", "8.00")


def test_the_end_of_an_import_is_shown_by_itself_with_links_to_what_it_made(street, sit):
    merchant = sit()
    page = merchant.open("/admin/catalogue/productimport/add/")
    rows = b'{"name": "Mug", "sku": "M-1", "price": "9.50"}\n{"name": "Cup", "sku": "C-1", "price": "a lot"}\n'
    page.locator("input[type=file]").set_input_files({"name": "m.jsonl", "mimeType": "text/plain", "buffer": rows})
    page.get_by_role("button", name="Import", exact=True).click()
    # The page asks for itself again, which runs none of its scripts twice.
    with page.expect_response(lambda response: response.request.headers.get("hx-request") == "true"):
        expect(page.get_by_text("Waiting to start")).to_be_visible()
    work()
    expect(page.get_by_text("1 created, 0 updated, 0 skipped, 1 failed")).to_be_visible()
    check(merchant)
    merchant.photograph("import-ended")
    with page.expect_download():
        page.get_by_role("link", name="All of them as a file").click()
    page.get_by_role("link", name="All products of this import").click()
    page.get_by_role("link", name="Mug", exact=True).last.click()
    expect(page.get_by_role("heading", name="Mug")).to_be_visible()
