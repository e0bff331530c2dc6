"""Mails in a browser: they fit a phone, in light and dark."""

from decimal import Decimal
from io import BytesIO

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image

from storefront.content.models import Looks
from storefront.orders import jobs
from tests.browser.conftest import NARROW
from tests.catalogue.factories import make_product
from tests.content.every_mail import mails_of
from tests.mails import html_of
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("write", [jobs.confirmation_mail, lambda order: jobs.merchant_mail(order, "mia@example.com")])
def test_a_mail_fits_a_phone(street, chromium, write, scheme):
    product = make_product(street, f"Mug {'very' * 30} long", price=Decimal("9999.50"), stock_qty=99)
    street.manual_payment_instructions = "DE00" * 40
    street.save()
    order = make_order(street, sale_line(product, 3), shopper_note="x" * 300)
    page = chromium.new_page(viewport={"width": NARROW, "height": 900}, color_scheme=scheme)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_content(html_of(write(order)))
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW
    boxes = "[...document.querySelectorAll('td,p,a,span')]"
    edges = page.evaluate(f"{boxes}.map(each => each.getBoundingClientRect().right)")
    assert max(edges) <= NARROW
    ink, ground = (
        page.evaluate(f"getComputedStyle(document.querySelector('{part}')).{what}")
        for part, what in ((".content p", "color"), (".card", "backgroundColor"))
    )
    assert (brightness(ink) > brightness(ground)) == (scheme == "dark")
    assert asked == []
    page.close()


def brightness(colour: str) -> int:
    """Of a colour such as `rgb(1, 2, 3)`."""
    return sum(int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_mail_is_accessible_and_fits_a_phone(street, chromium, scheme):
    picture = BytesIO()
    Image.new("RGB", (400, 100), "navy").save(picture, "PNG")
    logo = SimpleUploadedFile("logo.png", picture.getvalue(), "image/png")
    Looks.objects.create(shop=street, logo=logo, accent="#7a1f5c", fonts="lora", updated_at=NOW)
    page = chromium.new_page(viewport={"width": NARROW, "height": 900}, color_scheme=scheme)
    for name, message in mails_of(street):
        page.set_content(html_of(message))
        found = Axe().run(page)
        assert found.violations_count == 0, f"{name}: {found.generate_report()}"
        assert page.evaluate("document.documentElement.scrollWidth") == NARROW, name
    page.close()
