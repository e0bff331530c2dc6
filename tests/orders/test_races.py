"""Concurrent sales never sell more than the stock, on both databases."""

from decimal import Decimal

import pytest

from storefront.catalogue.stock import InsufficientStock
from storefront.orders.models import Order, OrderCounter
from tests.catalogue.factories import make_product, make_variant
from tests.checkout.shopper import Shopper
from tests.client import ApiClient
from tests.orders.factories import make_order, sale_line
from tests.races import run_concurrently
from tests.shops.factories import make_token

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.mark.rule("R-CART-33")
def test_fifty_checkouts_for_ten_pieces_are_ten_orders_and_forty_clear_refusals(shop, settings):
    # All requests come from one network address within a minute.
    settings.LIMITS = settings.LIMITS | {"orders": (), "orders_each": ()}
    mug = make_product(shop, "Mug", stock_qty=10, price=Decimal("9.50"))
    api = ApiClient(make_token(shop))
    shoppers = [Shopper(shop) for _ in range(50)]
    forms = []
    for shopper in shoppers:
        shopper.bring(api, {"product_id": mug.pk})
        shopper.fill_details()
        forms.append(shopper.payment_fields("demo"))

    answers = run_concurrently(
        *(
            lambda shopper=shopper, form=form: shopper.post("/checkout/payment", form)
            for shopper, form in zip(shoppers, forms, strict=True)
        )
    )

    assert sorted(answer.status_code for answer in answers) == [303] * 10 + [422] * 40
    for answer in answers:
        if answer.status_code == 422:
            assert "Mug is sold out." in answer.content.decode()
    mug.refresh_from_db()
    assert mug.stock_qty == 0
    assert sorted(Order.objects.values_list("number", flat=True)) == list(range(1001, 1011))
    assert OrderCounter.objects.get(shop=shop).last_number == 1010


def test_sales_of_the_same_products_in_opposite_order_do_not_deadlock(shop):
    mug, pot = make_product(shop, stock_qty=1000), make_product(shop, stock_qty=1000)
    blue, red = (make_variant(make_product(shop), name, stock_qty=1000) for name in ("Blue", "Red"))
    goods = [mug, pot, blue, red]
    lines = [sale_line(item) for item in goods]

    def buy(order_of_lines):
        return [make_order(shop, *order_of_lines) for _ in range(5)]

    answers = run_concurrently(*(lambda i=i: buy(lines if i % 2 else lines[::-1]) for i in range(8)))

    assert sum(len(orders) for orders in answers) == 40
    for item in goods:
        item.refresh_from_db()
        assert item.stock_qty == 960
    assert sorted(Order.objects.values_list("number", flat=True)) == list(range(1001, 1041))


def test_concurrent_first_orders_of_a_shop_get_different_numbers(shop):
    mug = make_product(shop, stock_qty=100)
    answers = run_concurrently(*[lambda: make_order(shop, sale_line(mug))] * 8)
    assert sorted(order.number for order in answers) == list(range(1001, 1009))


def test_refusals_between_sales_leave_no_gap_in_the_numbers(shop):
    mug = make_product(shop, stock_qty=7)
    answers = run_concurrently(*[lambda: make_order(shop, sale_line(mug, 2))] * 8, refusal=InsufficientStock)
    sold = [answer.number for answer in answers if isinstance(answer, Order)]
    assert sorted(sold) == [1001, 1002, 1003]
    mug.refresh_from_db()
    assert mug.stock_qty == 1
