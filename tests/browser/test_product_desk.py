"""A merchant makes products in a browser: few clicks, pictures, choices, and nothing lost when a save is refused."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from playwright.sync_api import Locator, Page, expect

from storefront.catalogue.models import Product
from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import check
from tests.browser.test_staff_sign_in import enter_password
from tests.catalogue.factories import make_category, make_media, make_product, make_variant
from tests.catalogue.test_admin_pictures import drawn
from tests.staff import admin_url, make_staff

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def _storage(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


class Clicks:
    """A merchant on the dashboard whose clicks are counted."""

    def __init__(self, merchant) -> None:
        self.page: Page = enter_password(merchant)
        merchant.open("/admin/")
        self.count = 0

    def __call__(self, place: Locator) -> None:
        self.count += 1
        place.click()

    def open_new_product(self) -> None:
        self(self.page.locator("#nav-sidebar").get_by_text("Products", exact=True))
        self(self.page.get_by_role("link", name="Add product"))
        expect(self.page.get_by_label("Name", exact=False).first).to_be_focused()

    def add_pictures(self, *names: str) -> None:
        with self.page.expect_file_chooser() as choosing:
            self(self.page.locator("[data-choose]"))
        files = [{"name": name, "mimeType": "image/png", "buffer": drawn(30, 20)} for name in names]
        choosing.value.set_files(files)
        expect(pictures(self.page)).to_have_count(len(names))

    def save(self) -> None:
        self(self.page.get_by_role("button", name="Save", exact=True))
        expect(self.page.get_by_text("” saved.")).to_be_visible()


def keys(page: Page, *pressed: str) -> None:
    """Press these keys, and type what is none."""
    for each in pressed:
        if each in ("Tab", "Enter", "ControlOrMeta+A"):
            page.keyboard.press(each)
        else:
            page.keyboard.type(each)


def pictures(page: Page) -> Locator:
    return page.locator("[data-picture]:not([data-removed]) img")


def test_a_simple_product_with_a_picture_takes_five_clicks(street, visit):
    make_staff(street, role="manager")
    clicks = Clicks(visit())
    page = clicks.page
    clicks.open_new_product()
    page.keyboard.type("Harbour mug")
    clicks.add_pictures("mug.png")
    clicks(page.locator("#id_price"))
    keys(page, "ControlOrMeta+A", "9.50")
    clicks.save()
    mug = Product.objects.get()
    assert (mug.name, str(mug.price), mug.media.count()) == ("Harbour mug", "9.50", 1)
    assert clicks.count <= 5


@pytest.mark.walk
def test_a_product_with_two_variants_and_pictures_takes_eight_clicks(street, visit):
    make_staff(street, role="manager")
    clicks = Clicks(visit())
    page = clicks.page
    clicks.open_new_product()
    page.keyboard.type("Wool scarf")
    clicks.add_pictures("blue.png", "moss.png")
    clicks(page.get_by_label("Choice", exact=True))
    keys(page, "Colour", "Tab", "Blue, Moss", "Enter")
    rows = page.locator("[data-variant]")
    expect(rows).to_have_count(2)
    # The first price has the focus; the stock comes after it.
    keys(page, "ControlOrMeta+A", "12.00", "Tab", "ControlOrMeta+A", "5")
    for at in (0, 1):
        clicks(rows.nth(at).get_by_label("Picture"))
        rows.nth(at).get_by_label("Picture").select_option(index=at + 1)
    clicks(rows.nth(1).get_by_label("Price", exact=True))
    keys(page, "ControlOrMeta+A", "14.00")
    clicks.save()
    blue, moss = Product.objects.get().variants.all()
    assert (blue.name, blue.stock_qty, str(blue.price), str(moss.price)) == ("Blue", 5, "12.00", "14.00")
    assert (blue.image.file.name, moss.image.file.name) == ("products/blue.png", "products/moss.png")
    assert clicks.count <= 8


def test_a_refused_save_keeps_pictures_and_text_and_leaving_asks_first(street, visit):
    make_staff(street, role="manager")
    merchant = visit(NARROW)
    page = enter_password(merchant)
    merchant.open(admin_url(Product, "add"))
    page.keyboard.type("Scarf")
    page.locator("trix-editor").first.click()
    page.keyboard.type("Warm and soft.")
    page.get_by_text("More about search engines").click()
    page.get_by_label("Address of the original page").fill("nowhere")
    page.get_by_text("More about search engines").click()
    files = [{"name": f"{name}.png", "mimeType": "image/png", "buffer": drawn(30, 20)} for name in ("one", "two")]
    files.append({"name": "notes.png", "mimeType": "image/png", "buffer": b"no picture"})
    page.locator("[data-choose]").set_input_files(files)
    expect(page.get_by_text("notes.png is not a PNG")).to_be_visible()
    page.locator("[data-picture]:not([data-removed]) input[name$=alt]").nth(1).fill("The second")
    page.get_by_role("button", name="Move earlier").nth(1).press("Enter")
    page.get_by_role("button", name="Add a detail").click()
    keys(page, "Material", "Tab", "Wool")
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_text("Enter a valid URL.")).to_be_visible()
    expect(pictures(page)).to_have_count(2)
    expect(page.locator("trix-editor").first).to_have_text("Warm and soft.")
    expect(page.locator("[name=details-0-values]")).to_have_value("Wool")
    # Nothing of it is saved yet, so whoever leaves is asked.
    page.locator("h1").first.click()
    asked: list[str] = []
    page.once("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.evaluate("location.href = '/admin/'")
    page.get_by_label("Address of the original page").fill("https://example.com/scarf")
    assert asked == ["beforeunload"]
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("” saved.")).to_be_visible()
    scarf = Product.objects.get()
    assert [picture.alt for picture in scarf.media.all()] == ["The second", ""]
    assert scarf.description == "<p>Warm and soft.</p>"
    assert scarf.attributes == [{"name": "Material", "values": ["Wool"]}]
    merchant.complaints.clear()


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_pages_of_products_meet_wcag_aa(street, visit, width, scheme):
    make_category(street, "Cups", make_category(street, "Kitchen"))
    scarf = make_product(street, "Scarf", attributes=[{"name": "Colour", "values": ["Blue"], "variation": True}])
    blue = make_media(scarf, "", file=SimpleUploadedFile("blue.png", drawn(30, 20)))
    make_variant(scarf, "Blue", option_values={"Colour": "Blue"}, image=blue)
    make_staff(street, role="manager")
    merchant = visit(width, color_scheme=scheme)
    merchant.expects = {404}
    page = enter_password(merchant)
    merchant.open(admin_url(scarf, "change"))
    for summary in page.locator("main summary").all():
        summary.click()
    page.wait_for_load_state("networkidle")
    check(merchant)
    merchant.photograph("product")
    merchant.open(admin_url(Product, "changelist"))
    page.wait_for_load_state("networkidle")
    check(merchant)
    merchant.photograph("products")
    page.get_by_role("checkbox").nth(1).check()
    page.get_by_role("button", name="Edit price, stock, status or category").click()
    page.get_by_label("Price", exact=True).select_option("percent")
    page.get_by_label("Price, percent or amount").fill("10")
    page.get_by_role("button", name="Show what will change").click()
    expect(page.get_by_text("1 of 1 product will change")).to_be_visible()
    check(merchant)
    merchant.photograph("bulk-edit")
    page.get_by_role("button", name="Change 1 product").click()
    expect(page.get_by_text("1 product was changed.")).to_be_visible()
