"""The customer's orders in the account."""

from decimal import Decimal

import pytest

from storefront.orders.fulfilling import Tracking, fulfil_order
from storefront.payments import actions as payments
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.customers.factories import make_customer
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW


@pytest.fixture
def shopper(shop, ada) -> Shopper:
    shopper = Shopper(shop)
    shopper.sign_in()
    return shopper


def buy(customer, name="Mug", price="9.50"):
    mug = make_product(customer.shop, name, price=Decimal(price), slug=f"{name}-{customer.pk}-{price}")
    return make_order(customer.shop, sale_line(mug), customer_id=customer.pk)


def test_lists_an_order_and_shows_its_details(shopper, ada):
    order = buy(ada, price="12.00")
    for path in ("/account", "/account/orders"):
        page = shopper.get(path).content.decode()
        assert f'<a href="/account/orders/{order.number}">Order {order.number}</a>' in page
        assert "€12.00" in page
        assert "Not paid yet" in page
    page = shopper.get(f"/account/orders/{order.number}").content.decode()
    for words in ("Mug", "€12.00", "Hafenstraße 1", "Germany"):
        assert words in page


def test_shows_the_status_of_an_order(shop, shopper, ada):
    paid, sent, cancelled = buy(ada, price="1.00"), buy(ada, price="2.00"), buy(ada, price="3.00")
    payments.mark_paid(shop=shop, order=paid, now=NOW)
    fulfil_order(shop=shop, order=sent, now=NOW)
    payments.cancel_order(shop=shop, order=cancelled, now=NOW)
    for order, words in ((paid, "Paid"), (sent, "On its way"), (cancelled, "Cancelled")):
        assert f">{words}<" in shopper.get(f"/account/orders/{order.number}").content.decode()


def test_shows_the_tracking_link(shop, shopper, ada):
    order = buy(ada)
    tracking = Tracking("DHL", "JD0146", "https://dhl.example.com/JD0146")
    fulfil_order(shop=shop, order=order, tracking=tracking, now=NOW)
    page = shopper.get(f"/account/orders/{order.number}").content.decode()
    assert '<a href="https://dhl.example.com/JD0146" rel="noopener noreferrer">DHL JD0146</a>' in page
    assert "1 × Mug" in page


@pytest.mark.slow
def test_newest_orders_come_first_in_pages(shopper, ada):
    numbers = [buy(ada, price=f"{number + 1}.00").number for number in range(21)]
    first = shopper.get("/account/orders").content.decode()
    assert f"Order {numbers[-1]}" in first
    assert f"Order {numbers[0]}<" not in first
    assert f"Order {numbers[0]}<" in shopper.get("/account/orders?page=2").content.decode()
    for page in ("3", "0", "-1", "x", "9" * 30):
        assert shopper.get(f"/account/orders?page={page}").status_code == 404


def test_without_orders_the_page_says_so(shopper):
    assert "No orders yet" in shopper.get("/account/orders").content.decode()


def test_shows_only_the_customers_own_orders(shop, other_shop, shopper, ada):
    mine = buy(ada)
    foreign = buy(make_customer(shop, "bob@example.com"), "Pot")
    guest = make_order(shop, sale_line(make_product(shop)), email="guest@example.com")
    buy(make_customer(other_shop), "Secret", "5.00")
    buy(make_customer(other_shop, "c@example.com"), "Secret", "6.00")
    page = shopper.get("/account/orders").content.decode()
    assert page.count('class="record"') == 1
    for order in (foreign, guest):
        assert shopper.get(f"/account/orders/{order.number}").status_code == 404
    assert shopper.get(f"/account/orders/{mine.number + 1000}").status_code == 404
    assert shopper.get("/account/orders/" + "9" * 30).status_code == 404


@pytest.mark.parametrize("count", [1, 15])
def test_a_page_takes_a_constant_number_of_queries(shopper, ada, count, django_assert_max_num_queries):
    for number in range(count):
        buy(ada, price=f"{number + 1}.00")
    with django_assert_max_num_queries(9):
        page = shopper.get("/account/orders").content.decode()
    assert page.count('class="record"') == count
