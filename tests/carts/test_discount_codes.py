"""`PUT /api/v1/cart/discount-codes`, and what a cart says of its codes."""

from datetime import timedelta

import pytest
from django.conf import settings

from storefront.carts import merging, queries
from storefront.carts.models import Cart
from storefront.catalogue.models import Brand
from storefront.kit import clock
from storefront.pricing.models import DiscountCode
from tests.carts.factories import contents, filled, make_cart, make_customer, make_group
from tests.catalogue.factories import make_category, make_product
from tests.client import ApiClient
from tests.pricing.rows import make_code, make_discount
from tests.shops.factories import NOW, make_token


def put(api, *codes, cart=None, **headers):
    return api.put("/cart/discount-codes", {"codes": list(codes)}, cart=cart, **headers)


def codes_of(api, cart) -> dict[str, str | None]:
    """By code, what it takes off, or why not."""
    found = contents(api, cart)["discount_codes"]
    return {each["code"]: each["refused"]["code"] if each["refused"] else each["amount"] for each in found}


@pytest.mark.rule("R-CART-42")
def test_a_code_takes_its_discount_off(shop, api):
    make_code(shop)
    make_discount(shop, name="Autumn", value=5)
    token = filled(api, make_product(shop, price="10.00"), 2)
    data = put(api, " spring\u200b10\u00a0", cart=token).json()["data"]
    assert data["discount_codes"] == [
        {"code": "SPRING10", "name": "Spring", "amount": "2.00", "free_delivery": False, "refused": None}
    ]
    assert (data["totals"]["discount"], data["totals"]["total"]) == ("3.00", "17.00")
    assert contents(api, token) == data


@pytest.mark.rule("R-CART-41")
def test_an_empty_list_removes_the_codes(shop, api):
    make_code(shop)
    token = filled(api, make_product(shop))
    put(api, "SPRING10", cart=token)
    assert put(api, cart=token).json()["data"]["discount_codes"] == []


@pytest.mark.rule("R-CART-41")
def test_without_a_cart_one_is_created(shop, api):
    make_code(shop)
    answer = put(api, "SPRING10")
    token = answer.json()["cart_token"]
    assert (answer.status_code, codes_of(api, token)) == (200, {"SPRING10": "discount_code_not_applicable"})


@pytest.mark.rule("R-CART-41")
def test_an_unknown_code_is_refused_and_nothing_changes(shop, other_shop, api):
    make_code(shop)
    make_code(other_shop, "THEIRS")
    token = filled(api, make_product(shop))
    put(api, "SPRING10", cart=token)
    answer = put(api, "SPRING10", "theirs", cart=token)
    assert (answer.status_code, answer.json()["code"]) == (422, "discount_code_unknown")
    assert list(answer.json()["errors"]) == ["codes.1"]
    assert codes_of(api, token) == {"SPRING10": "0.95"}


@pytest.mark.rule("R-CART-42")
def test_a_code_deleted_later_is_unknown(shop, api):
    code = make_code(shop)
    token = filled(api, make_product(shop))
    put(api, "SPRING10", cart=token)
    code.delete()
    assert codes_of(api, token) == {"SPRING10": "discount_code_unknown"}
    assert contents(api, token)["totals"]["discount"] == "0.00"


@pytest.mark.rule("R-CART-42")
def test_a_code_that_does_not_apply_stays_with_its_reason(shop, api):
    now = clock.now()
    make_code(shop, "OLD", ends_at=now - timedelta(days=1))
    make_code(shop, "SOON", starts_at=now + timedelta(days=1))
    make_code(shop, "MUCH", minimum_subtotal="9.51")
    make_code(shop, "OTHER", items=[make_product(shop)])
    make_code(shop, "GROUP", groups=[make_group(shop)])
    make_code(shop, "ALONE", is_combinable=False)
    make_code(shop, "BETTER", value=50)
    DiscountCode.objects.filter(pk=make_code(shop, "USED", limit=1).pk).update(uses=1)
    token = filled(api, make_product(shop, price="9.50"))
    put(api, "OLD", "SOON", "MUCH", "OTHER", "GROUP", "ALONE", "BETTER", "USED", cart=token)
    assert codes_of(api, token) == {
        "OLD": "discount_code_expired",
        "SOON": "discount_code_not_applicable",
        "MUCH": "discount_code_not_applicable",
        "OTHER": "discount_code_not_applicable",
        "GROUP": "discount_code_not_applicable",
        "ALONE": "discount_code_not_combinable",
        "BETTER": "4.75",
        "USED": "discount_code_used_up",
    }


