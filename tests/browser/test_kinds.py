"""One purchase of each kind of product: what the shopper chose is what was ordered, paid for, and sent.

Variants, downloads and gift cards have journeys of their own: `test_shopping.py`, `test_downloads.py` and
`test_gift_cards.py`.
"""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from storefront.kit import clock
from storefront.orders.fulfilling import fulfil_order
from storefront.orders.models import Order
from tests.browser import steps
from tests.carts.factories import make_bundle
from tests.catalogue.factories import make_option, make_product

pytestmark = pytest.mark.browser


def simple(shop):
    return make_product(shop, "Thing", stock_qty=5), None, "€9.50", []


def with_options(shop):
    product = make_product(shop, "Thing", stock_qty=5)
    make_option(product, "Engraving", {"Gold": "5.00"}, required=True)
    make_option(product, "Dedication", {"": "1.00"}, type="text", sort_order=1)

    def choose(page: Page) -> None:
        page.get_by_label("Engraving").select_option(label="Gold (+ €5.00)")
        page.get_by_label("Dedication").fill("To Ada")

    return product, choose, "€15.50", ["Engraving: Gold", "Dedication: To Ada"]


def custom_price(shop):
    product = make_product(shop, "Thing", allow_custom_price=True, min_custom_price="5.00")
    return product, lambda page: page.get_by_label("Your price").fill("12.50"), "€12.50", []


def bundle(shop):
    cup, saucer = make_product(shop, "Cup", stock_qty=5), make_product(shop, "Saucer", stock_qty=5)
    return make_bundle(shop, "Thing", {cup: 1, saucer: 2}), None, "€9.50", ["1 × Cup", "2 × Saucer"]


def preorder(shop):
    day = datetime(2099, 3, 4, 12, tzinfo=UTC)
    product = make_product(shop, "Thing", is_preorder=True, available_from=day)
    return product, None, "€9.50", ["Pre-order, sent from 4 Mar 2099"]


def damaged(shop):
    product = make_product(shop, "Thing", stock_qty=5, damaged_qty=2, damaged_price="4.00")
    return product, lambda page: page.get_by_label("Damaged").check(), "€4.00", ["Damaged item"]


def damaged_alone(shop):
    return (
        make_product(shop, "Thing", stock_qty=0, damaged_qty=2, damaged_price="4.00"),
        None,
        "€4.00",
        ["Damaged item"],
    )


@pytest.mark.parametrize("kind", [simple, with_options, custom_price, bundle, preorder, damaged, damaged_alone])
def test_it_is_bought_and_sent(street, visit, kind):
    product, choose, total, details = kind(street)
    # Without a delivery step, for fewer pages.
    type(product).objects.update(requires_shipping=False)
    shopper = visit()
    page = shopper.open(f"/products/{product.slug}")
    if choose:
        choose(page)
    button = page.locator("#buy button")
    expect(button).to_contain_text(total)
    button.click()
    expect(page.get_by_text("is in your basket.")).to_be_visible()
    page = shopper.open("/checkout")
    steps.fill_details(page, then="Continue to payment")
    for each in details:
        expect(page.locator("main")).to_contain_text(each)
    steps.pay_by_card(page)
    steps.expect_order(page, total)
    order = Order.objects.get()
    line = order.lines.get()
    assert (order.payment_status, f"€{order.total}", line.product) == ("paid", total, product)
    fulfil_order(shop=street, order=order, pieces=[(line.pk, 1)], now=clock.now())
    page.reload()
    expect(page.get_by_role("heading", name="Ready")).to_be_visible()
    expect(page.locator("main")).to_contain_text("1 × Thing")
    left = {each.name: (each.stock_qty, each.damaged_qty) for each in street.products.filter(track_inventory=True)}
    assert left == {
        "simple": {"Thing": (4, 0)},
        "with_options": {"Thing": (4, 0)},
        "bundle": {"Cup": (4, 0), "Saucer": (3, 0), "Thing": (0, 0)},
        "damaged": {"Thing": (5, 1)},
        "damaged_alone": {"Thing": (0, 1)},
    }.get(kind.__name__, left)
