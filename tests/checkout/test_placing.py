"""From a basket to an order, page by page."""

from decimal import Decimal

from storefront.orders.models import Order
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_product


def test_a_shopper_buys_what_is_in_the_basket(shop, api, shopper):
    mug = make_product(shop, "Mug", price=Decimal("9.50"), stock_qty=10, sku="M1")
    shopper.bring(api, {"product_id": mug.pk, "qty": 2})

    answer = shopper.order()

    order = Order.objects.get(shop=shop)
    assert answer.status_code == 303
    assert answer["Location"] == f"/orders/{order.public_id}"
    assert order.total == Decimal("19.00")
    line = order.lines.get()
    assert (line.name, line.sku, line.qty, line.unit_price) == ("Mug", "M1", 2, Decimal("9.50"))
    mug.refresh_from_db()
    assert mug.stock_qty == 8
    page = shopper.get(answer["Location"])
    assert page.status_code == 200
    assert b"Thank you" in page.content
    assert Event.objects.get(shop=shop, topic="order.placed").data["number"] == order.number
