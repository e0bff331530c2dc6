"""The cart's calls: what they take and answer."""

import pytest

from tests.carts.factories import add, contents, filled
from tests.catalogue.factories import make_product

LINE = [
    "product_id",
    "variant_id",
    "qty",
    "price_snapshot",
    "name_snapshot",
    "image_snapshot",
    "is_digital",
    "is_bundle",
    "bundle_items",
    "custom_fields",
    "is_damaged",
]
MORE = ["options", "gift_card", "available_from", "available", "current_price"]
TOTALS = ["subtotal", "shipping", "tax", "discount", "total", "amount_due", "item_count", "line_count", "tax_included"]


@pytest.mark.rule("R-CART-10")
def test_get_answers_token_items_and_totals(shop, api):
    body = api.get("/cart", cart=filled(api, make_product(shop))).json()
    assert list(body) == ["cart_token", "data"]
    # `orders`: R-CART-36, `discount_codes`: R-CART-42, `gift_cards`: R-CART-47, `problems`: R-CART-53.
    assert list(body["data"]) == ["items", "totals", "orders", "discount_codes", "gift_cards", "problems"]
    assert list(body["data"]["items"][0]) == ["key", *LINE, "line_total", *MORE]
    assert list(body["data"]["totals"]) == TOTALS


@pytest.mark.rule("R-CART-4")
def test_get_takes_the_token_or_none(shop, api):
    token = filled(api, make_product(shop))
    assert api.get("/cart", cart=token).json()["cart_token"] == token
    assert api.get("/cart").json()["cart_token"] is None


@pytest.mark.rule("R-CART-10", "R-CART-11", "R-CART-20")
def test_post_takes_product_id_and_qty_and_answers_message_token_and_line(shop, api):
    answer = api.post("/cart", {"product_id": make_product(shop).pk, "qty": 2})
    assert answer.status_code == 201
    assert list(answer.json()) == ["message", "cart_token", "data", "problems"]
    assert list(answer.json()["data"]) == [*LINE, *MORE]


@pytest.mark.rule("R-CART-10")
def test_the_message_on_success_reads_item_added_to_cart(shop, api):
    assert add(api, make_product(shop)).json()["message"] == "Item added to cart."


@pytest.mark.rule("R-CART-2")
def test_post_builds_one_basket_over_several_requests(shop, api):
    token = None
    for _ in range(3):
        token = add(api, make_product(shop), cart=token).json()["cart_token"]
    assert contents(api, token)["totals"]["line_count"] == 3


@pytest.mark.rule("R-CART-13")
def test_patch_takes_a_quantity(shop, api):
    mug = make_product(shop)
    token = filled(api, mug)
    answer = api.patch(f"/cart/p{mug.pk}", {"qty": 3}, cart=token)
    assert (answer.status_code, list(answer.json())) == (200, ["message", "cart_token", "data"])
    assert answer.json()["data"] == contents(api, token)
    assert answer.json()["data"]["items"][0]["qty"] == 3


@pytest.mark.rule("R-CART-14")
def test_delete_of_a_key_removes_one_line(shop, api):
    mug = make_product(shop)
    token = filled(api, mug)
    answer = api.delete(f"/cart/p{mug.pk}", cart=token)
    assert (answer.status_code, list(answer.json())) == (200, ["message", "cart_token", "data"])
    assert answer.json()["data"]["items"] == []


@pytest.mark.rule("R-CART-14")
def test_delete_of_the_cart_empties_it(shop, api):
    token = filled(api, make_product(shop))
    answer = api.delete("/cart", cart=token)
    assert (answer.status_code, list(answer.json())) == (200, ["message", "cart_token", "data"])
    assert answer.json()["data"]["items"] == []


@pytest.mark.rule("R-CALL-2")
def test_money_in_a_request_is_never_a_json_number(shop, api):
    gift = make_product(shop, allow_custom_price=True)
    assert add(api, gift, custom_price=25).status_code == 422
    assert add(api, gift, custom_price="25.00").status_code == 201


@pytest.mark.rule("R-CART-19", "R-CAT-7")
def test_catalogue_and_cart_emit_no_events_of_their_own(shop, api):
    from storefront.webhooks.models import Event

    token = filled(api, make_product(shop))
    api.delete("/cart", cart=token)
    assert not Event.objects.exists()
