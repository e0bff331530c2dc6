"""Orders that are placed without signing in belong to the account of their address, if its owner has proven it."""

import pytest
from django.db import connection, transaction

from storefront.customers.actions import create_customer
from storefront.customers.models import Customer
from storefront.orders.history import attach_guest_orders, orders_of
from storefront.orders.models import Order
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.customers.factories import make_customer
from tests.orders.factories import make_order, sale_line
from tests.races import run_after_waiting_for
from tests.shops.factories import NOW, make_shop

ADDRESS = "ada@example.com"


def place(shop, **given):
    """An order without an account, in the address's own spelling."""
    return make_order(shop, sale_line(make_product(shop)), **{"email": "Ada@Example.com"} | given)


def test_an_order_placed_after_the_account_joins_it(shop):
    ada = make_customer(shop, ADDRESS)
    order = place(shop)
    assert order.customer == ada
    assert list(orders_of(shop, ada)) == [order]


def test_an_order_under_an_address_that_nobody_has_proven_stays_a_guest_s(shop):
    create_customer(shop=shop, email=ADDRESS, now=NOW)
    assert place(shop).customer is None


def test_an_order_under_an_address_that_waits_for_its_proof_stays_a_guest_s(shop):
    make_customer(shop, "old@example.com", pending_email=ADDRESS)
    assert place(shop).customer is None


def test_another_shop_s_account_and_another_address_do_not_count(shop, other_shop):
    make_customer(other_shop, ADDRESS)
    make_customer(shop, "ada.l@example.com")
    assert place(shop).customer is None


def test_the_confirmation_does_not_tell_whether_the_address_has_an_account(shop):
    make_customer(shop, ADDRESS)
    pages = []
    for email in (ADDRESS, "nobody@example.com"):
        shopper = Shopper(shop)
        shopper.post("/basket/add", {"product": make_product(shop, email).pk, "qty": "1"})
        shopper.fill_details(email=email)
        pages.append(shopper.read(shopper.post("/checkout/payment", shopper.payment_fields())["Location"]))
    assert Order.objects.filter(customer=None).count() == 1
    assert ["/account/register" in page for page in pages] == [True, True]


def test_an_order_of_an_account_keeps_it_whatever_its_address(shop):
    make_customer(shop, ADDRESS)
    ben = make_customer(shop, "ben@example.com")
    assert place(shop, customer_id=ben.pk).customer == ben


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer at a time")
def test_an_order_that_is_being_placed_while_the_address_is_proven_joins():
    shop = make_shop()
    placed = []

    def prove() -> None:
        ada = make_customer(shop, ADDRESS)
        attach_guest_orders(shop=shop, customer=ada, now=NOW)

    # The order has looked for an account and is not committed when the owner proves the address.
    run_after_waiting_for(lambda: placed.append(place(shop)), prove)
    placed[0].refresh_from_db()
    assert placed[0].customer == Customer.objects.get()


@pytest.mark.django_db(transaction=True)
def test_proving_leaves_no_order_behind_in_either_order():
    shop = make_shop()
    first = place(shop)
    with transaction.atomic():
        ada = make_customer(shop, ADDRESS)
        assert attach_guest_orders(shop=shop, customer=ada, now=NOW) == 1
    first.refresh_from_db()
    assert (first.customer, place(shop).customer) == (ada, ada)
