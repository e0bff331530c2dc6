from datetime import timedelta
from decimal import Decimal
from io import BytesIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image

from tests.catalogue.factories import make_category, make_media, make_product
from tests.shops.factories import NOW


def names(answer) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [product["name"] for product in answer.json()["data"]]


@pytest.mark.rule("R-CAT-23")
@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("newest", ["apple", "Cherry", "Banana"]),
        ("price_asc", ["Banana", "Cherry", "apple"]),
        ("price_desc", ["apple", "Cherry", "Banana"]),
        ("name", ["apple", "Banana", "Cherry"]),
    ],
)
def test_sorts(api, shop, sort, expected):
    make_product(shop, "Banana", price=Decimal("2.00"), created_at=NOW, is_pinned=True)
    make_product(shop, "apple", price=Decimal("10.00"), created_at=NOW + timedelta(seconds=2))
    make_product(shop, "Cherry", price=Decimal("9.99"), created_at=NOW + timedelta(seconds=1))
    assert names(api.get(f"/products?sort={sort}")) == expected


def test_the_list_has_media_in_order(api, shop):
    mug = make_product(shop, "Mug")
    make_media(mug, "https://cdn.example.com/two.jpg", sort_order=2)
    make_media(mug, "https://cdn.example.com/one.jpg", sort_order=1, alt="Front")
    make_product(shop, "Plate")
    media = {product["name"]: product["media"] for product in api.get("/products").json()["data"]}
    assert [(image["url"], image["alt"]) for image in media["Mug"]] == [
        ("https://cdn.example.com/one.jpg", "Front"),
        ("https://cdn.example.com/two.jpg", ""),
    ]
    assert media["Plate"] == []


def test_an_uploaded_picture_has_an_absolute_url(api, shop):
    picture = BytesIO()
    Image.new("RGB", (40, 30)).save(picture, "PNG")
    make_media(make_product(shop, "Mug"), "", file=SimpleUploadedFile("blue mug é.png", picture.getvalue()))
    (media,) = api.get("/products").json()["data"][0]["media"]
    assert media["url"].startswith("https://shop.example.com/media/products/blue_mug_%C3%A9")
    assert (media["width"], media["height"]) == (40, 30)


def test_products_that_are_not_public_or_hidden_from_lists_are_left_out(api, shop):
    make_product(shop, "Shown", publish_at=NOW - timedelta(days=1))
    make_product(shop, "Draft", status="draft")
    make_product(shop, "Archived", status="archived")
    make_product(shop, "Deleted", deleted_at=NOW)
    make_product(shop, "Not yet", publish_at=NOW + timedelta(days=20000))
    make_product(shop, "No longer", unpublish_at=NOW - timedelta(days=1000))
    make_product(shop, "Unlisted", exclude_from_catalog=True)
    body = api.get("/products").json()
    assert [product["name"] for product in body["data"]] == ["Shown"]
    assert body["total"] == 1


def test_another_shop_sees_only_its_own_products(api, shop, other_api, other_shop):
    make_product(shop, "Mug", categories=(make_category(shop, "Cups"),))
    make_product(other_shop, "Lamp", slug="lamp")
    make_category(other_shop, "Cups")
    assert names(api.get("/products")) == ["Mug"]
    assert names(other_api.get("/products")) == ["Lamp"]
    assert names(other_api.get("/products?category=cups")) == []
    assert names(other_api.get("/products?q=mug")) == []


@pytest.mark.parametrize("products", [0, 1, 30])
def test_a_list_takes_two_queries_besides_authentication(api, shop, products, django_assert_max_num_queries):
    for number in range(products):
        make_media(make_product(shop, f"Mug {number}", categories=()))
    with django_assert_max_num_queries(3):
        answer = api.get("/products?q=mug&featured=0&sort=name").json()
    assert (len(answer["data"]), answer["total"]) == (min(products, 24), products)
