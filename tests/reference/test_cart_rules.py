"""What a cart takes, how its lines are named, what its totals say."""

import re
from decimal import Decimal

import pytest

from storefront.carts.models import Cart
from storefront.pricing.models import Discount
from tests.carts.factories import add, contents, filled, make_bundle, make_customer, only_key, quantities
from tests.catalogue.factories import make_media, make_option, make_product, make_variant
from tests.checkout.shopper import Shopper, link_to
from tests.reference.pictures import picture

# Body of POST.


@pytest.mark.rule("R-CART-11")
def test_variant_id_selects_the_variant(shop, api):
    blue = make_variant(make_product(shop), price=Decimal("12.00"))
    line = add(api, blue.product, variant_id=blue.pk).json()["data"]
    assert (line["variant_id"], line["price_snapshot"]) == (blue.pk, "12.00")


@pytest.mark.rule("R-CART-27")
def test_options_map_option_id_to_value_id_and_free_text_for_text(shop, api):
    mug = make_product(shop)
    colour, text = make_option(mug, "Colour"), make_option(mug, "Text", values={}, type="text")
    chosen = {str(colour.pk): colour.values.first().pk, str(text.pk): "Ada"}
    line = add(api, mug, options=chosen).json()["data"]
    assert line["options"] == [
        {"id": colour.pk, "name": "Colour", "value": "Gold", "price": "5.00"},
        {"id": text.pk, "name": "Text", "value": "Ada", "price": "0.00"},
    ]


@pytest.mark.rule("R-CART-28", "R-CALL-2")
@pytest.mark.parametrize("price", ["5.000", "-1", "", "1e1", "5,00", " 5", 5, 5.0])
def test_custom_price_is_a_money_string(shop, api, price):
    answer = add(api, make_product(shop, allow_custom_price=True), custom_price=price)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["custom_price"])


@pytest.mark.rule("R-CART-28")
@pytest.mark.parametrize(("price", "snapshot"), [("5", "5.00"), ("5.5", "5.50"), ("5.00", "5.00")])
def test_custom_price_is_the_price_where_allow_custom_price(shop, api, price, snapshot):
    gift = make_product(shop, allow_custom_price=True)
    assert add(api, gift, custom_price=price).json()["data"]["price_snapshot"] == snapshot
    assert add(api, make_product(shop), custom_price=price).json()["code"] == "invalid_custom_price"


@pytest.mark.rule("R-CART-28")
def test_custom_price_is_not_below_min_custom_price(shop, api):
    gift = make_product(shop, allow_custom_price=True, min_custom_price=Decimal("5.00"))
    assert add(api, gift, custom_price="4.99").json()["code"] == "invalid_custom_price"
    assert add(api, gift, custom_price="5.00").status_code == 201


@pytest.mark.rule("R-CART-29")
def test_is_damaged_sells_from_damaged_qty_at_damaged_price(shop, api):
    lamp = make_product(shop, stock_qty=0, damaged_qty=2, damaged_price=Decimal("6.00"))
    assert add(api, lamp, 2, is_damaged=True).json()["data"]["price_snapshot"] == "6.00"
    assert add(api, lamp, 3, is_damaged=True).json()["available"] == 2


# Keys.


@pytest.mark.rule("R-CART-21")
def test_the_key_is_p12_and_with_a_variant_p12_v34(shop, api):
    mug, blue = make_product(shop), make_variant(make_product(shop))
    assert only_key(api, filled(api, mug)) == f"p{mug.pk}"
    assert only_key(api, filled(api, blue.product, variant_id=blue.pk)) == f"p{blue.product_id}-v{blue.pk}"


@pytest.mark.rule("R-CART-21")
def test_options_custom_fields_a_custom_price_or_damage_add_12_hex_digits(shop, api):
    mug = make_product(shop, allow_custom_price=True, damaged_qty=1, damaged_price="2.00")
    option = make_option(mug)
    distinct = [
        {"options": {str(option.pk): option.values.first().pk}},
        {"custom_fields": [{"name": "To", "value": "Ada"}]},
        {"custom_price": "20.00"},
        {"is_damaged": True},
    ]
    keys = {only_key(api, filled(api, mug, **given)) for given in distinct}
    assert len(keys) == 4
    assert all(re.fullmatch(rf"p{mug.pk}-[0-9a-f]{{12}}", key) for key in keys)