def test_shoppers_read_whether_they_have_the_discount_of_a_code_already(shop, api):
    autumn = make_discount(shop, name="Autumn", value=20, is_combinable=False)
    make_code(shop, "SMALLER")
    make_code(shop, "AGAIN", autumn)
    token = filled(api, make_product(shop, price="10.00"))
    put(api, "SMALLER", "AGAIN", cart=token)
    data = contents(api, token)
    assert {each["code"]: each["refused"]["message"] for each in data["discount_codes"]} == {
        "SMALLER": "This code cannot be combined with your other discounts.",
        "AGAIN": "You have this discount already.",
    }
    assert data["totals"]["discount"] == "2.00"


@pytest.mark.rule("R-CART-40")
def test_codes_count_for_the_etag_and_if_match(shop, api):
    make_code(shop)
    token = filled(api, make_product(shop))
    before = api.get("/cart", cart=token)["ETag"]
    changed = put(api, "SPRING10", cart=token, If_Match=before)
    assert changed.status_code == 200
    assert changed["ETag"] == api.get("/cart", cart=token)["ETag"] != before
    assert put(api, cart=token, If_Match=before).status_code == 412


def test_an_idempotency_key_carries_it_out_once(shop, api):
    make_code(shop)
    first, second = (put(api, "SPRING10", Idempotency_Key="one") for _ in range(2))
    assert first.json()["cart_token"] == second.json()["cart_token"]
    assert Cart.objects.count() == 1


def test_needs_the_scope_write_cart(shop):
    assert put(ApiClient(make_token(shop, "read_cart")), "SPRING10").status_code == 403


@pytest.mark.rule("R-CART-43")
def test_unknown_codes_of_a_token_are_limited(shop, api, other_api, monkeypatch):
    monkeypatch.setitem(settings.LIMITS, "discount_codes_token", settings.LIMITS["orders_each"])
    make_code(shop)
    assert [put(api, *["NO"] * 5).status_code for _ in range(3)] == [422, 422, 429]
    # A right code tells nothing now.
    assert put(api, "SPRING10").status_code == 429


@pytest.mark.rule("R-CART-41")
def test_at_most_ten_codes(shop, api):
    assert put(api, *["NO"] * 11).status_code == 422


def test_limited_to_categories_with_their_subtree_brands_and_products(shop, other_shop, api):
    kitchen = make_category(shop, "Kitchen")
    cups = make_category(shop, parent=kitchen)
    acme, pot = Brand.objects.create(shop=shop, name="Acme"), make_product(shop, price="1.00")
    make_discount(shop, items=[kitchen, acme, pot], value=100)
    make_discount(shop, items=[make_category(shop, "Pans")], value=100)
    for product, off in [
        (make_product(shop, price="5.00", categories=(cups,)), "5.00"),
        (make_product(shop, price="6.00", brand=acme), "6.00"),
        (pot, "1.00"),
        (make_product(shop, price="7.00"), "0.00"),
    ]:
        assert contents(api, filled(api, product))["totals"]["discount"] == off


def test_a_category_may_stand_for_itself_alone(shop, api):
    kitchen = make_category(shop, "Kitchen")
    cup = make_product(shop, categories=(make_category(shop, parent=kitchen),))
    make_discount(shop, items=[kitchen], includes_subcategories=False)
    assert contents(api, filled(api, cup))["totals"]["discount"] == "0.00"


def test_a_discount_whose_last_item_is_deleted_applies_to_nothing(shop, api):
    cups = make_category(shop)
    make_discount(shop, items=[cups])
    cups.delete()
    assert contents(api, filled(api, make_product(shop)))["totals"]["discount"] == "0.00"


def test_groups_are_those_of_the_signed_in_shopper(shop, other_shop):
    trade = make_group(shop)
    make_discount(shop, groups=[trade])
    mug = make_product(shop, price="10.00")
    for customer, off in [(make_customer(shop, trade), 1), (make_customer(shop, email="b@example.com"), 0), (None, 0)]:
        cart = make_cart(shop, customer)
        line = cart.lines.create(
            shop=shop, key="p", product=mug, qty=1, price_snapshot=10, name_snapshot="Mug", created_at=NOW
        )
        assert queries.cart_totals(shop, [line], NOW, cart=cart).discount == off


@pytest.mark.rule("R-CART-45")
@pytest.mark.parametrize("merge", ["copy_into_basket", "merge_carts"])
def test_codes_come_along_into_the_basket_after_its_own(shop, merge):
    source, basket = make_cart(shop, discount_codes=["A", "B"]), make_cart(shop, discount_codes=["B", "C"])
    getattr(merging, merge)(shop=shop, source=source, target=basket, now=NOW)
    assert Cart.objects.get(pk=basket.pk).discount_codes == ["B", "C", "A"]


@pytest.mark.rule("R-CART-14")
def test_emptying_the_cart_removes_its_codes(shop, api):
    make_code(shop)
    token = filled(api, make_product(shop))
    put(api, "SPRING10", cart=token)
    assert api.delete("/cart", cart=token).json()["data"]["discount_codes"] == []
    assert codes_of(api, token) == {}
