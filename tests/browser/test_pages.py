"""A merchant writes a page as in a letter; shoppers read it, and write back by the contact form."""

import pytest
from django.core import mail
from playwright.sync_api import expect

from storefront.content.models import Page
from storefront.shops.models import Shop
from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import check
from tests.browser.test_staff_sign_in import enter_password
from tests.staff import admin_url, make_staff
from tests.worker import run_due_tasks

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_writes_a_page_that_shoppers_read(street, visit, width):
    make_staff(street, role="manager")
    merchant, shopper = visit(width), visit(width)
    page = enter_password(merchant)
    merchant.open(admin_url(Page, "changelist"))
    if width == NARROW:
        page.get_by_text("more_horiz").click()
    page.get_by_text("Add the usual pages").locator("visible=true").click()
    page.get_by_role("button", name="Add pages").click()
    expect(page.get_by_text("Added, for you to edit and publish")).to_be_visible()
    merchant.open(admin_url(Page.objects.get(shop=street, kind="about"), "change"))
    editor = page.get_by_role("textbox", name="Text")
    editor.press("Control+a")
    editor.press_sequentially("We make mugs.")
    editor.press("Enter")
    editor.press_sequentially("By hand")
    page.get_by_role("button", name="Heading", exact=True).click()
    editor.press("Enter")
    editor.press_sequentially("Every day.")
    merchant.photograph("page-editor")
    page.get_by_label("Published").check(force=True)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("” saved.")).to_be_visible()

    shown = shopper.open("/")
    shown.get_by_role("link", name="About us").click()
    expect(shown.get_by_role("heading", name="By hand")).to_be_visible()
    assert shown.locator(".prose").inner_html() == "<p>We make mugs.</p><h2>By hand</h2><p>Every day.</p>"
    check(shopper)
    shopper.photograph("page")


def test_writes_to_the_shop(street, visit):
    Shop.objects.filter(pk=street.pk).update(email="hello@lighthouse.example")
    shopper = visit(NARROW)
    shopper.expects = {422}
    page = shopper.open("/")
    page.get_by_role("link", name="Contact").click()
    page.get_by_role("button", name="Send message").click()
    expect(page.get_by_label("Your name")).to_have_attribute("aria-invalid", "true")
    check(shopper)
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Your email address").fill("ada@example.com")
    page.get_by_label("Message").fill("Is the mug blue?")
    page.get_by_role("button", name="Send message").click()
    expect(page.get_by_text("Your message is on its way")).to_be_visible()
    shopper.photograph("contact")
    run_due_tasks()
    assert [(message.to, message.reply_to) for message in mail.outbox] == [
        (["hello@lighthouse.example"], ["ada@example.com"])
    ]
