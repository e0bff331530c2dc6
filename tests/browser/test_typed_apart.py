"""With hosts of their own, what a shopper types is typed on the secure host: the way there and back, at two widths."""

import re

import pytest
from playwright.sync_api import expect

from storefront.kit import clock
from storefront.staff.doors import close_doors
from storefront.stock_alerts.models import StockAlert
from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_back_office import violations
from tests.catalogue.factories import make_option, make_product, make_variant

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("own_hosts")]


@pytest.fixture
def secure(settings) -> str:
    return f"http://{settings.SECURE_HOST}/localhost"


@pytest.mark.walk
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_gift_card_and_an_engraved_mug(street, visit, secure, width):
    given = {"type": "digital", "requires_shipping": False, "track_inventory": False, "is_gift_card": True}
    make_product(street, "Gift card", price="25.00", allow_custom_price=True, min_custom_price="10.00", **given)
    make_option(make_product(street, "Mug"), "Engraving", {"Text": "2.00"}, type="text", required=True)
    shopper = visit(width)
    page = shopper.open("/products/gift-card")
    page.get_by_label("Your price").fill("30")
    shopper.photograph("gift card, choices")
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url(f"{secure}/basket/texts?*")
    page.get_by_label("Email address of the recipient").fill("ben@example.com")
    page.get_by_label("Message").fill("Happy birthday!")
    shopper.photograph("gift card, texts")
    assert violations(page, "body") == []
    page.get_by_role("button", name="Add to basket").click()
    page.wait_for_url(f"{shopper.address}/basket")
    expect(page.get_by_text("For the recipient you entered")).to_be_visible()
    expect(page.locator("main")).to_contain_text("€30.00")
    shopper.open("/products/mug")
    shopper.photograph("engraved mug, choices")
    page.get_by_role("button", name="Continue · €11.50").click()
    page.get_by_label("Engraving").fill("For Ada")
    page.get_by_role("button", name="Add to basket").click()
    page.wait_for_url(f"{shopper.address}/basket")
    expect(page.locator("#basket-link")).to_contain_text("2")
    shopper.photograph("basket of what was typed")
    assert "For Ada" not in page.content()
    assert "ben@example.com" not in page.content()
    page.get_by_role("link", name="Go to checkout").click()
    page.wait_for_url(f"{secure}/checkout")
    expect(page.get_by_text("For ben@example.com").first).to_be_attached()


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_wish_for_a_mail(street, visit, secure, settings, width):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    cup = make_product(street, "Cup")
    make_variant(cup, "Blue")
    red = make_variant(cup, "Red", stock_qty=0)
    shopper = visit(width)
    page = shopper.open("/products/cup")
    button = page.get_by_role("button", name="Tell me when it is back")
    expect(button).to_be_hidden()
    shopper.open(f"/products/cup?variant={red.pk}")
    shopper.photograph("sold out")
    button.click()
    page.wait_for_url(f"{secure}/stock-alerts?*")
    expect(page.get_by_role("heading", name="Cup – Red")).to_be_visible()
    page.get_by_label("Tell me when it is back").fill("ada@example.com")
    shopper.photograph("alert")
    assert violations(page, "body") == []
    page.get_by_role("button", name="Tell me").click()
    expect(page.get_by_text("We have written to ada@example.com")).to_be_visible()
    shopper.photograph("alert asked for")
    assert StockAlert.objects.get().variant == red


def test_closed_doors(street, visit, secure):
    make_product(street, "Mug")
    password, visitor = close_doors(shop=street, now=clock.now()), visit(NARROW)
    visitor.expects = {403}
    page = visitor.open("/products/mug")
    visitor.photograph("doors")
    page.get_by_role("link", name="Enter the password").click()
    page.wait_for_url(re.compile(re.escape(f"{secure}/door?next=")))
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Enter").click()
    page.wait_for_url(f"{visitor.address}/products/mug")
    expect(page.get_by_role("heading", name="Mug")).to_be_visible()
