"""The record of a category."""

import pytest

from tests.catalogue.factories import make_category, make_product

MEMBERS = """
id legacy_source_id name slug description parent_id _lft _rgt image banner meta_title meta_description canonical_url
og_image_url noindex sitemap_lastmod sort_order is_active exclude_from_group_discounts created_at updated_at
products_count
"""
TABLE = MEMBERS.split()


@pytest.mark.rule("R-CAT-32")
def test_members_stand_in_the_order_of_the_table(api, shop):
    make_category(shop, "Cups")
    assert list(api.get("/categories").json()["data"][0]) == TABLE


@pytest.mark.rule("R-CAT-32")
def test_members_have_the_types_of_the_table(api, shop):
    make_category(shop, "Cups")
    (category,) = api.get("/categories").json()["data"]
    types = {
        int: "id _lft _rgt sort_order products_count",
        str: "name slug description created_at updated_at",
        bool: "noindex is_active exclude_from_group_discounts",
    }
    for kind, names in types.items():
        for name in names.split():
            assert type(category[name]) is kind, name
    for nullable in set(TABLE) - {name for names in types.values() for name in names.split()}:
        assert category[nullable] is None, nullable


@pytest.mark.rule("R-CAT-37")
def test_the_tree_is_rebuilt_from_parent_id(api, shop):
    kitchen = make_category(shop, "Kitchen")
    cups = make_category(shop, "Cups", kitchen)
    make_category(shop, "Mugs", cups)
    by_id = {each["id"]: each for each in api.get("/categories").json()["data"]}

    def path(category: dict) -> str:
        parent = by_id.get(category["parent_id"])
        return f"{path(parent)} > {category['name']}" if parent else category["name"]

    assert [path(each) for each in by_id.values()] == ["Kitchen", "Kitchen > Cups", "Kitchen > Cups > Mugs"]


@pytest.mark.rule("R-CAT-37")
def test_lft_and_rgt_are_nested_set_bounds(api, shop):
    kitchen = make_category(shop, "Kitchen")
    make_category(shop, "Cups", kitchen)
    make_category(shop, "Garden")
    bounds = {each["name"]: (each["_lft"], each["_rgt"]) for each in api.get("/categories").json()["data"]}
    assert bounds == {"Kitchen": (1, 4), "Cups": (2, 3), "Garden": (5, 6)}


@pytest.mark.rule("R-CAT-31")
def test_a_product_belongs_to_several_categories(api, shop):
    make_product(shop, "Mug", categories=(make_category(shop, "Cups"), make_category(shop, "Gifts")))
    assert [each["slug"] for each in api.get("/products/mug").json()["data"]["categories"]] == ["cups", "gifts"]
    assert [each["products_count"] for each in api.get("/categories").json()["data"]] == [1, 1]


@pytest.mark.rule("R-CAT-31")
def test_the_pivot_object_names_product_and_category_with_integers_and_timestamps(api, shop):
    cups = make_category(shop, "Cups")
    mug = make_product(shop, "Mug", categories=(cups,))
    pivot = api.get("/products/mug").json()["data"]["categories"][0]["pivot"]
    assert pivot == {
        "product_id": mug.id,
        "category_id": cups.id,
        "sort_order": 0,
        "created_at": "2026-11-21T07:30:00.000000Z",
        "updated_at": "2026-11-21T07:30:00.000000Z",
    }
