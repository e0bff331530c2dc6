"""Staff work through the orders by keyboard, and two of them print the queue."""

import pytest
from playwright.sync_api import expect

from storefront.kit import clock
from storefront.orders.models import Order
from storefront.payments.actions import mark_paid
from tests.browser.conftest import NARROW, WIDE
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line

pytestmark = pytest.mark.browser


def make_orders(street) -> None:
    mug = make_product(street, "Mug", stock_qty=9)
    for _ in range(3):
        mark_paid(shop=street, order=make_order(street, sale_line(mug), now=clock.now()), now=clock.now())


@pytest.mark.walk
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_three_orders_are_fulfilled_by_keyboard(street, sit, width):
    make_orders(street)
    visitor = sit(width)
    page = visitor.open("/admin/orders/order/?view=to_send")
    page.get_by_role("link", name="#1003").first.focus()
    page.keyboard.press("Enter")
    for number in (1003, 1002, 1001):
        expect(page.get_by_role("heading", name=f"Order #{number}")).to_be_visible()
        page.wait_for_load_state()
        page.keyboard.press("f")
        expect(page.get_by_text("Marked as fulfilled.")).to_be_visible()
        page.wait_for_load_state()
        if number > 1001:
            page.keyboard.press("j")
    assert not Order.objects.exclude(status="fulfilled").exists()
    visitor.photograph("order-by-keyboard")

    # Keys are letters to whoever types, and nothing once they are turned off.
    page.locator("#id_note").focus()
    page.keyboard.type("jkl?")
    expect(page.locator("#id_note")).to_have_value("jkl?")
    page.locator("#id_note").fill("")
    page.locator("#id_note").blur()
    page.keyboard.press("?")
    box = page.get_by_role("dialog").get_by_label("Use these keys in this browser")
    expect(box).to_be_checked()
    visitor.photograph("order-keys")
    box.uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("l")
    expect(page.get_by_role("heading", name="Order #1001")).to_be_visible()
    page.get_by_role("button", name="Keys").click()
    box.check()
    page.keyboard.press("Escape")
    page.keyboard.press("l")
    expect(page).to_have_url(f"{street.base_url}/admin/orders/order/?view=to_send")


def test_of_two_who_print_the_second_is_told(street, sit):
    make_orders(street)
    anna, ben = sit(), sit(NARROW)
    page = ben.open("/admin/orders/order/?view=to_print")
    for box in page.locator("input[name=_selected_action]").all():
        box.check(force=True)
    mine = anna.open("/admin/orders/order/print-queue.pdf/")
    expect(mine.get_by_text("orders to print: 3")).to_be_visible()
    anna.photograph("print-queue")
    # As the button does. Chromium would open its PDF viewer, which is no page of ours.
    token = mine.locator("main input[name=csrfmiddlewaretoken]").first.input_value()
    headers = {"Referer": mine.url}
    printed = anna.context.request.post(mine.url, form={"csrfmiddlewaretoken": token}, headers=headers)
    assert printed.headers["content-type"] == "application/pdf"
    assert Order.objects.exclude(printed_at=None).count() == 3
    page.locator("#chosen").get_by_role("button", name="Print packing slips and invoices").click()
    expect(page.get_by_text("was printed by anna@example.com").first).to_be_visible()
    expect(page.get_by_role("button", name="Print 3, including printed ones")).to_be_visible()
    ben.photograph("printed-already")
