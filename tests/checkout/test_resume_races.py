"""Links followed and orders placed while something else writes to the same basket."""

import pytest

from storefront.carts.models import Arrival, CartLine
from storefront.orders.models import Order, OrderLine
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper, fill_cart, link_to, twin_of
from tests.races import run_concurrently

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def pieces_of(shopper: Shopper) -> list[tuple[str, int]]:
    """What the basket of this browser holds."""
    shown = shopper.get("/basket").context["lines"]
    return sorted((entry["line"].name_snapshot, entry["line"].qty) for entry in shown)


def test_a_link_followed_many_times_at_once_doubles_nothing(shop, api):
    mug, pot = make_product(shop, "Mug", stock_qty=50), make_product(shop, "Pot", stock_qty=50)
    shopper = Shopper(shop)
    shopper.bring(api, {"product_id": pot.pk}, {"product_id": mug.pk})
    link = link_to(api, fill_cart(api, {"product_id": mug.pk, "qty": 2}))
    tabs = [twin_of(shopper) for _ in range(6)]

    answers = run_concurrently(*(lambda tab=tab: tab.arrive(link).status_code for tab in tabs))

    assert set(answers) == {200}
    assert pieces_of(shopper) == [("Mug", 3), ("Pot", 1)]


def test_a_link_followed_twice_at_once_by_a_new_visitor_makes_one_basket(shop, api):
    mug = make_product(shop, "Mug", stock_qty=50)
    token = fill_cart(api, {"product_id": mug.pk, "qty": 2})
    shopper = Shopper(shop)
    shopper.follow(link_to(api, token))
    tabs = [twin_of(shopper) for _ in range(6)]

    answers = run_concurrently(*(lambda tab=tab: tab.get("/checkout").status_code for tab in tabs))

    assert set(answers) == {200}
    assert list(CartLine.objects.filter(cart__token_digest=None).values_list("qty", flat=True)) == [2]
    assert pieces_of(shopper) == [("Mug", 2)]


def test_an_order_beside_changes_of_the_integrations_cart_is_what_the_shopper_saw(shop, api):
    mug, pot = make_product(shop, "Mug", stock_qty=50), make_product(shop, "Pot", stock_qty=50)
    shopper = Shopper(shop)
    token = shopper.bring(api, {"product_id": mug.pk, "qty": 2})
    shopper.fill_details()
    form = shopper.payment_fields()

    def add(product):
        return api.post("/cart", {"product_id": product.pk, "qty": 1}, cart=token).status_code

    answers = run_concurrently(
        lambda: add(pot),
        lambda: shopper.post("/checkout/payment", form).status_code,
        lambda: add(mug),
        lambda: add(pot),
    )

    assert answers == [201, 303, 201, 201]
    assert list(OrderLine.objects.values_list("name", "qty")) == [("Mug", 2)]
    # The two ordered pieces were removed from the integration's cart; what it added meanwhile is still there.
    data = api.get("/cart", cart=token).json()["data"]
    assert sorted((item["name_snapshot"], item["qty"]) for item in data["items"]) == [("Mug", 1), ("Pot", 2)]
    assert [order["number"] for order in data["orders"]] == [Order.objects.get().number]


def test_concurrent_undo_and_order_never_do_half(shop, api):
    mug, pot = make_product(shop, "Mug", stock_qty=50), make_product(shop, "Pot", stock_qty=50)
    for _ in range(4):
        shopper = Shopper(shop)
        shopper.post("/basket/add", {"product": pot.pk, "qty": 1})
        token = shopper.bring(api, {"product_id": mug.pk, "qty": 2})
        arrival = Arrival.objects.latest("pk").pk
        shopper.fill_details()
        form = shopper.payment_fields()
        one, two, three = (twin_of(shopper) for _ in range(3))

        placed, *undone = run_concurrently(
            lambda one=one, form=form: one.post("/checkout/payment", form).status_code,
            lambda two=two, arrival=arrival: two.post("/checkout/undo", {"arrival": arrival}).status_code,
            lambda three=three, arrival=arrival: three.post("/checkout/undo", {"arrival": arrival}).status_code,
        )

        assert undone == [303, 303]
        sold = dict(OrderLine.objects.values_list("name", "qty"))
        waiting = {item["name_snapshot"]: item["qty"] for item in items_of(api, token)}
        if placed == 303:
            assert (sold, waiting, pieces_of(shopper)) == ({"Mug": 2, "Pot": 1}, {}, [])
        else:
            assert (placed, sold, waiting, pieces_of(shopper)) == (422, {}, {"Mug": 2}, [("Pot", 1)])
        Order.objects.all().delete()


def test_two_browsers_that_order_at_once_take_no_more_out_of_the_cart_than_was_in_it(shop, api):
    mug, pot = make_product(shop, "Mug", stock_qty=50), make_product(shop, "Pot", stock_qty=50)
    token = fill_cart(api, {"product_id": mug.pk, "qty": 2}, {"product_id": pot.pk, "qty": 1})
    forms = []
    for _ in range(4):
        shopper = Shopper(shop)
        shopper.arrive(link_to(api, token))
        shopper.fill_details()
        forms.append((shopper, shopper.payment_fields()))
    api.post("/cart", {"product_id": pot.pk, "qty": 6}, cart=token)

    answers = run_concurrently(
        *(lambda who=who, form=form: who.post("/checkout/payment", form).status_code for who, form in forms)
    )

    assert answers == [303] * 4
    assert [(item["name_snapshot"], item["qty"]) for item in items_of(api, token)] == [("Pot", 3)]
    assert len(api.get("/cart", cart=token).json()["data"]["orders"]) == 4


def items_of(api, token) -> list:
    return api.get("/cart", cart=token).json()["data"]["items"]
