"""Links followed and orders placed while something else writes to the same basket."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from storefront.carts.models import CartLine
from storefront.orders.models import OrderLine
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper, fill_cart, link_to

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(calls) -> list:
    def run(call):
        try:
            return call()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))


def twin_of(shopper: Shopper) -> Shopper:
    """Another tab of the same browser."""
    tab = Shopper(shopper.shop)
    tab.browser.cookies = shopper.browser.cookies
    return tab


def test_a_link_followed_many_times_at_once_doubles_nothing(shop, api):
    mug, pot = make_product(shop, "Mug", stock_qty=50), make_product(shop, "Pot", stock_qty=50)
    shopper = Shopper(shop)
    shopper.bring(api, {"product_id": pot.pk}, {"product_id": mug.pk})
    link = link_to(api, fill_cart(api, {"product_id": mug.pk, "qty": 2}))
    tabs = [twin_of(shopper) for _ in range(6)]

    answers = at_once([lambda tab=tab: tab.follow(link).status_code for tab in tabs])

    assert set(answers) == {303}
    assert sorted(CartLine.objects.values_list("name_snapshot", "qty")) == [("Mug", 3), ("Pot", 1)]


def test_what_is_added_while_the_order_is_placed_is_bought_or_still_in_the_basket(shop, api):
    mug, pot = make_product(shop, "Mug", stock_qty=50), make_product(shop, "Pot", stock_qty=50)
    shopper = Shopper(shop)
    token = shopper.bring(api, {"product_id": mug.pk})
    shopper.fill_details()
    form = shopper.payment_fields()
    tab = twin_of(shopper)

    def add():
        return api.post("/cart", {"product_id": pot.pk, "qty": 1}, cart=token).status_code

    answers = at_once([add, lambda: tab.post("/checkout/payment", form).status_code, add, add])

    assert answers[0] == answers[2] == answers[3] == 201
    sold = sum(OrderLine.objects.values_list("qty", flat=True))
    waiting = sum(CartLine.objects.values_list("qty", flat=True))
    assert sold + waiting == 4
    # The shopper agreed to one mug: either that was sold alone, or the new total is shown first.
    assert sold == (1 if answers[1] == 303 else 0)
