"""Somebody follows a checkout link and sends it on; somebody else swaps the goods after the page was shown."""

from datetime import timedelta

import pytest
import time_machine

from storefront.carts.models import Arrival, Cart, CartLine
from storefront.carts.queries import TOKEN_PREFIX
from storefront.checkout.models import Checkout
from storefront.kit import clock
from storefront.kit.signing import sign_url
from storefront.orders.models import Order
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper, details, fill_cart, in_basket, link_to
from tests.customers.factories import make_customer

pytestmark = [pytest.mark.any_database, pytest.mark.slow]

VICTIM = {"email": "victim@example.com", "phone": "0431 77", "shipping-line1": "Victim's Road 1"}
ATTACKER = {"email": "attacker@example.com", "phone": "0431 66", "shipping-line1": "Attacker's Alley 6"}


@pytest.fixture
def cart(api, mug):
    return fill_cart(api, {"product_id": mug.pk, "qty": 2})


@pytest.fixture
def attacker(shop):
    return Shopper(shop)


@pytest.fixture
def victim(shop):
    return Shopper(shop)


@pytest.fixture
def both_there(api, cart, attacker, victim):
    """Both followed the same link."""
    link = link_to(api, cart)
    attacker.arrive(link)
    victim.arrive(link)


def pages(shopper: Shopper) -> str:
    """Everything that the checkout shows to this browser."""
    paths = ("/checkout", "/checkout/delivery", "/checkout/payment", "/checkout/blocks", "/basket")
    return "".join(shopper.get(path).content.decode() for path in paths)


def items(api, token) -> dict[str, int]:
    return {item["name_snapshot"]: item["qty"] for item in api.get("/cart", cart=token).json()["data"]["items"]}


@pytest.mark.rule("R-LINK-12")
def test_what_the_victim_fills_in_never_shows_to_the_attacker(both_there, attacker, victim):
    attacker.fill_details(**ATTACKER)
    victim.fill_details(**VICTIM)
    seen = pages(attacker)
    assert "attacker@example.com" in seen
    for secret in ("victim@example.com", "+49 43177", "Victim&#x27;s Road 1"):
        assert secret not in seen
        assert secret in pages(victim)


def test_the_attackers_address_never_gets_into_the_victims_order(both_there, attacker, victim):
    victim.fill_details(**VICTIM)
    form = victim.payment_fields()
    attacker.fill_details(**ATTACKER)
    assert victim.post("/checkout/payment", form).status_code == 303
    order = Order.objects.get()
    assert (order.email, order.shipping_address["line1"]) == ("victim@example.com", "Victim's Road 1")


@pytest.mark.rule("R-LINK-15")
def test_one_link_in_two_browsers_makes_two_baskets_and_two_checkouts(both_there, attacker, victim):
    attacker.fill_details(**ATTACKER)
    victim.fill_details(**VICTIM)
    assert Cart.objects.filter(token_digest=None).count() == 2
    owners = Checkout.objects.values_list("cart", "owner")
    assert len({cart for cart, _ in owners}) == len({owner for _, owner in owners} - {None}) == 2


@pytest.mark.rule("R-LINK-15")
def test_the_victims_payment_form_buys_nothing_at_the_attackers(both_there, attacker, victim):
    attacker.fill_details(**ATTACKER)
    victim.fill_details(**VICTIM)
    form = victim.payment_fields()
    assert attacker.post("/checkout/payment", form).status_code == 422
    victim.post("/checkout/payment", form)
    order = Order.objects.get()
    assert order.email == "victim@example.com"
    answer = attacker.post("/checkout/payment", form)
    assert str(order.public_id) not in answer.get("Location", "")


def test_whoever_has_the_carts_token_neither_sees_nor_changes_the_victims_basket(api, mug, pot, cart, victim):
    victim.arrive(link_to(api, cart))
    victim.post("/basket/add", {"product": pot.pk, "qty": 3})
    assert items(api, cart) == {"Mug": 2}
    api.patch(f"/cart/p{mug.pk}", {"qty": 9}, cart=cart)
    api.post("/cart", {"product_id": pot.pk, "qty": 9}, cart=cart)
    api.delete(f"/cart/p{mug.pk}", cart=cart)
    assert in_basket(victim) == {"Mug": 2, "Pot": 3}
    api.delete("/cart", cart=cart)
    assert in_basket(victim) == {"Mug": 2, "Pot": 3}


def test_goods_of_a_merged_basket_never_reach_the_carts_token(shop, api, pot, cart, victim):
    make_customer(shop)
    victim.sign_in()
    victim.post("/basket/add", {"product": pot.pk, "qty": 1})
    victim.arrive(link_to(api, cart))
    assert in_basket(victim) == {"Pot": 1, "Mug": 2}
    assert items(api, cart) == {"Mug": 2}


