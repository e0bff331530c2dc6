"""A cart's lines and totals, member by member."""

import re

import pytest

from tests.carts.factories import add, contents, filled, make_bundle, make_cart, make_customer, make_group
from tests.catalogue.factories import make_media, make_option, make_product, make_variant
from tests.orders.files import make_download
from tests.shops.factories import NOW

MONEY = re.compile(r"[0-9]+\.[0-9]{2}")


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


@pytest.mark.rule("R-CART-21")
def test_for_a_plain_product_line_the_key_is_p_and_the_product_id(item):
    assert item["key"] == f"p{item['product_id']}"


@pytest.mark.rule("R-CART-20")
def test_product_id_and_qty_are_integers(item):
    assert type(item["product_id"]) is type(item["qty"]) is int
    assert item["qty"] == 2


@pytest.mark.rule("R-CART-20")
def test_variant_id_is_a_nullable_integer(shop, api, item):
    assert item["variant_id"] is None
    blue = make_variant(make_product(shop))
    assert add(api, blue.product, variant_id=blue.pk).json()["data"]["variant_id"] == blue.pk


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


@pytest.mark.rule("R-CART-23")
def test_name_snapshot_is_a_string(item):
    assert item["name_snapshot"] == "Mug"


@pytest.mark.rule("R-CART-20")
def test_image_snapshot_is_nullable(item):
    assert item["image_snapshot"] is None


@pytest.mark.rule("R-CAT-28", "R-CART-23")
def test_the_first_image_is_the_one_the_shop_uses_in_the_basket(shop, api):
    mug = make_product(shop)
    make_media(mug, "https://cdn.example.com/2.jpg", sort_order=2)
    make_media(mug, "https://cdn.example.com/1.jpg", sort_order=1)
    assert add(api, mug).json()["data"]["image_snapshot"] == "https://cdn.example.com/1.jpg"


@pytest.mark.rule("R-CART-20")
def test_is_digital_is_bundle_and_is_damaged_are_booleans(shop, api, item):
    assert (item["is_digital"], item["is_bundle"], item["is_damaged"]) == (False, False, False)
    assert add(api, make_download(shop)).json()["data"]["is_digital"] is True
    assert add(api, make_bundle(shop, parts={make_product(shop): 1})).json()["data"]["is_bundle"] is True
    assert (
        add(api, make_product(shop, damaged_qty=1, damaged_price="2.00"), is_damaged=True).json()["data"]["is_damaged"]
        is True
    )


@pytest.mark.rule("R-CART-24")
def test_bundle_items_is_an_array(shop, api, item):
    assert item["bundle_items"] == []
    mug = make_product(shop)
    (part,) = add(api, make_bundle(shop, parts={mug: 2})).json()["data"]["bundle_items"]
    assert (part["product_id"], part["qty"]) == (mug.pk, 2)


@pytest.mark.rule("R-CART-24")
def test_custom_fields_is_an_array(shop, api, item):
    assert item["custom_fields"] == []
    given = [{"name": "To", "value": "Ada"}]
    assert add(api, make_product(shop), custom_fields=given).json()["data"]["custom_fields"] == given


@pytest.mark.rule("R-CART-20", "R-CART-23")
def test_line_total_is_on_the_cart_read_only(shop, api, item):
    assert item["line_total"] == "19.00"
    assert "line_total" not in add(api, make_product(shop)).json()["data"]


@pytest.mark.rule("R-CART-34")
def test_the_sums_of_the_totals_are_money_strings(shop, api):
    totals = contents(api, filled(api, make_product(shop)))["totals"]
    for name in ("subtotal", "shipping", "tax", "discount", "total"):
        assert MONEY.fullmatch(totals[name])


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
