from datetime import timedelta
from decimal import Decimal

import pytest

from tests.answers import without_id
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.shops.factories import NOW


def test_one_product_with_its_categories_variants_and_options(api, shop):
    kitchen = make_category(shop, "Kitchen")
    cups = make_category(shop, "Cups", kitchen)
    mug = make_product(shop, "Mug", categories=(cups, kitchen))
    blue = make_variant(mug, "Blue", image=make_media(mug, "https://cdn.example.com/blue.jpg"))
    make_option(mug, "Engraving", {"Gold": "5.00", "None": "0.00"}, required=True)

    data = api.get(f"/products/{mug.id}").json()["data"]
    assert [category["slug"] for category in data["categories"]] == ["kitchen", "cups"]
    assert data["categories"][1]["pivot"] == {
        "product_id": mug.id,
        "category_id": cups.id,
        "sort_order": 0,
        "created_at": "2026-11-21T07:30:00.000000Z",
        "updated_at": "2026-11-21T07:30:00.000000Z",
    }
    assert data["variants"] == [
        {
            "id": blue.id,
            "product_id": mug.id,
            "name": "Blue",
            "sku": "",
            "barcode": None,
            "price": "12.00",
            "compare_price": "0.00",
            "weight": None,
            "track_inventory": True,
            "stock_qty": 5,
            "allow_backorders": False,
            "is_active": True,
            "option_values": {"Colour": "Blue"},
            "image": "https://cdn.example.com/blue.jpg",
            "sort_order": 0,
            "created_at": "2026-11-21T07:30:00.000000Z",
            "updated_at": "2026-11-21T07:30:00.000000Z",
            "sale_price": None,
            "sale_from": None,
            "sale_until": None,
            "regular_compare_price": None,
        }
    ]
    (engraving,) = data["options"]
    assert list(engraving) == ["id", "name", "type", "required", "sort_order", "max_length", "values"]
    assert (engraving["name"], engraving["type"], engraving["required"]) == ("Engraving", "select", True)
    assert [(value["label"], value["price"], value["sort_order"]) for value in engraving["values"]] == [
        ("Gold", "5.00", 0),
        ("None", "0.00", 1),
    ]


def test_a_plain_product_has_empty_lists(api, shop):
    data = api.get(f"/products/{make_product(shop).id}").json()["data"]
    assert data["categories"] == data["variants"] == data["options"] == data["media"] == []


def test_an_option_without_values_is_shown(api, shop):
    mug = make_product(shop)
    make_option(mug, "Text", {}, type="text")
    assert api.get(f"/products/{mug.id}").json()["data"]["options"][0]["values"] == []


@pytest.mark.rule("R-CAT-27")
def test_digits_are_an_id_first_then_a_slug(api, shop):
    mug = make_product(shop, "Mug")
    named_like_it = make_product(shop, "Other", slug=str(mug.id))
    year = make_product(shop, "Calendar", slug="20260000")
    assert api.get(f"/products/{mug.id}").json()["data"]["name"] == "Mug"
    assert api.get("/products/20260000").json()["data"]["id"] == year.id
    mug.delete()
    assert api.get(f"/products/{named_like_it.slug}").json()["data"]["name"] == "Other"


def test_a_long_number_can_still_be_a_slug(api, shop):
    make_product(shop, "Long", slug="9" * 30)
    assert api.get(f"/products/{'9' * 30}").json()["data"]["name"] == "Long"


@pytest.mark.rule("R-CAT-4")
@pytest.mark.parametrize(
    "given",
    [
        {"status": "draft"},
        {"status": "archived"},
        {"deleted_at": NOW},
        {"publish_at": NOW + timedelta(days=20000)},
        {"unpublish_at": NOW - timedelta(days=1000)},
    ],
)
def test_a_product_that_is_not_public_looks_like_an_unknown_one(api, shop, given):
    hidden = make_product(shop, slug="hidden", **given)
    unknown = api.get("/products/77777")
    assert unknown.status_code == 404
    for path in (hidden.id, "hidden"):
        assert without_id(api.get(f"/products/{path}")) == without_id(unknown)


@pytest.mark.parametrize(
    "key", ["0", "-1", "00", str(2**53), str(2**63), "9" * 400, "1.5", "%00", "1%00", "%FF", "x" * 5000, "%20", "'"]
)
def test_an_odd_key_is_a_404(api, shop, key):
    for path in ("/products/", "/categories/"):
        answer = api.get(path + key)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_another_shops_product_is_unknown(other_api, other_shop, shop):
    mug = make_product(shop, "Mug")
    assert other_api.get(f"/products/{mug.id}").status_code == 404
    assert other_api.get("/products/mug").status_code == 404


def test_two_shops_can_use_one_slug(api, shop, other_api, other_shop):
    make_product(shop, "Mug")
    make_product(other_shop, "Mug", price=Decimal("1.00"))
    assert api.get("/products/mug").json()["data"]["price"] == "9.50"
    assert other_api.get("/products/mug").json()["data"]["price"] == "1.00"


# A slug of digits is tried as an id first.
@pytest.mark.parametrize(("key", "queries"), [("id", 1), ("slug", 2)])
def test_a_read_takes_one_query_per_key_besides_authentication(api, shop, key, queries, django_assert_max_num_queries):
    mug = make_product(shop, slug="2026", categories=(make_category(shop), make_category(shop, "Mugs")))
    for name in ("Blue", "Red", "Green"):
        make_variant(mug, name, image=make_media(mug))
        make_option(mug, name)
    with django_assert_max_num_queries(queries + 1):
        found = api.get(f"/products/{getattr(mug, key)}").json()["data"]
    assert [len(found[children]) for children in ("categories", "variants", "options", "media")] == [2, 3, 3, 3]
