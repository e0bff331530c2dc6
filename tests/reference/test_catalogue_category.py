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


@pytest.mark.rule("R-CAT-32")
def test_products_count_is_present_on_the_category_list_response(api, shop):
    make_product(shop, "Mug", categories=(make_category(shop, "Cups"),))
    assert api.get("/categories").json()["data"][0]["products_count"] == 1
    assert "products_count" not in api.get("/products/mug").json()["data"]["categories"][0]