@pytest.mark.rule("R-CART-12")
def test_adding_what_is_in_the_cart_raises_that_lines_qty_and_answers_the_new_one(shop, api):
    mug = make_product(shop)
    token = filled(api, mug, 2)
    assert add(api, mug, 3, cart=token).json()["data"]["qty"] == 5
    assert quantities(api, token) == {f"p{mug.pk}": 5}


# A line's lists and picture.


@pytest.mark.rule("R-CART-24")
def test_bundle_items_have_these_members(shop, api):
    mug, red = make_product(shop, "Mug", sku="M1"), make_variant(make_product(shop, "Pot"), "Red", sku="P-R")
    items = add(api, make_bundle(shop, parts={mug: 2, red: 1})).json()["data"]["bundle_items"]
    assert items == [
        {"product_id": mug.pk, "variant_id": None, "name": "Mug", "sku": "M1", "qty": 2},
        {"product_id": red.product_id, "variant_id": red.pk, "name": "Pot – Red", "sku": "P-R", "qty": 1},
    ]


@pytest.mark.rule("R-CART-23")
def test_image_snapshot_is_the_first_images_url(shop, api):
    mug = make_product(shop)
    make_media(mug, "https://cdn.example.com/2.jpg", sort_order=2)
    make_media(mug, "", file=picture(), sort_order=1)
    first = api.get(f"/products/{mug.pk}").json()["data"]["media"][0]["url"]
    assert add(api, mug).json()["data"]["image_snapshot"] == first


# PATCH and DELETE.


@pytest.mark.rule("R-CART-15")
@pytest.mark.parametrize("write", ["patch", "delete line", "delete"])
def test_patch_and_delete_answer_the_cart_as_a_read_would_show_it(shop, api, write):
    mug = make_product(shop)
    token = filled(api, mug)
    add(api, make_product(shop), cart=token)
    answer = {
        "patch": lambda: api.patch(f"/cart/p{mug.pk}", {"qty": 3}, cart=token),
        "delete line": lambda: api.delete(f"/cart/p{mug.pk}", cart=token),
        "delete": lambda: api.delete("/cart", cart=token),
    }[write]()
    assert list(answer.json()) == ["message", "cart_token", "data"]
    assert (answer.json()["cart_token"], answer.json()["data"]) == (token, contents(api, token))


@pytest.mark.rule("R-CART-13")
def test_qty_0_removes_the_line(shop, api):
    mug = make_product(shop)
    token = filled(api, mug)
    answer = api.patch(f"/cart/p{mug.pk}", {"qty": 0}, cart=token)
    assert (answer.status_code, answer.json()["data"]["items"]) == (200, [])


@pytest.mark.rule("R-CART-31", "R-CART-17")
def test_a_change_beyond_stock_is_a_422_and_the_line_unchanged(shop, api):
    mug = make_product(shop, stock_qty=3)
    token = filled(api, mug, 2)
    answer = api.patch(f"/cart/p{mug.pk}", {"qty": 4}, cart=token)
    assert (answer.status_code, answer.json()["code"], answer.json()["available"]) == (422, "insufficient_stock", 3)
    assert quantities(api, token) == {f"p{mug.pk}": 2}


@pytest.mark.rule("R-CART-16")
@pytest.mark.parametrize("key", ["p999999", "p1-v1", "nothing", "p1-0123456789ab"])
def test_an_unknown_key_is_a_404_line_not_found(shop, api, key):
    token = filled(api, make_product(shop))
    for answer in (api.patch(f"/cart/{key}", {"qty": 1}, cart=token), api.delete(f"/cart/{key}", cart=token)):
        assert (answer.status_code, answer.json()["code"]) == (404, "line_not_found")


# Tokens.


@pytest.mark.rule("R-CART-3")
def test_a_token_is_256_random_bits_behind_cart_and_stored_only_as_a_digest(shop, api):
    mug = make_product(shop)
    first, second = filled(api, mug), filled(api, mug)
    assert first != second
    assert re.fullmatch(r"cart_[A-Za-z0-9_-]{43}", first)
    assert first not in str(list(Cart.objects.values()))


