"""A merchant uploads a file; a shopper buys it, and it arrives byte by byte."""

from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from storefront.catalogue.models import DigitalFile, StoredFile
from storefront.orders.models import Download
from tests.browser import steps
from tests.catalogue.factories import make_product
from tests.orders.files import add_file
from tests.staff import admin_url, make_staff

pytestmark = pytest.mark.browser

BOOK = bytes(range(256)) * 2048


def test_a_shopper_buys_a_download_and_gets_it(street, visit):
    add_file(make_product(street, "Book", type="digital", max_downloads=2), "book.pdf", BOOK)
    shopper = visit()
    page = shopper.open("/products/book")
    page.get_by_role("button", name="Add to basket").click()
    expect(page.get_by_text("is in your basket.")).to_be_visible()
    steps.click_through(page, "link", "View basket")
    page.get_by_role("link", name="Go to checkout").click()
    steps.fill_details(page, then="Continue to payment")
    steps.pay_by_card(page)
    steps.expect_order(page, "€9.50")
    expect(page.get_by_text("2 of 2 downloads left")).to_be_visible()
    shopper.photograph("downloads")
    with page.expect_download() as began:
        page.get_by_role("link", name="Download", exact=True).click()
    arrived = began.value
    assert arrived.suggested_filename == "book.pdf"
    assert Path(arrived.path()).read_bytes() == BOOK
    assert Download.objects.get().used == 1
    page.reload()
    expect(page.get_by_text("1 of 2 downloads left")).to_be_visible()


def test_a_merchant_uploads_a_file_and_sees_how_far_it_is(street, visit):
    product = make_product(street, "Book")
    make_staff(street, role="manager")
    merchant = visit()
    page = merchant.open("/admin/")
    page.get_by_label("Email address").fill("anna")
    page.get_by_label("Password").fill("lighthouse-1")
    with page.expect_navigation():
        page.get_by_role("button", name="Sign in").click()
    page = merchant.open(admin_url(product, "change"))
    page.get_by_role("heading", name="Files to download").click()
    page.get_by_role("link", name="Add: file to download").click()
    shown = page.locator("#id_digital_files-0-upload")
    shown.set_input_files({"name": "book.pdf", "mimeType": "application/pdf", "buffer": BOOK})
    merchant.photograph("files-of-product")
    held: list[Route] = []
    page.route("**/catalogue/product/upload", lambda route: held.append(route))
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("progressbar", name="Uploading book.pdf")).to_be_visible()
    assert not DigitalFile.objects.exists()
    with page.expect_navigation():
        held[0].continue_()
    row = DigitalFile.objects.get()
    assert (row.product, row.name, row.file.file.read()) == (product, "book.pdf", BOOK)
    assert StoredFile.objects.count() == 1
