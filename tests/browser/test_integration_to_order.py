"""The main job: a product file is imported, an integration fills a cart, and a shopper pays through its link."""

import json

import pytest
from playwright.sync_api import expect

from storefront.kit import clock
from storefront.orders.models import Order
from storefront.product_files.importing import import_products
from tests.browser import steps
from tests.browser.conftest import NARROW, WIDE
from tests.shops.factories import make_token

pytestmark = pytest.mark.browser

MUG = {
    "name": "Mug",
    "sku": "M1",
    "price": "9.50",
    "status": "active",
    "stock_qty": 5,
    "categories": ["Kitchen > Cups"],
    "options": [
        {"name": "Engraving", "type": "select", "required": True, "values": [{"label": "Gold", "price": "5.00"}]}
    ],
}


@pytest.mark.walk
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_from_an_imported_product_to_a_placed_order(street, visit, tmp_path, width):
    file = tmp_path / "products.jsonl"
    file.write_text(json.dumps(MUG))
    assert import_products(shop=street, file=file, now=clock.now()).created == 1

    shopper = visit(width)
    link = _integration_s_link(shopper, make_token(street, "read_products", "read_cart", "write_cart"))
    page = shopper.open(link)
    assert "signature" not in page.url
    expect(page.locator("main")).to_contain_text("Mug")
    shopper.photograph("details")
    steps.fill_details(page)
    shopper.photograph("delivery")
    steps.choose_delivery(page)
    shopper.photograph("payment")
    steps.pay_by_card(page)
    steps.expect_order(page, "€33.90")
    shopper.photograph("confirmation")

    order = Order.objects.get()
    assert (str(order.total), order.email, order.payment_status) == ("33.90", "ada@example.com", "paid")
    line = order.lines.get()
    assert (line.qty, line.options[0]["value"]) == (2, "Gold")
    assert line.product.stock_qty == 3


def _integration_s_link(shopper, token: str) -> str:
    """The integration's part, over HTTP."""
    api, headers = shopper.address + "/api/v1", {"Authorization": f"Bearer {token}"}
    request = shopper.context.request
    found = request.get(f"{api}/products?q=mug", headers=headers).json()["data"][0]
    option = request.get(f"{api}/products/{found['slug']}", headers=headers).json()["data"]["options"][0]
    chosen = {str(option["id"]): option["values"][0]["id"]}
    body = {"product_id": found["id"], "qty": 2, "options": chosen}
    cart = request.post(f"{api}/cart", headers=headers, data=body).json()["cart_token"]
    answer = request.post(f"{api}/cart/checkout", headers=headers | {"X-Cart-Token": cart})
    assert answer.ok, answer.text()
    return answer.json()["checkout_url"]
