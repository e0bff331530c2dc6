"""Following a checkout link: what it copies, what it replaces, what does not fit, and how to undo it."""

from decimal import Decimal

import pytest

from storefront.carts.models import Arrival, Cart, CartLine
from tests.carts.factories import make_group
from tests.catalogue.factories import make_option, make_product, make_variant
from tests.checkout.shopper import Shopper, fill_cart, hidden_value, in_basket, link_to
from tests.customers.factories import make_customer

pytestmark = pytest.mark.slow


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", price=Decimal("10.00"), stock_qty=50)


@pytest.fixture
def cart(api, mug):
    return fill_cart(api, {"product_id": mug.pk, "qty": 2})


def choose(shopper: Shopper, product, qty: int = 1) -> None:
    shopper.post("/basket/add", {"product": product.pk, "qty": qty})


def change(shopper: Shopper, product, qty: int) -> None:
    shopper.post("/basket/update", {"key": f"p{product.pk}", "qty": qty})


def undo(shopper: Shopper, page) -> str:
    return shopper.post("/checkout/undo", {"arrival": hidden_value(page, "arrival")}, follow=True).content.decode()


def test_copied_line_has_everything_that_makes_it_distinct(shop, api, shopper):
    shirt = make_product(shop, "Shirt", allow_custom_price=True, stock_qty=5)
    blue = make_variant(shirt, "Blue", stock_qty=5)
    option = make_option(shirt, "Size")
    given = {"options": {str(option.pk): option.values.first().pk}, "custom_fields": [{"name": "To", "value": "Bo"}]}
    line = {"product_id": shirt.pk, "variant_id": blue.pk, "qty": 3, "custom_price": "30.00"} | given
    shopper.bring(api, line)
    theirs, own = (CartLine.objects.filter(cart__token_digest__isnull=none).values().get() for none in (False, True))
    for name in ("id", "cart_id"):
        assert theirs.pop(name) != own.pop(name)
    assert theirs == own


@pytest.mark.rule("R-LINK-12")
def test_integrations_cart_is_not_changed(api, shopper, cart):
    shopper.arrive(link_to(api, cart))
    assert [item["qty"] for item in api.get("/cart", cart=cart).json()["data"]["items"]] == [2]


@pytest.mark.rule("R-LINK-13")
def test_changes_of_the_cart_come_when_a_link_is_followed_again_and_replace(api, shopper, mug, pot, cart):
    shopper.arrive(link_to(api, cart))
    api.patch(f"/cart/p{mug.pk}", {"qty": 5}, cart=cart)
    api.post("/cart", {"product_id": pot.pk, "qty": 1}, cart=cart)
    assert in_basket(shopper) == {"Mug": 2}
    shopper.get("/checkout")
    assert in_basket(shopper) == {"Mug": 2}
    shopper.arrive(link_to(api, cart))
    assert in_basket(shopper) == {"Mug": 5, "Pot": 1}
    api.delete(f"/cart/p{mug.pk}", cart=cart)
    shopper.arrive(link_to(api, cart))
    assert in_basket(shopper) == {"Pot": 1}


@pytest.mark.rule("R-LINK-13")
@pytest.mark.parametrize(
    ("own_before", "own_after", "lowered_to", "again"),
    [
        (0, 0, None, 2),
        (1, 0, None, 3),
        (0, 3, None, 5),
        (1, 3, None, 6),
        (0, 0, 1, 2),
        (0, 0, 0, 2),
        (4, 0, 5, 6),
        (4, 0, 3, 5),
        (1, 1, 1, 3),
    ],
)
def test_what_the_shopper_chose_stays_when_the_link_is_followed_again(
    api, shopper, mug, pot, cart, own_before, own_after, lowered_to, again
):
    choose(shopper, pot)
    if own_before:
        choose(shopper, mug, own_before)
    shopper.arrive(link_to(api, cart))
    if own_after:
        choose(shopper, mug, own_after)
    if lowered_to is not None:
        change(shopper, mug, lowered_to)
    shopper.arrive(link_to(api, cart))
    assert in_basket(shopper) == {"Pot": 1, "Mug": again}


def test_links_of_two_carts_add_up_and_each_replaces_its_own(api, shopper, mug, cart):
    other = fill_cart(api, {"product_id": mug.pk, "qty": 3})
    choose(shopper, mug)
    shopper.arrive(link_to(api, cart))
    shopper.arrive(link_to(api, other))
    assert in_basket(shopper) == {"Mug": 6}
    api.delete("/cart", cart=cart)
    api.post("/cart", {"product_id": mug.pk, "qty": 7}, cart=cart)
    shopper.arrive(link_to(api, cart))
    assert in_basket(shopper) == {"Mug": 11}


def test_copy_into_an_empty_basket_shows_no_notice(api, shopper, cart):
    page = shopper.arrive(link_to(api, cart))
    assert "Items added by your link" not in page.content.decode()


