"""The merchant's own pages in a browser: an order, the start page, and the door of a closed shop."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from storefront.kit import clock
from storefront.orders.fulfilling import fulfil_order
from storefront.orders.models import OrderMail
from storefront.payments.actions import mark_paid
from storefront.payments.line_refunds import Pieces
from storefront.payments.refunds import request_refund
from storefront.staff.doors import close_doors
from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import RULES
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line
from tests.staff import admin_url

pytestmark = pytest.mark.browser


def violations(page, within: str) -> list[str]:
    found = Axe().run(page, context=within, options=RULES).response["violations"]
    return [f"{each['id']}: {node['html'][:120]} {node['failureSummary']}" for each in found for node in each["nodes"]]


def busy_order(shop):
    """An order of three lines, paid, partly sent, partly refunded, about which was written."""
    now = clock.now()
    lines = [
        sale_line(
            make_product(shop, name, sku=f"SKU-{number}"),
            number + 1,
            options=[{"name": "Colour", "value": "Moss", "price": "0.00"}],
        )
        for number, name in enumerate(["Stoneware mug with a long name that wraps", "Pot", "Plate"])
    ]
    order = make_order(shop, *lines, shopper_note="Please ring twice.", now=now)
    mark_paid(shop=shop, order=order, now=now)
    first, second, _ = order.lines.all()
    fulfil_order(shop=shop, order=order, pieces=[(first.pk, 1)], now=now)
    request_refund(
        shop=shop, order=order, lines=[Pieces(second.pk, 1, restock=True, sent=False)], reason="Sold out", now=now
    )
    for kind in ("order_confirmation", "order_paid", "fulfilment"):
        given = {"kind": kind, "email": order.email, "subject": kind, "created_at": now, "sent_at": now}
        OrderMail.objects.create(shop=shop, order=order, **given)
    return order


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_an_order_fits_its_screens_and_meets_wcag_aa(street, sit, width):
    order, visitor = busy_order(street), sit(width)
    page = visitor.open(admin_url(order, "change"))
    expect(page.get_by_role("heading", name=f"Order #{order.number}")).to_be_visible()
    visitor.photograph("order-page")
    if width == NARROW:
        assert page.evaluate("document.documentElement.scrollHeight") <= 3 * 844
    assert violations(page, "#content") == []
    page.get_by_role("button", name="Write to the customer").click()
    expect(page.get_by_label("Message")).to_be_visible()
    visitor.photograph("order-write")
    visitor.open("/admin/orders/order/?view=to_send")
    visitor.photograph("order-list")


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_start_page_meets_wcag_aa(street, sit, width):
    busy_order(street)
    make_product(street, "Last one", stock_qty=0)
    visitor = sit(width)
    page = visitor.open("/admin/")
    expect(page.get_by_role("heading", name="To do")).to_be_visible()
    visitor.photograph("start-page")
    page.get_by_text("The figures as a table").click()
    assert violations(page, "#content") == []


def test_closed_doors_open_to_the_password(street, visit):
    make_product(street, "Mug")
    password, visitor = close_doors(shop=street, now=clock.now()), visit(NARROW)
    visitor.expects = {403}
    page = visitor.open("/products/mug")
    visitor.photograph("doors")
    assert violations(page, "body") == []
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Enter").click()
    expect(page.get_by_role("heading", name="Mug")).to_be_visible()
