"""A merchant looks up an address, makes a file of the person's data, and erases them."""

import pytest
from playwright.sync_api import expect

from storefront.gift_cards.jobs import queue_due_cards
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.payments.actions import mark_paid
from storefront.privacy.models import DataRequest
from tests.browser.conftest import NARROW, WIDE
from tests.browser.steps import click_deed
from tests.browser.test_back_office import violations
from tests.catalogue.factories import make_product
from tests.customers.factories import make_customer
from tests.orders.factories import make_order, sale_line
from tests.privacy.lives import EMAIL, sold
from tests.staff import admin_url
from tests.worker import run_due_tasks

pytestmark = pytest.mark.browser

# Clicks a dialog's button in the moment in which the dialog is on the page.
AT_ONCE = """() => new MutationObserver((changes, observer) => {
  const button = document.querySelector("#dialog button[type=submit]");
  if (!button) return;
  observer.disconnect();
  button.click();
}).observe(document.body, {childList: true, subtree: true})"""


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_person_is_looked_up_exported_and_erased(street, sit, width):
    customer = make_customer(street)
    sold(street, EMAIL, customer_id=customer.pk)
    queue_due_cards(now=clock.now(), limit=10)
    undone = make_order(street, sale_line(make_product(street, "Pot")), email=EMAIL)
    desk = sit(width)
    page = desk.open("/admin/settings/")
    page.get_by_role("main").get_by_role("link", name="Data").first.click()
    page.get_by_role("link", name="Add data request").first.click()
    page.get_by_label("Email address").fill("Ada@example.com")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("main")).to_contain_text(f"Order #{undone.number} is not paid.")
    expect(page.get_by_role("row", name="Orders").first).to_contain_text("2")
    desk.photograph(f"data-request-{width}")
    assert violations(page, "#content") == []
    mark_paid(shop=street, order=undone, now=clock.now())
    Order.objects.filter(pk=undone.pk).update(status="fulfilled")

    click_deed(page, "Make an export")
    desk.photograph(f"data-request-export-{width}")
    page.get_by_role("button", name="Make the file").click()
    expect(page.get_by_role("main")).to_contain_text("This page updates automatically")
    run_due_tasks()
    expect(page.get_by_role("main")).to_contain_text("kept until")
    with page.expect_download() as download:
        click_deed(page, "Download the file")
    assert download.value.suggested_filename.endswith(".zip")

    click_deed(page, "Erase this person")
    dialog = page.get_by_label("Type the email address to confirm")
    expect(dialog).to_be_visible()
    desk.photograph(f"data-request-dialog-{width}")
    dialog.fill("bob@example.com")
    page.get_by_role("button", name="Erase", exact=True).click()
    expect(page.locator("body")).to_contain_text("This is not the address of this request.")
    page.get_by_label("Type the email address to confirm").fill(EMAIL)
    page.get_by_role("button", name="Erase", exact=True).click()
    expect(page.get_by_role("main")).to_contain_text("This page updates automatically")
    run_due_tasks()
    expect(page.get_by_role("main")).to_contain_text("Orders: 2")
    assert DataRequest.objects.get().state == "erased"
    desk.photograph(f"data-request-erased-{width}")
    assert violations(page, "#content") == []
    page = desk.open(admin_url(Order.objects.first(), "change"))
    expect(page.get_by_role("main")).to_contain_text("Customer erased")
    desk.photograph(f"data-request-order-{width}")


def test_a_customers_page_leads_to_the_request(street, sit):
    desk = sit()
    page = desk.open(admin_url(make_customer(street), "change"))
    click_deed(page, "Export or erase")
    page.get_by_role("button", name="Look up").click()
    expect(page.get_by_role("main")).to_contain_text("Account with its addresses")
    expect(page.get_by_role("main")).to_contain_text("Nothing is left to do")


def test_a_dialog_works_as_soon_as_it_is_there(street, sit):
    request = DataRequest.objects.create(shop=street, email=EMAIL, created_at=clock.now())
    desk = sit()
    page = desk.open(admin_url(request, "change"))
    page.evaluate(AT_ONCE)
    with page.expect_response(lambda answer: answer.request.method == "POST") as answer:
        click_deed(page, "Make an export")
    assert answer.value.request.headers["hx-request"] == "true"
    expect(page.get_by_role("main")).to_contain_text("This page updates automatically")


def test_a_dialogs_form_is_for_its_deed_without_scripts_too(street, sit):
    request = DataRequest.objects.create(shop=street, email=EMAIL, created_at=clock.now())
    desk = sit()
    page = desk.open(admin_url(request, "change"))
    click_deed(page, "Make an export")
    with page.expect_navigation():
        page.locator("#dialog form").evaluate("form => HTMLFormElement.prototype.submit.call(form)")
    expect(page.get_by_role("main")).to_contain_text("This page updates automatically")