@pytest.mark.rule("R-CART-3")
def test_a_malformed_token_is_found_out_before_the_database_is_asked(shop, api, django_assert_num_queries):
    # The one query is for the credential.
    with django_assert_num_queries(1):
        assert api.get("/cart", cart="cart_short").json()["cart_token"] is None


@pytest.mark.rule("R-CART-9")
def test_a_signed_in_shoppers_basket_is_never_shown_to_the_api(shop, api):
    token = filled(api, make_product(shop))
    Cart.objects.update(customer=make_customer(shop))
    body = api.get("/cart", cart=token).json()
    assert (body["cart_token"], body["data"]["items"]) == (None, [])


# Totals.


@pytest.mark.rule("R-CART-35")
def test_tax_and_shipping_are_0_00_and_discount_holds_automatic_discounts(shop, api):
    Discount.objects.create(shop=shop, name="Autumn", kind="percent", value=Decimal(10))
    totals = contents(api, filled(api, make_product(shop, price=Decimal("9.50")), 2))["totals"]
    assert (totals["tax"], totals["shipping"], totals["discount"]) == ("0.00", "0.00", "1.90")
    assert (totals["subtotal"], totals["total"]) == ("19.00", "17.10")


@pytest.mark.rule("R-CART-34", "R-CART-35")
@pytest.mark.parametrize("included", [True, False])
def test_tax_included_says_whether_tax_is_in_the_other_sums(shop, api, included):
    shop.prices_include_tax = included
    shop.save()
    totals = contents(api, filled(api, make_product(shop)))["totals"]
    assert totals["tax_included"] is included


@pytest.mark.rule("R-CART-35")
def test_total_is_never_below_zero(shop, api):
    Discount.objects.create(shop=shop, name="All", kind="amount", value=Decimal(1000))
    assert contents(api, filled(api, make_product(shop)))["totals"]["total"] == "0.00"


# Stock.


@pytest.mark.rule("R-CART-32")
def test_stock_is_compared_with_all_that_the_cart_holds_of_the_same_stock_row(shop, api):
    mug = make_product(shop, stock_qty=3)
    token = filled(api, mug, 2)
    fields = [{"name": "To", "value": "Ada"}]
    assert add(api, mug, 2, cart=token, custom_fields=fields).json()["available"] == 1
    assert add(api, make_bundle(shop, parts={mug: 2}), cart=token).json()["code"] == "insufficient_stock"
    assert add(api, mug, 1, cart=token, custom_fields=fields).status_code == 201


@pytest.mark.rule("R-CART-33")
def test_a_cart_holds_no_stock(shop, api):
    mug = make_product(shop, stock_qty=1)
    filled(api, mug)
    mug.refresh_from_db()
    assert mug.stock_qty == 1
    assert add(api, mug).status_code == 201


# Checkout link.


@pytest.mark.rule("R-LINK-4")
def test_keys_rotate_by_a_list(shop, api, settings):
    token = filled(api, make_product(shop))
    link = link_to(api, token)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "n" * 50, [settings.SECRET_KEY]
    assert Shopper(shop).follow(link).status_code == 303
    settings.SECRET_KEY_FALLBACKS = []
    assert Shopper(shop).follow(link).status_code == 403


@pytest.mark.rule("R-LINK-10")
def test_pages_reached_from_the_link_send_no_referrer_and_are_not_stored(shop, api):
    shopper = Shopper(shop)
    link = link_to(api, filled(api, make_product(shop)))
    for answer in (shopper.follow(link + "0"), shopper.follow(link), shopper.get("/checkout")):
        assert (answer["Referrer-Policy"], answer["Cache-Control"]) == ("no-referrer", "no-store")


@pytest.mark.rule("R-LINK-10")
def test_following_the_link_redirects_at_once_to_a_url_without_it(shop, api):
    link = link_to(api, filled(api, make_product(shop)))
    answer = Shopper(shop).follow(link)
    assert (answer.status_code, answer["Location"]) == (303, "/checkout")
