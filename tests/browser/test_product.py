"""The product page with scripts: what is said of a choice, its pictures, and waiting for what is sold out."""

from io import BytesIO

import pytest
from django.core.files.base import ContentFile
from PIL import Image
from playwright.sync_api import expect

from storefront.catalogue.models import Media
from storefront.stock_alerts.models import StockAlert
from tests.browser.conftest import NARROW
from tests.browser.test_accessibility import check
from tests.catalogue.factories import make_media, make_product, make_variant

pytestmark = pytest.mark.browser


@pytest.fixture
def lamp(street):
    axes = [{"name": name, "values": [], "variation": True} for name in ("Colour", "Cord")]
    lamp = make_product(street, "Lamp", sku="LAMP", attributes=axes)
    pictures = {name: make_media(lamp, f"{street.base_url}/{name}.svg") for name in ("blue", "moss")}
    for colour, cord, sku, price, stock in (
        ("Blue", "Yes", "L-BY", "30.00", 5),
        ("Blue", "No", "L-BN", "25.00", 5),
        ("Moss", "No", "L-MN", "26.00", 5),
        ("Sand", "Yes", "L-SY", "31.00", 0),
    ):
        make_variant(
            lamp,
            f"{colour}, {cord}",
            option_values={"Colour": colour, "Cord": cord},
            sku=sku,
            price=price,
            stock_qty=stock,
            image=pictures.get(colour.lower()),
        )
    return lamp


@pytest.mark.walk
def test_price_stock_number_and_picture_follow_the_choice(lamp, visit):
    shopper = visit(NARROW)
    shopper.expects = {404}
    page = shopper.open("/products/lamp")
    stock, button, said = page.locator("#stock"), page.locator("[data-buy]"), page.locator("#combination")
    expect(page.locator("#sku")).to_have_text("SKU L-BY")
    page.get_by_role("radio", name="Moss").check()
    expect(said).to_have_text(
        "Moss with Yes is not available. Choose another Colour (Blue or Sand) or another Cord (No)."
    )
    expect(stock).to_have_text("Not available in this combination")
    expect(button).to_have_text("Not available")
    expect(page.locator("#price")).to_have_text("€25.00 – €31.00")
    expect(page.locator("#sku")).to_be_hidden()
    shopper.photograph("combination")
    page.get_by_role("radio", name="No", exact=True).check()
    expect(said).to_be_hidden()
    expect(stock).to_have_text("In stock")
    expect(page.locator("#sku")).to_have_text("SKU L-MN")
    expect(page.locator("#price")).to_have_text("€26.00")
    expect(page.locator(".gallery__thumbs [aria-current]")).to_have_attribute("aria-label", "Picture 2: Lamp")
    expect(page.locator(".axis__value--none")).to_have_text(
        ["Sand (not in this combination)", "Yes (not in this combination)"]
    )
    # The address names what is chosen.
    page.reload()
    expect(page.locator("#sku")).to_have_text("SKU L-MN")
    page.get_by_role("radio", name="Sand").check()
    page.get_by_role("radio", name="Yes").check()
    expect(stock).to_have_text("Sold out")
    expect(button).to_have_text("Sold out")
    # It has no picture of its own, so the first one is shown and not that of Moss.
    expect(page.locator(".gallery__thumbs [aria-current]")).to_have_attribute("href", "#picture-2")


@pytest.fixture
def pictured(street, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    cup = make_product(street, "Cup")
    for number, colour in enumerate(("red", "green", "blue")):
        file = BytesIO()
        Image.new("RGB", (300, 300), colour).save(file, "PNG")
        media = Media(shop=street, product=cup, alt=f"The {colour} side", sort_order=number)
        media.file.save(f"{colour}.png", ContentFile(file.getvalue()))


def test_pictures_are_led_through_and_enlarged_by_keys_and_buttons(pictured, visit):
    shopper = visit(NARROW)
    page = shopper.open("/products/cup")
    current = page.locator(".gallery__thumbs [aria-current]")
    page.get_by_role("group", name="Pictures of Cup").focus()
    page.keyboard.press("ArrowRight")
    expect(current).to_have_attribute("aria-label", "Picture 2: The green side")
    # As a swipe does.
    page.locator(".gallery__track").evaluate("track => track.scrollTo({ left: 2 * track.clientWidth })")
    expect(current).to_have_attribute("aria-label", "Picture 3: The blue side")
    opener = page.get_by_role("link", name="Enlarge picture 3: The blue side")
    opener.press("Enter")
    dialog, place = page.get_by_role("dialog", name="Pictures of Cup"), page.locator(".zoom__place")
    expect(place).to_have_text("3 of 3")
    expect(page.get_by_role("button", name="Next picture")).to_be_disabled()
    page.keyboard.press("ArrowLeft")
    expect(place).to_have_text("2 of 3")
    page.get_by_role("button", name="Previous picture").click()
    expect(place).to_have_text("1 of 3")
    picture = dialog.get_by_role("button", name="The red side")
    picture.click()
    assert picture.locator("img").evaluate("image => image.clientWidth") > 2 * NARROW
    picture.click()
    shopper.photograph("zoom")
    check(shopper)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(opener).to_be_focused()


def test_a_mail_is_offered_for_what_is_sold_out(lamp, visit, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    shopper = visit(NARROW)
    shopper.expects = {404}
    page = shopper.open("/products/lamp")
    field = page.get_by_label("Tell me when it is back")
    expect(field).to_be_hidden()
    page.get_by_role("radio", name="Sand").check()
    field.fill("ada@example.com")
    shopper.photograph("sold-out")
    page.get_by_role("button", name="Tell me").click()
    expect(page.get_by_text("We have written to ada@example.com.")).to_be_visible()
    expect(page.locator("#sku")).to_have_text("SKU L-SY")
    assert StockAlert.objects.get().variant.sku == "L-SY"


def test_the_button_says_every_digit_that_is_charged(street, visit):
    """Browsers have no decimals for RSD."""
    street.currency = "RSD"
    street.save()
    scarf = make_product(street, "Scarf", price="0.00", type="variable")
    for name, price in (("Blue", "98.50"), ("Moss", "1099.50")):
        make_variant(scarf, name, price=price, stock_qty=5)
    page = visit(NARROW).open("/products/scarf")
    page.get_by_role("radio", name="Moss").check()
    expect(page.locator("[data-buy]")).to_have_text("Add to basket · RSD\u00a01,099.50")
