import pytest

from storefront.carts.models import Cart, CartLine
from storefront.catalogue.models import Media
from tests.carts.factories import add, contents, filled, quantities
from tests.catalogue.factories import make_media, make_product
from tests.orders.files import make_download


def test_adding_makes_a_cart_with_the_line(shop, api):
    mug = make_product(shop, "Mug", price="9.50")
    make_media(mug, "https://cdn.example.com/mug.jpg")
    answer = add(api, mug, 2)
    assert answer.status_code == 201
    body = answer.json()
    assert list(body) == ["message", "cart_token", "data", "problems"]
    assert body["message"] == "Item added to cart."
    assert body["data"] == {
        "product_id": mug.pk,
        "variant_id": None,
        "qty": 2,
        "price_snapshot": "9.50",
        "name_snapshot": "Mug",
        "image_snapshot": "https://cdn.example.com/mug.jpg",
        "is_digital": False,
        "is_bundle": False,
        "bundle_items": [],
        "custom_fields": [],
        "is_damaged": False,
        "options": [],
        "gift_card": None,
        "available_from": None,
        "available": True,
        "current_price": "9.50",
    }


def test_cart_read_has_the_line_with_key_and_total(shop, api):
    mug = make_product(shop, price="9.50")
    token = filled(api, mug, 2)
    (item,) = contents(api, token)["items"]
    assert next(iter(item)) == "key"
    assert list(item)[-6:-2] == ["line_total", "options", "gift_card", "available_from"]
    assert (item["key"], item["line_total"]) == (f"p{mug.pk}", "19.00")


def test_adding_again_increases_the_quantity(shop, api):
    mug = make_product(shop)
    token = filled(api, mug, 2)
    answer = add(api, mug, 3, cart=token)
    assert answer.json()["cart_token"] == token
    assert answer.json()["data"]["qty"] == 5
    assert quantities(api, token) == {f"p{mug.pk}": 5}


@pytest.mark.rule("R-CART-12")
def test_adding_again_updates_price_name_and_picture(shop, api):
    mug = make_product(shop, "Mug")
    token = filled(api, mug)
    mug.name, mug.price = "Cup", "11.00"
    mug.save()
    make_media(mug, "https://cdn.example.com/cup.jpg")
    line = add(api, mug, cart=token).json()["data"]
    assert (line["qty"], line["name_snapshot"], line["price_snapshot"]) == (2, "Cup", "11.00")
    assert line["image_snapshot"] == "https://cdn.example.com/cup.jpg"


def test_lines_are_in_the_order_they_were_added(shop, api):
    mug, plate = make_product(shop), make_product(shop)
    token = filled(api, plate)
    add(api, mug, cart=token)
    add(api, plate, cart=token)
    assert list(quantities(api, token)) == [f"p{plate.pk}", f"p{mug.pk}"]


def test_picture_is_the_first_one_and_has_an_absolute_url(shop, api):
    mug = make_product(shop)
    make_media(mug, "https://cdn.example.com/second.jpg", sort_order=2)
    first = make_media(mug, sort_order=1)
    Media.objects.filter(pk=first.pk).update(file="products/first.jpg")
    image = add(api, mug).json()["data"]["image_snapshot"]
    assert image == "https://shop.example.com/media/products/first.jpg"


def test_digital_product_is_marked_as_digital(shop, api):
    book = make_download(shop, requires_shipping=False)
    assert add(api, book).json()["data"]["is_digital"] is True


def test_product_hidden_from_the_catalogue_can_be_added(shop, api):
    assert add(api, make_product(shop, exclude_from_catalog=True)).status_code == 201


def test_a_product_of_another_shop_is_unavailable(shop, api, other_shop):
    answer = add(api, make_product(other_shop))
    assert (answer.status_code, answer.json()["code"]) == (422, "product_unavailable")
    assert not Cart.objects.exists()


def test_refused_add_does_not_change_the_cart(shop, api):
    mug = make_product(shop, stock_qty=3)
    token = filled(api, mug, 2)
    before = Cart.objects.values().get()
    assert add(api, mug, 2, cart=token).status_code == 422
    assert Cart.objects.values().get() == before
    assert CartLine.objects.get().qty == 2
