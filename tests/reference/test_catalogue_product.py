"""The record of a product."""

from decimal import Decimal

import pytest

from tests.catalogue.factories import make_category, make_option, make_product, make_variant

MEMBERS = """
id legacy_source_id name slug description translations short_description sku barcode status exclude_from_catalog type
billing_interval billing_interval_count free_trial_days setup_fee payprovider_product_id payprovider_price_id
accounting_product_id price allow_custom_price is_gift_card exclude_from_group_discounts min_custom_price
compare_price cost_price show_lowest_price default_variant_id weight length width height dimension_unit
track_inventory stock_qty damaged_qty damaged_price allow_backorders low_stock_threshold meta_title meta_description
canonical_url og_image_url noindex sitemap_lastmod is_featured is_new is_preorder is_pinned is_taxable
requires_shipping media_mail_eligible vendor_id shipping_origin_id brand_id tax_class_id tic_code sort_order
publish_at published_on unpublish_at created_at updated_at deleted_at max_downloads download_expiry_days
"""
TABLE = MEMBERS.split()

TYPES = {
    int: "id billing_interval_count stock_qty damaged_qty low_stock_threshold sort_order max_downloads "
    "download_expiry_days",
    str: "name slug description short_description sku status type price compare_price cost_price weight created_at "
    "updated_at",
    bool: "exclude_from_catalog allow_custom_price is_gift_card exclude_from_group_discounts show_lowest_price "
    "track_inventory allow_backorders noindex is_featured is_new is_preorder is_pinned is_taxable requires_shipping "
    "media_mail_eligible",
}


@pytest.mark.rule("R-CAT-9")
def test_members_stand_in_the_order_of_the_table_then_media_then_what_is_ours(api, shop):
    make_product(shop, "Mug")
    sale = ["sale_price", "sale_from", "sale_until", "regular_compare_price", "available_from"]
    assert list(api.get("/products").json()["data"][0]) == [*TABLE, "media", "tags", "attributes", "sort_name", *sale]
    single = [*TABLE, "media", "categories", "variants", "options", "tags", "attributes", "sort_name", *sale]
    assert list(api.get("/products/mug").json()["data"]) == single


@pytest.mark.rule("R-CAT-10")
def test_members_have_the_types_of_the_table(api, shop):
    make_product(shop, "Mug")
    record = api.get("/products/mug").json()["data"]
    for kind, names in TYPES.items():
        for name in names.split():
            assert type(record[name]) is kind, name
    assert record["billing_interval_count"] == 1
    typed = {name for names in TYPES.values() for name in names.split()}
    for nullable in set(TABLE) - typed:
        assert record[nullable] is None, nullable


@pytest.mark.rule("R-CAT-2", "R-CAT-4")
def test_only_active_products_are_returned_draft_exists_and_is_never_exposed(api, shop):
    make_product(shop, "Active")
    draft = make_product(shop, "Draft", status="draft", is_featured=True)
    for query in ("", "?q=draft", "?featured", "?sort=newest"):
        assert "Draft" not in [record["name"] for record in api.get(f"/products{query}").json()["data"]]
    assert api.get(f"/products/{draft.id}").status_code == api.get("/products/draft").status_code == 404


@pytest.mark.rule("R-CAT-8")
def test_simple_is_a_type_and_a_variable_product_carries_variants(api, shop):
    make_product(shop, "Plain")
    make_variant(make_product(shop, "Shirt"))
    assert api.get("/products/plain").json()["data"]["type"] == "simple"
    shirt = api.get("/products/shirt").json()["data"]
    assert (shirt["type"], len(shirt["variants"])) == ("variable", 1)


@pytest.mark.rule("R-CAT-14")
def test_price_may_be_zero_when_every_price_lives_on_a_variant_or_a_required_option(api, shop):
    shirt = make_product(shop, "Shirt", price=Decimal(0))
    make_variant(shirt, price=Decimal("19.00"))
    make_option(shirt, values={"Print": "4.00"}, required=True)
    data = api.get("/products/shirt").json()["data"]
    assert (data["price"], data["variants"][0]["price"]) == ("0.00", "19.00")
    assert data["options"][0]["values"][0]["price"] == "4.00"


@pytest.mark.rule("R-CAT-12")
def test_cost_price_is_a_money_string_on_the_product_record(api, shop):
    make_product(shop, "Mug", cost_price=Decimal("4.2"))
    assert api.get("/products/mug").json()["data"]["cost_price"] == "4.20"
    assert api.get("/products").json()["data"][0]["cost_price"] == "4.20"


@pytest.mark.rule("R-CALL-3")
def test_weight_is_a_decimal_string(api, shop):
    make_product(shop, "Mug", weight=Decimal("0.3"))
    assert api.get("/products/mug").json()["data"]["weight"] == "0.300"


@pytest.mark.rule("R-CAT-19")
def test_categories_and_variants_are_present_only_on_the_single_product_response(api, shop):
    make_product(shop, "Mug")
    assert {"categories", "variants"} <= set(api.get("/products/mug").json()["data"])
    assert not {"categories", "variants", "options"} & set(api.get("/products").json()["data"][0])


@pytest.mark.rule("R-CAT-31")
def test_categories_is_an_array_of_category_each_with_a_pivot_object(api, shop):
    cups = make_category(shop, "Cups")
    make_product(shop, "Mug", categories=(cups,))
    (category,) = api.get("/products/mug").json()["data"]["categories"]
    listed = api.get("/categories").json()["data"][0]
    assert {**category, "pivot": None} == {**{k: v for k, v in listed.items() if k != "products_count"}, "pivot": None}
    assert set(category["pivot"]) == {"product_id", "category_id", "sort_order", "created_at", "updated_at"}


@pytest.mark.rule("R-CAT-15")
@pytest.mark.parametrize("given", [{"track_inventory": False}, {"allow_backorders": True}])
def test_availability_depends_on_track_inventory_allow_backorders_and_active_variants_too(api, shop, given):
    make_product(shop, "Mug", stock_qty=0, **given)
    shirt = make_product(shop, "Shirt")
    make_variant(shirt, is_active=False)
    mug = api.get("/products/mug").json()["data"]
    assert mug["stock_qty"] == 0
    assert {name: mug[name] for name in given} == given
    variant = api.get("/products/shirt").json()["data"]["variants"][0]
    assert {"track_inventory", "allow_backorders", "is_active"} <= set(variant)
    assert variant["is_active"] is False
