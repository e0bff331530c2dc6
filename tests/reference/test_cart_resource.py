"""A cart's lines and totals, member by member."""

import pytest

from tests.carts.factories import add, contents, filled, make_bundle, make_cart, make_customer, make_group
from tests.catalogue.factories import make_option, make_product
from tests.orders.files import make_download
from tests.shops.factories import NOW


@pytest.fixture
def item(shop, api):
    mug = make_product(shop, "Mug", price="9.50")
    (item,) = contents(api, filled(api, mug, 2))["items"]
    return item


@pytest.mark.rule("R-CART-20")
def test_key_appears_only_in_the_cart_read(shop, api, item):
    assert isinstance(item["key"], str)
    assert "key" not in add(api, make_product(shop)).json()["data"]


@pytest.mark.rule("R-CART-16")
def test_key_identifies_the_line_for_patch_and_delete(shop, api):
    mug, plate = make_product(shop), make_product(shop)
    token = filled(api, mug)
    add(api, plate, cart=token)
    first, second = (item["key"] for item in contents(api, token)["items"])
    api.patch(f"/cart/{first}", {"qty": 4}, cart=token)
    api.delete(f"/cart/{second}", cart=token)
    assert [(item["product_id"], item["qty"]) for item in contents(api, token)["items"]] == [(mug.pk, 4)]


@pytest.mark.rule("R-CART-21")
def test_the_same_product_with_different_options_is_a_different_line_with_a_different_key(shop, api):
    mug = make_product(shop)
    option = make_option(mug)
    token = filled(api, mug)
    for value in option.values.all():
        add(api, mug, cart=token, options={str(option.pk): value.pk})
    assert len({item["key"] for item in contents(api, token)["items"]}) == 3


@pytest.mark.rule("R-CART-20", "R-CART-23", "R-CART-24")
def test_a_plain_line_has_these_values(item):
    assert type(item["product_id"]) is int
    assert (item["qty"], item["variant_id"], item["name_snapshot"], item["image_snapshot"]) == (2, None, "Mug", None)
    assert item["bundle_items"] == item["custom_fields"] == []


@pytest.mark.rule("R-CART-24")
def test_custom_fields_are_kept_as_given(shop, api):
    given = [{"name": "To", "value": "Ada"}]
    assert add(api, make_product(shop), custom_fields=given).json()["data"]["custom_fields"] == given


@pytest.mark.rule("R-CART-23")
def test_price_snapshot_is_a_money_string_resolved_when_added(shop, api):
    mug = make_product(shop, price="9.50")
    token = filled(api, mug)
    type(mug).objects.update(price="11.00")
    assert contents(api, token)["items"][0]["price_snapshot"] == "9.50"


@pytest.mark.rule("R-CART-30")
def test_price_snapshot_is_resolved_for_the_customer_group_where_one_applies(shop):
    from storefront.carts.actions import add_line

    basket = make_cart(shop, make_customer(shop, make_group(shop, "10")))
    mug = make_product(shop, price="10.00")
    assert str(add_line(shop=shop, now=NOW, cart=basket, product_id=mug.pk, qty=1).line.price_snapshot) == "9.00"


@pytest.mark.rule("R-CART-20")
def test_is_digital_is_bundle_and_is_damaged_are_booleans(shop, api, item):
    assert (item["is_digital"], item["is_bundle"], item["is_damaged"]) == (False, False, False)
    assert add(api, make_download(shop)).json()["data"]["is_digital"] is True
    assert add(api, make_bundle(shop, parts={make_product(shop): 1})).json()["data"]["is_bundle"] is True
    assert (
        add(api, make_product(shop, damaged_qty=1, damaged_price="2.00"), is_damaged=True).json()["data"]["is_damaged"]
        is True
    )


@pytest.mark.rule("R-CART-20", "R-CART-23")
def test_line_total_is_on_the_cart_read_only(shop, api, item):
    assert item["line_total"] == "19.00"
    assert "line_total" not in add(api, make_product(shop)).json()["data"]


@pytest.mark.rule("R-CART-34")
def test_item_count_is_the_sum_of_quantities_and_line_count_the_number_of_lines(shop, api):
    token = filled(api, make_product(shop), 2)
    add(api, make_product(shop), 3, cart=token)
    totals = contents(api, token)["totals"]
    assert (totals["item_count"], totals["line_count"]) == (5, 2)


@pytest.mark.rule("R-CART-9")
def test_a_cart_is_attached_to_no_customer_and_holds_no_addresses_and_no_delivery_choice(shop, api):
    from storefront.carts.models import Cart

    body = api.get("/cart", cart=filled(api, make_product(shop))).json()
    assert Cart.objects.get().customer is None
    assert set(body) == {"cart_token", "data"}
    assert set(body["data"]) == {"items", "totals", "orders", "discount_codes", "gift_cards", "problems"}
    assert not {field.name for field in Cart._meta.get_fields()} & {"address", "shipping_address", "shipping_rate"}


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


@pytest.mark.rule("R-CART-10", "R-CART-11", "R-CART-20")
def test_post_takes_product_id_and_qty_and_answers_message_token_and_line(shop, api):
    answer = api.post("/cart", {"product_id": make_product(shop).pk, "qty": 2})
    assert answer.status_code == 201
    assert list(answer.json()) == ["message", "cart_token", "data", "problems"]
    assert answer.json()["message"] == "Item added to cart."
    assert list(answer.json()["data"]) == [*LINE, *MORE]


@pytest.mark.rule("R-CART-19", "R-CAT-7")
def test_catalogue_and_cart_emit_no_events_of_their_own(shop, api):
    from storefront.webhooks.models import Event

    token = filled(api, make_product(shop))
    api.delete("/cart", cart=token)
    assert not Event.objects.exists()