def test_a_merge_with_a_customers_basket_is_shown_priced_for_them_and_undone_once(shop, api, shopper, mug, pot, cart):
    make_customer(shop, group=make_group(shop, "10"))
    shopper.sign_in()
    choose(shopper, mug)
    choose(shopper, pot)
    page = shopper.arrive(link_to(api, cart))
    assert "<li>2 × Mug</li>" in page.content.decode()
    assert set(
        CartLine.objects.filter(product=mug, cart__customer__isnull=False).values_list("qty", "price_snapshot")
    ) == {(3, Decimal("9.00"))}
    # The notice stays until the order or the undo.
    page = shopper.get("/checkout")
    for _ in range(2):
        after = undo(shopper, page)
        assert "Items added by your link" not in after
        assert in_basket(shopper) == {"Mug": 1, "Pot": 1}
    assert "The items from the link were removed from your basket." not in after
    assert not Arrival.objects.exists()


def test_a_merge_with_a_visitors_basket_is_shown_too(api, shopper, pot, cart):
    choose(shopper, pot)
    page = shopper.arrive(link_to(api, cart))
    assert "<li>2 × Mug</li>" in page.content.decode()
    assert "The items from the link were removed from your basket." in undo(shopper, page)
    assert in_basket(shopper) == {"Pot": 1}


def test_notice_names_what_does_not_fit(shop, api, shopper, mug, cart):
    choose(shopper, mug, 49)
    page = shopper.arrive(link_to(api, cart)).content.decode()
    assert "These items could not all be added, because stock is low or your basket is full:" in page
    assert "<li>Mug: 1 of 2</li>" in page
    assert in_basket(shopper) == {"Mug": 50}


def test_basket_page_says_if_nothing_fits(api, shopper, mug, cart):
    link = link_to(api, cart)
    type(mug).objects.filter(pk=mug.pk).update(stock_qty=0)
    shopper.follow(link)
    page = shopper.get("/checkout", follow=True)
    assert page.redirect_chain[-1][0] == "/basket"
    assert "Mug is no longer available." in page.content.decode()


def test_somebody_elses_merge_cannot_be_undone(shop, api, shopper, pot, cart):
    choose(shopper, pot)
    page = shopper.arrive(link_to(api, cart))
    stranger = Shopper(shop)
    choose(stranger, pot)
    undo(stranger, page)
    assert in_basket(shopper) == {"Mug": 2, "Pot": 1}


@pytest.mark.parametrize("arrival", ["", "0", "nonsense", "9" * 19, "9" * 40, "٣"])
def test_undo_of_an_unknown_arrival_changes_nothing(api, shopper, cart, arrival):
    shopper.arrive(link_to(api, cart))
    assert shopper.post("/checkout/undo", {"arrival": arrival}).status_code == 303
    assert shopper.get("/checkout/undo").status_code == 405
    assert in_basket(shopper) == {"Mug": 2}


def test_an_undo_needs_the_forms_token(shop, api, shopper, pot, cart):
    from django.test import Client

    choose(shopper, pot)
    page = shopper.arrive(link_to(api, cart))
    forger = Client(enforce_csrf_checks=True, headers={"host": shop.domain})
    forger.cookies = shopper.browser.cookies
    answer = forger.post("/checkout/undo", {"arrival": hidden_value(page, "arrival")})
    assert answer.status_code == 403
    assert in_basket(shopper) == {"Mug": 2, "Pot": 1}


def test_arrival_is_kept_after_a_sign_in(shop, api, shopper, mug, pot, cart):
    make_customer(shop)
    phone = Shopper(shop)
    phone.sign_in()
    choose(phone, pot)
    choose(shopper, mug)
    shopper.arrive(link_to(api, cart))
    shopper.sign_in()
    assert in_basket(shopper) == {"Pot": 1, "Mug": 3}
    page = shopper.get("/checkout")
    assert "<li>2 × Mug</li>" in page.content.decode()
    shopper.arrive(link_to(api, cart))
    assert in_basket(shopper) == {"Pot": 1, "Mug": 3}
    undo(shopper, shopper.get("/checkout"))
    assert in_basket(shopper) == {"Pot": 1, "Mug": 1}


def test_a_link_followed_on_two_devices_counts_once_after_the_sign_in(shop, api, shopper, mug, cart):
    make_customer(shop)
    phone = Shopper(shop)
    phone.sign_in()
    phone.arrive(link_to(api, cart))
    api.patch(f"/cart/p{mug.pk}", {"qty": 3}, cart=cart)
    shopper.arrive(link_to(api, cart))
    shopper.sign_in()
    assert in_basket(phone) == {"Mug": 3}
    assert Arrival.objects.count() == 1


def test_sign_in_with_too_little_stock_keeps_what_the_shopper_chose_first(shop, api, shopper, mug, cart):
    make_customer(shop)
    phone = Shopper(shop)
    phone.sign_in()
    choose(phone, mug, 45)
    choose(shopper, mug, 4)
    shopper.arrive(link_to(api, cart))
    shopper.sign_in()
    page = shopper.get("/checkout")
    assert in_basket(shopper) == {"Mug": 50}
    assert "<li>Mug: 1 of 2</li>" in page.content.decode()
    undo(shopper, page)
    assert in_basket(shopper) == {"Mug": 49}


def test_arrivals_are_deleted_with_either_cart(api, shopper, cart):
    shopper.arrive(link_to(api, cart))
    Cart.objects.exclude(token_digest=None).delete()
    assert not Arrival.objects.exists()
    assert in_basket(shopper) == {"Mug": 2}
    assert shopper.order().status_code == 303
