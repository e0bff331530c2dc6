"""How many clicks the commonest jobs take from the start page. Keys that are typed between them do not count."""

import pytest
from playwright.sync_api import Locator, Page, expect

from storefront.catalogue.models import Product
from storefront.content.models import Looks
from storefront.installations.models import Installation
from storefront.kit import clock
from storefront.orders.models import Order, OrderMail
from storefront.payments.actions import mark_paid
from storefront.pricing.models import Discount, ShippingRate
from storefront.product_files.models import ProductImport
from tests.browser.test_product_desk import keys
from tests.catalogue.factories import make_product
from tests.catalogue.test_admin_pictures import drawn
from tests.factories.apps import make_app
from tests.orders.factories import make_order, sale_line

pytestmark = pytest.mark.browser


class Clicks:
    """Clicks on the start page and on, counted."""

    def __init__(self, street, page: Page) -> None:
        self.page, self.count = page, 0
        page.goto(f"{street.base_url}/admin/")

    def __call__(self, role: str, name: str, *, within: str = "body") -> None:
        self.at(self.page.locator(within).get_by_role(role, name=name, exact=True).first)

    def at(self, place: Locator) -> None:
        place.click()
        self.count += 1

    def menu(self, name: str) -> None:
        self.at(self.page.locator("#nav-sidebar").get_by_text(name, exact=True))

    def choose_file(self, field: str, name: str, kind: str, content: bytes) -> None:
        with self.page.expect_file_chooser() as choosing:
            self.page.locator(f"label[for=id_{field}]").last.click()
        choosing.value.set_files([{"name": name, "mimeType": kind, "buffer": content}])
        self.count += 1


def test_stock_is_changed_with_two_clicks(street, sit):
    make_product(street, "Mug", stock_qty=0)
    page = sit().page
    clicks = Clicks(street, page)
    clicks("link", "Mug", within="[aria-label='Low stock']")
    expect(page.locator("#id_stock_qty")).to_be_focused()
    page.wait_for_load_state()
    keys(page, "12")
    clicks("button", "Save")
    expect(page.get_by_text("changed successfully")).to_be_visible()
    assert (Product.objects.get().stock_qty, clicks.count) == (12, 2)


def test_a_discount_takes_three_clicks(street, sit):
    page = sit().page
    clicks = Clicks(street, page)
    clicks("link", "Add a discount")
    expect(page.locator("#id_name")).to_be_focused()
    keys(page, "Spring")
    clicks.at(page.locator("#id_value"))
    keys(page, "ControlOrMeta+A", "10")
    clicks("button", "Save")
    expect(page.get_by_text("added successfully")).to_be_visible()
    found = Discount.objects.get()
    assert (found.name, found.kind, found.value, clicks.count) == ("Spring", "percent", 10, 3)


def test_an_import_takes_three_clicks(street, sit):
    page = sit().page
    clicks = Clicks(street, page)
    clicks("link", "Import products")
    clicks.choose_file("file", "products.jsonl", "application/jsonl", b'{"name": "Mug", "price": "10.00"}\n')
    clicks("button", "Save")
    expect(page.get_by_role("heading", name="products.jsonl")).to_be_visible()
    assert (ProductImport.objects.get().file_name, clicks.count) == ("products.jsonl", 3)


def test_an_app_is_installed_with_three_clicks(street, sit):
    make_app("reviews", name="Reviews")
    page = sit().page
    clicks = Clicks(street, page)
    clicks.menu("Apps")
    clicks("link", "Install Reviews")
    clicks("button", "Install")
    expect(page.get_by_role("heading", name="Reviews")).to_be_visible()
    assert (Installation.objects.get().shop, clicks.count) == (street, 3)


def test_a_shipping_rate_takes_three_clicks(street, sit):
    page = sit().page
    clicks = Clicks(street, page)
    clicks("link", "Add a shipping rate")
    expect(page.locator("#id_name")).to_be_focused()
    keys(page, "Letter")
    clicks.at(page.locator("#id_price"))
    keys(page, "ControlOrMeta+A", "2.50")
    clicks("button", "Save")
    expect(page.get_by_text("added successfully")).to_be_visible()
    assert ShippingRate.objects.filter(name="Letter", price="2.50").count() == 1
    assert clicks.count == 3


def test_the_logo_is_changed_with_three_clicks(street, sit, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    page = sit().page
    clicks = Clicks(street, page)
    clicks.menu("Looks")
    clicks.choose_file("logo", "logo.png", "image/png", drawn(60, 20))
    clicks("button", "Save")
    expect(page.get_by_text("successfully")).to_be_visible()
    assert Looks.objects.get().logo
    assert clicks.count == 3


def test_the_jobs_of_an_order_take_few_clicks(street, sit):
    mug, now = make_product(street, "Mug"), clock.now()
    orders = [make_order(street, sale_line(mug), now=now) for _ in range(2)]
    mark_paid(shop=street, order=orders[1], now=now)
    page = sit().page

    def begin(order) -> Clicks:
        click = Clicks(street, page)
        click("link", f"#{order.number}")
        return click

    click = begin(orders[0])
    click("button", "Mark as paid")
    expect(page.get_by_text("Marked as paid.")).to_be_visible()
    assert click.count == 2
    click = begin(orders[0])
    click("button", "Mark as fulfilled")
    expect(page.get_by_text("Marked as fulfilled.")).to_be_visible()
    assert click.count == 2
    click = begin(orders[1])
    click("button", "Refund")
    expect(page.get_by_role("heading", name="Refund this order?")).to_be_visible()
    click.at(page.get_by_label("Everything that is left"))
    page.locator("#modal-content").get_by_role("button", name="Refund €").click()
    expect(page.get_by_text("Refund started.")).to_be_visible()
    assert click.count + 1 == 4
    click = begin(orders[1])
    click("button", "Write to the customer")
    page.get_by_label("Message").fill("It leaves today.")
    click("button", "Send email")
    expect(page.get_by_text("The email is on its way.")).to_be_visible()
    assert click.count == 3
    assert [order.payment_status for order in Order.objects.filter(status="fulfilled")] == ["paid"]
    assert OrderMail.objects.get(kind="message").text == "It leaves today."
