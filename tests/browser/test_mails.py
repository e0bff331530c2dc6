"""Mails in a browser: they fit a phone, in light and dark."""

from decimal import Decimal

import pytest

from storefront.orders import jobs
from tests.browser.conftest import NARROW
from tests.catalogue.factories import make_product
from tests.mails import html_of
from tests.orders.factories import make_order, sale_line

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