def test_goods_that_were_swapped_for_others_of_the_same_total_are_not_sold(api, mug, pot, cart, victim):
    victim.arrive(link_to(api, cart))
    victim.fill_details()
    form = victim.payment_fields()
    api.delete(f"/cart/p{mug.pk}", cart=cart)
    api.post("/cart", {"product_id": pot.pk, "qty": 2}, cart=cart)
    assert victim.post("/checkout/payment", form).status_code == 303
    assert list(Order.objects.get().lines.values_list("name", "qty")) == [("Mug", 2)]


def test_goods_that_a_link_followed_again_swaps_are_said_and_not_sold(api, mug, pot, cart, victim):
    victim.arrive(link_to(api, cart))
    victim.fill_details()
    form = victim.payment_fields()
    api.delete(f"/cart/p{mug.pk}", cart=cart)
    api.post("/cart", {"product_id": pot.pk, "qty": 2}, cart=cart)
    # In another tab, as by a link on the integration's page.
    victim.arrive(link_to(api, cart))
    answer = victim.post("/checkout/payment", form)
    assert answer.status_code == 422
    assert "Mug was removed." in answer.content.decode()
    assert "Pot was added." in answer.content.decode()
    assert not Order.objects.exists()


@pytest.mark.rule("R-LINK-14")
def test_a_scanner_without_cookies_makes_no_cart_and_no_checkout(shop, api, cart):
    link = link_to(api, cart)
    for _ in range(3):
        scanner = Shopper(shop)
        answer = scanner.follow(link)
        assert Shopper(shop).get(answer["Location"])["Location"] == "/basket"
    assert Cart.objects.count() == 1
    assert not Checkout.objects.exists()


@pytest.mark.rule("R-LINK-14")
def test_looking_with_head_copies_nothing(api, cart, victim):
    victim.follow(link_to(api, cart))
    assert victim.browser.head("/checkout").status_code == 303
    assert Cart.objects.count() == 1
    victim.follow(link_to(api, cart), "head")
    victim.get("/checkout")
    assert in_basket(victim) == {"Mug": 2}


def test_a_link_followed_more_than_an_hour_ago_copies_nothing(api, cart, victim):
    victim.follow(link_to(api, cart))
    with time_machine.travel(clock.now() + timedelta(minutes=61)):
        assert victim.get("/checkout")["Location"] == "/basket"
    assert Cart.objects.count() == 1


def test_many_links_followed_unseen_copy_the_last_few_once(api, shop, victim):
    product = make_product(shop, "Mug", stock_qty=50)
    for qty in range(1, 9):
        victim.follow(link_to(api, fill_cart(api, {"product_id": product.pk, "qty": qty})))
    victim.get("/checkout")
    assert in_basket(victim) == {"Mug": 4 + 5 + 6 + 7 + 8}


def test_a_signed_link_to_a_shoppers_basket_opens_nothing(shop, mug, attacker, victim):
    victim.post("/basket/add", {"product": mug.pk, "qty": 1})
    expires = int(clock.now().timestamp()) + 3600
    theirs = sign_url(f"{shop.base_url}/cart/resume?cart={Cart.objects.get().public_id}&expires={expires}")
    assert attacker.follow(theirs).status_code == 403


def test_no_basket_of_a_shopper_ever_has_a_token(api, cart, both_there, victim, attacker):
    baskets = {shopper.browser.session["baskets"].popitem()[1] for shopper in (victim, attacker)}
    assert set(Cart.objects.filter(public_id__in=baskets).values_list("token_digest", flat=True)) == {None}
    assert cart.startswith(TOKEN_PREFIX)


def test_another_shop_keeps_out_of_all_this(shop, other_shop, api, other_api, mug, cart, victim):
    secret = make_product(other_shop, "Secret")
    theirs = fill_cart(other_api, {"product_id": secret.pk})
    there = Shopper(other_shop)
    there.browser.cookies = victim.browser.cookies
    victim.arrive(link_to(api, cart))
    there.arrive(link_to(other_api, theirs))
    assert (in_basket(victim), in_basket(there)) == ({"Mug": 2}, {"Secret": 1})
    foreign = Arrival.objects.get(shop=shop)
    there.post("/checkout/undo", {"arrival": foreign.pk})
    assert in_basket(victim) == {"Mug": 2}
    assert there.post("/checkout", details(**VICTIM)).status_code == 303
    assert "victim@example.com" not in pages(victim)
    there.post("/checkout/payment", there.payment_fields())
    assert other_api.get("/cart", cart=theirs).json()["data"]["orders"] != []
    assert api.get("/cart", cart=cart).json()["data"]["orders"] == []
    assert CartLine.objects.filter(shop=shop).count() == 2
