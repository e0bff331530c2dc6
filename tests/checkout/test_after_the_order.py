"""What an order changes in the carts that its items were copied from."""

from datetime import timedelta

import pytest
import time_machine

from storefront.carts.models import LIFETIME, CartOrder, CheckoutLink
from storefront.checkout.link import delete_expired_links
from storefront.kit import clock
from storefront.kit.clock import timestamp
from storefront.orders.models import Order
from storefront.server.worker.sweeps import SWEEPS
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper, fill_cart, link_to

pytestmark = pytest.mark.slow


@pytest.fixture
def cart(api, mug):
    return fill_cart(api, {"product_id": mug.pk, "qty": 3})


def read(api, token) -> dict:
    return api.get("/cart", cart=token).json()["data"]


def items(api, token) -> dict[str, int]:
    return {item["name_snapshot"]: item["qty"] for item in read(api, token)["items"]}


@pytest.mark.rule("R-CART-36")
def test_ordered_lines_are_removed_from_the_cart_and_the_cart_has_the_order(api, shopper, cart):
    shopper.arrive(link_to(api, cart))
    assert read(api, cart)["orders"] == []
    shopper.order()
    order = Order.objects.get()
    data = read(api, cart)
    assert data["items"] == []
    assert data["orders"] == [{"id": order.pk, "number": order.number, "placed_at": timestamp(order.placed_at)}]
    assert list(data) == ["items", "totals", "orders", "discount_codes", "gift_cards", "problems"]


def test_changes_return_the_orders_as_a_read_does(api, shopper, mug, pot, cart):
    shopper.arrive(link_to(api, cart))
    shopper.order()
    for product in (mug, pot):
        api.post("/cart", {"product_id": product.pk, "qty": 2}, cart=cart)
    orders = read(api, cart)["orders"]
    answers = [
        api.patch(f"/cart/p{mug.pk}", {"qty": 1}, cart=cart),
        api.delete(f"/cart/p{mug.pk}", cart=cart),
        api.delete("/cart", cart=cart),
    ]
    assert [answer.json()["data"]["orders"] for answer in answers] == [orders] * 3 != [[]] * 3


@pytest.mark.rule("R-CART-36")
def test_only_copied_and_ordered_pieces_are_removed(api, shopper, mug, pot, cart):
    shopper.arrive(link_to(api, cart))
    shopper.post("/basket/update", {"key": f"p{mug.pk}", "qty": 2})
    shopper.post("/basket/add", {"product": pot.pk, "qty": 1})
    api.post("/cart", {"product_id": pot.pk, "qty": 4}, cart=cart)
    shopper.order()
    assert items(api, cart) == {"Mug": 1, "Pot": 4}


def test_a_shoppers_own_pieces_of_the_same_goods_are_not_taken_out(api, shopper, mug, cart):
    shopper.post("/basket/add", {"product": mug.pk, "qty": 5})
    shopper.arrive(link_to(api, cart))
    api.patch(f"/cart/p{mug.pk}", {"qty": 9}, cart=cart)
    shopper.order()
    assert Order.objects.get().lines.get().qty == 8
    assert items(api, cart) == {"Mug": 6}


def test_an_integration_that_lowered_its_cart_meanwhile_is_left_with_nothing_below_zero(api, shopper, mug, cart):
    shopper.arrive(link_to(api, cart))
    api.patch(f"/cart/p{mug.pk}", {"qty": 1}, cart=cart)
    shopper.order()
    assert items(api, cart) == {}
    assert len(read(api, cart)["orders"]) == 1


def test_cart_whose_items_were_all_removed_from_the_basket_has_no_order(api, shopper, mug, pot, cart):
    shopper.arrive(link_to(api, cart))
    shopper.post("/basket/add", {"product": pot.pk, "qty": 1})
    shopper.post("/basket/update", {"key": f"p{mug.pk}", "qty": 0})
    shopper.order()
    assert items(api, cart) == {"Mug": 3}
    assert read(api, cart)["orders"] == []


@pytest.mark.rule("R-CART-36")
def test_each_cart_has_its_own_orders(shop, api, shopper, mug, pot, cart):
    other = fill_cart(api, {"product_id": pot.pk, "qty": 1})
    shopper.arrive(link_to(api, cart))
    shopper.arrive(link_to(api, other))
    shopper.order()
    second = Shopper(shop)
    api.post("/cart", {"product_id": mug.pk, "qty": 1}, cart=cart)
    second.arrive(link_to(api, cart))
    second.order()
    first, last = Order.objects.order_by("number").values_list("number", flat=True)
    assert [order["number"] for order in read(api, cart)["orders"]] == [first, last]
    assert [order["number"] for order in read(api, other)["orders"]] == [first]


def test_a_refused_order_changes_nothing(api, shopper, mug, cart):
    shopper.arrive(link_to(api, cart))
    shopper.fill_details()
    form = shopper.payment_fields()
    type(mug).objects.filter(pk=mug.pk).update(stock_qty=1)
    assert shopper.post("/checkout/payment", form).status_code == 422
    assert items(api, cart) == {"Mug": 3}
    assert not CartOrder.objects.exists()


def test_order_renews_a_live_cart_and_no_expired_one(shop, api, mug):
    begun = clock.now()
    with time_machine.travel(begun, tick=False):
        tokens = [fill_cart(api, {"product_id": mug.pk, "qty": 2}) for _ in range(2)]
        shoppers = [Shopper(shop) for _ in tokens]
        for shopper, token in zip(shoppers, tokens, strict=True):
            shopper.arrive(link_to(api, token))
    with time_machine.travel(begun + LIFETIME - timedelta(days=1), tick=False):
        for shopper in shoppers:
            shopper.post("/basket/update", {"key": f"p{mug.pk}", "qty": 1})
        shoppers[0].order()
    with time_machine.travel(begun + LIFETIME + timedelta(days=1), tick=False):
        shoppers[1].order()
        assert api.get("/cart", cart=tokens[0]).json()["cart_token"] == tokens[0]
        assert api.get("/cart", cart=tokens[1]).json()["cart_token"] is None


def test_expired_links_are_deleted(api, other_api, other_shop, cart):
    begun = clock.now()
    with time_machine.travel(begun, tick=False):
        for _ in range(3):
            link_to(api, cart)
    with time_machine.travel(begun + timedelta(minutes=50), tick=False):
        link_to(other_api, fill_cart(other_api, {"product_id": make_product(other_shop).pk}))
    assert delete_expired_links(now=begun + timedelta(minutes=120), limit=9) == 0
    later = begun + timedelta(minutes=126)
    assert [delete_expired_links(now=later, limit=2) for _ in range(3)] == [2, 1, 0]
    assert CheckoutLink.objects.get().shop == other_shop
    assert delete_expired_links in [sweep.batch for sweep in SWEEPS]
