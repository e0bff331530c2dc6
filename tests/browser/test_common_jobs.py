"""How many clicks, or taps on a phone, the commonest jobs take from the start page of a shop that has just been made.
Keys that are typed between them do not count."""

import pytest
from django.core.management import call_command
from playwright.sync_api import Locator, Page, expect

from storefront.catalogue.models import Product
from storefront.content.models import Looks
from storefront.installations.models import Installation
from storefront.kit import clock
from storefront.orders.models import Order, OrderMail
from storefront.payments.actions import mark_paid
from storefront.payments.models import Refund
from storefront.pricing.models import Discount, ShippingRate
from storefront.product_files.models import ProductImport
from storefront.shops.models import Shop
from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_product_desk import keys
from tests.catalogue.factories import make_product
from tests.catalogue.test_admin_pictures import drawn
from tests.factories.apps import make_app
from tests.orders.factories import make_order, sale_line

pytestmark = pytest.mark.browser


@pytest.fixture
def street(live_server, transactional_db) -> Shop:
    """A shop as the documented command makes it, with nothing in it."""
    call_command("createshop", domain="localhost", name="Corner shop", base_url=live_server.url)
    return Shop.objects.get()


@pytest.fixture(autouse=True)
def _storage(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


class Clicks:
    """Clicks of an owner on the start page and on, counted."""

    def __init__(self, street, page: Page) -> None:
        self.street, self.page, self.count = street, page, 0

    def begin(self) -> None:
        self.page.goto(f"{self.street.base_url}/admin/")
        self.count = 0

    def __call__(self, role: str, name: str, *, within: str = "main", exact: bool = True) -> None:
        self.at(self.page.locator(within).get_by_role(role, name=name, exact=exact).first)

    def at(self, place: Locator) -> None:
        place.click()
        self.count += 1

    def choose_files(self, place: str, *files: tuple[str, str, bytes]) -> None:
        with self.page.expect_file_chooser() as choosing:
            self.at(self.page.locator(place).last)
        choosing.value.set_files([{"name": name, "mimeType": kind, "buffer": body} for name, kind, body in files])

    def save(self, name: str = "Save") -> None:
        self("button", name)

    def expect(self, text: str) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible()


@pytest.fixture(params=[WIDE, NARROW])
def click(request, street, sit) -> Clicks:
    return Clicks(street, sit(request.param).page)


def picture(name: str) -> tuple[str, str, bytes]:
    return name, "image/png", drawn(60, 20)


def test_stock_is_changed_with_two_clicks(street, click):
    make_product(street, "Mug", stock_qty=0)
    click.begin()
    click("link", "Mug", within="[aria-label='Low stock']")
    expect(click.page.locator("#id_stock_qty")).to_be_focused()
    click.page.wait_for_load_state()
    keys(click.page, "12")
    click.save()
    click.expect("” saved.")
    assert (Product.objects.get().stock_qty, click.count) == (12, 2)


def test_a_discount_with_a_code_takes_three_clicks(street, click):
    click.begin()
    click("link", "Add a discount")
    expect(click.page.locator("#id_code")).to_be_focused()
    keys(click.page, "spring10")
    click.at(click.page.locator("#id_value"))
    keys(click.page, "ControlOrMeta+A", "10")
    click.save()
    click.expect("” saved.")
    found = Discount.objects.get()
    assert (found.name, found.kind, found.value, found.needs_code) == ("SPRING10", "percent", 10, True)
    assert ([code.code for code in found.codes.all()], click.count) == (["SPRING10"], 3)


def test_an_import_takes_three_clicks(street, click):
    click.begin()
    click("link", "Import products")
    click.choose_files("label[for=id_file]", ("mugs.jsonl", "application/jsonl", b'{"name": "Mug", "price": "10"}\n'))
    click.save("Import")
    expect(click.page.get_by_role("heading", name="mugs.jsonl")).to_be_visible()
    assert (ProductImport.objects.get().file_name, click.count) == ("mugs.jsonl", 3)


def test_an_app_is_installed_with_three_clicks(street, click):
    make_app("reviews", name="Reviews")
    click.begin()
    click("link", "Install an app")
    click("link", "Install Reviews")
    click("button", "Install")
    expect(click.page.get_by_role("heading", name="Reviews")).to_be_visible()
    assert (Installation.objects.get().shop, click.count) == (street, 3)


def test_the_first_shipping_rate_takes_three_clicks_and_makes_its_zone(street, click):
    click.begin()
    click("link", "Delivery")
    expect(click.page.locator("#id_name")).to_be_focused()
    keys(click.page, "Parcel")
    click.at(click.page.locator("#id_price"))
    keys(click.page, "ControlOrMeta+A", "4.90")
    click.save()
    click.expect("” saved.")
    rate = ShippingRate.objects.get()
    assert (rate.name, str(rate.price), rate.zone.countries, click.count) == ("Parcel", "4.90", [street.country], 3)


def test_the_logo_takes_three_clicks(street, click):
    click.begin()
    click("link", "Logo and colours")
    click.choose_files("label[for=id_logo]", picture("logo.png"))
    click.save()
    click.expect("” saved.")
    assert Looks.objects.get().logo
    assert click.count == 3


def test_a_simple_product_with_a_picture_takes_four_clicks(street, click):
    click.begin()
    click("link", "Add a product")
    expect(click.page.locator("#id_name")).to_be_focused()
    keys(click.page, "Harbour mug")
    click.choose_files("[data-choose]", picture("mug.png"))
    expect(click.page.locator("[data-picture] img")).to_have_count(1)
    click.at(click.page.locator("#id_price"))
    keys(click.page, "ControlOrMeta+A", "9.50")
    click.save()
    click.expect("” saved.")
    mug = Product.objects.get()
    assert (mug.name, str(mug.price), mug.media.count(), click.count) == ("Harbour mug", "9.50", 1, 4)


def test_two_options_with_three_pictures_and_stock_for_each_variant_take_eight_clicks(street, click):
    page = click.page
    click.begin()
    click("link", "Add a product")
    expect(page.locator("#id_name")).to_be_focused()
    keys(page, "Wool scarf")
    click.choose_files("[data-choose]", picture("one.png"), picture("two.png"), picture("three.png"))
    expect(page.locator("[data-picture] img")).to_have_count(3)
    click.at(page.locator("#id_price"))
    keys(page, "ControlOrMeta+A", "12")
    click.at(page.locator("[name=choices-0-name]"))
    keys(page, "Size", "Tab", "S, M")
    click("button", "Add a choice")
    keys(page, "Colour", "Tab", "Blue, Moss", "Enter")
    rows = page.locator("[data-variant]")
    expect(rows).to_have_count(4)
    click.at(rows.first.locator("[name$=stock_qty]"))
    for stock in range(1, 5):
        # Enter leads down the column.
        keys(page, "ControlOrMeta+A", str(stock), "Enter")
    click.save()
    click.expect("” saved.")
    scarf = Product.objects.get()
    assert [(each.name, each.stock_qty, str(each.price)) for each in scarf.variants.all()] == [
        ("S / Blue", 1, "12.00"),
        ("S / Moss", 2, "12.00"),
        ("M / Blue", 3, "12.00"),
        ("M / Moss", 4, "12.00"),
    ]
    assert (scarf.media.count(), click.count) == (3, 7)


def test_the_jobs_of_an_order_take_few_clicks(street, click):
    mug, now = make_product(street, "Mug"), clock.now()
    orders = [make_order(street, sale_line(mug), now=now) for _ in range(2)]
    mark_paid(shop=street, order=orders[1], now=now)
    page, dialog = click.page, "#modal-content"

    def begin(order) -> None:
        click.begin()
        click("link", f"#{order.number}", exact=False)

    begin(orders[0])
    click("button", "Mark as paid")
    click.expect("Marked as paid.")
    assert click.count == 2
    begin(orders[0])
    click("button", "Mark as fulfilled")
    click.expect("Marked as fulfilled.")
    assert click.count == 2
    begin(orders[1])
    click("button", "Refund")
    expect(page.get_by_role("heading", name="Refund this order?")).to_be_visible()
    click("button", "Refund €", within=dialog, exact=False)
    click.expect("Refund started.")
    assert (Refund.objects.get().amount, click.count) == (orders[1].total, 3)
    begin(orders[1])
    click("button", "Write to the customer")
    expect(page.get_by_label("Message")).to_be_focused()
    keys(page, "It leaves today.")
    click("button", "Send email", within=dialog)
    click.expect("The email is on its way.")
    assert click.count == 3
    assert [order.payment_status for order in Order.objects.filter(status="fulfilled")] == ["paid"]
    assert OrderMail.objects.get(kind="message").text == "It leaves today."
