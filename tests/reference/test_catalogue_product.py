"""The record of a product, with its variants and pictures."""

from decimal import Decimal
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from storefront.carts.models import CartLine
from storefront.catalogue.actions import update_category, update_product
from storefront.orders.models import OrderLine
from tests.catalogue.factories import make_category, make_media, make_product, make_variant
from tests.checkout.shopper import Shopper
from tests.reference.pictures import picture
from tests.shops.factories import NOW

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


@pytest.mark.rule("R-CAT-9", "R-CAT-19")
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
    typed = {name for names in TYPES.values() for name in names.split()}
    for nullable in set(TABLE) - typed:
        assert record[nullable] is None, nullable


@pytest.mark.rule("R-CAT-42")
def test_an_old_slug_finds_the_product_and_the_answer_names_its_address(api, other_api, shop, other_shop):
    mug = make_product(shop, "Mug")
    make_product(other_shop, "Mug")
    assert "Content-Location" not in api.get("/products/mug")
    update_product(shop=shop, product=mug, now=NOW, slug="кружка")
    present, old = api.get("/products/кружка"), api.get("/products/mug")
    assert (old.status_code, old.content, old["ETag"]) == (200, present.content, present["ETag"])
    address = old["Content-Location"]
    assert address == f"{shop.base_url}/api/v1/products/%D0%BA%D1%80%D1%83%D0%B6%D0%BA%D0%B0"
    assert "Content-Location" not in present
    known = api.get("/products/mug", If_None_Match=old["ETag"])
    assert (known.status_code, known["Content-Location"]) == (304, address)
    assert "Content-Location" in api.get("/products/mug?fields=id")
    assert "Content-Location" not in other_api.get("/products/mug")
    # Whoever gets the slug has it from the next call on.
    cup = make_product(shop, "Cup", slug="mug")
    assert api.get("/products/mug").json()["data"]["id"] == cup.pk
    update_product(shop=shop, product=cup, now=NOW, status="draft")
    assert api.get("/products/mug").status_code == 404


@pytest.mark.rule("R-CAT-42")
def test_an_old_slug_finds_the_category(api, shop):
    cups = make_category(shop, "Cups")
    update_category(shop=shop, category=cups, now=NOW, slug="tassen")
    answer = api.get("/categories/cups")
    assert answer.json() == api.get("/categories/tassen").json()
    assert answer["Content-Location"] == f"{shop.base_url}/api/v1/categories/tassen"
    assert api.get("/products?category=cups").json()["data"] == []
    update_category(shop=shop, category=cups, now=NOW, is_active=False)
    assert api.get("/categories/cups").status_code == 404


@pytest.mark.rule("R-CAT-42")
def test_a_miss_costs_one_query_more_than_a_hit(api, shop, django_assert_num_queries):
    make_product(shop, "Mug")
    api.get("/products/mug")
    with CaptureQueriesContext(connection) as hit:
        api.get("/products/mug")
    with django_assert_num_queries(len(hit) + 1):
        api.get("/products/nope")


@pytest.mark.rule("R-CAT-27")
def test_slug_is_usable_in_place_of_id_when_reading_one_product(api, shop):
    mug = make_product(shop, "Mug", slug="the-mug")
    assert api.get("/products/the-mug").json() == api.get(f"/products/{mug.id}").json()


@pytest.mark.rule("R-CAT-8")
def test_simple_is_a_type_and_a_variable_product_carries_variants(api, shop):
    make_product(shop, "Plain")
    make_variant(make_product(shop, "Shirt"))
    assert api.get("/products/plain").json()["data"]["type"] == "simple"
    shirt = api.get("/products/shirt").json()["data"]
    assert (shirt["type"], len(shirt["variants"])) == ("variable", 1)


@pytest.mark.rule("R-CAT-10")
def test_billing_interval_count_is_1_when_not_otherwise_set(api, shop):
    make_product(shop, "Mug")
    assert api.get("/products/mug").json()["data"]["billing_interval_count"] == 1


@pytest.mark.rule("R-CAT-12")
def test_cost_price_is_a_money_string_on_the_product_record(api, shop):
    make_product(shop, "Mug", cost_price=Decimal("4.2"))
    assert api.get("/products/mug").json()["data"]["cost_price"] == "4.20"
    assert api.get("/products").json()["data"][0]["cost_price"] == "4.20"


@pytest.mark.rule("R-CAT-31")
def test_categories_is_an_array_of_category_each_with_a_pivot_object(api, shop):
    cups = make_category(shop, "Cups")
    make_product(shop, "Mug", categories=(cups,))
    (category,) = api.get("/products/mug").json()["data"]["categories"]
    listed = api.get("/categories").json()["data"][0]
    assert {**category, "pivot": None} == {**{k: v for k, v in listed.items() if k != "products_count"}, "pivot": None}
    assert set(category["pivot"]) == {"product_id", "category_id", "sort_order", "created_at", "updated_at"}


@pytest.mark.rule("R-CAT-29")
def test_variants_is_an_empty_array_when_the_product_has_none(api, shop):
    make_product(shop, "Mug")
    assert api.get("/products/mug").json()["data"]["variants"] == []


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


@pytest.mark.rule("R-CAT-29")
def test_each_variant_carries_its_own_identifier_sku_price_and_stock(api, shop):
    shirt = make_product(shop, "Shirt")
    small = make_variant(shirt, "Small", sku="S-S", price=Decimal("9.00"), stock_qty=1)
    large = make_variant(shirt, "Large", sku="S-L", price=Decimal("11.00"), stock_qty=7)
    variants = api.get("/products/shirt").json()["data"]["variants"]
    assert [(each["id"], each["sku"], each["price"], each["stock_qty"]) for each in variants] == [
        (small.id, "S-S", "9.00", 1),
        (large.id, "S-L", "11.00", 7),
    ]


@pytest.mark.rule("R-CAT-28")
def test_media_is_returned_with_the_product(api, shop):
    make_media(make_product(shop, "Mug"), "https://cdn.example.com/one.jpg", alt="A mug")
    for record in (api.get("/products/mug").json()["data"], api.get("/products").json()["data"][0]):
        (media,) = record["media"]
        assert list(media) == ["id", "type", "url", "alt", "width", "height", "sort_order"]
        assert (media["type"], media["url"], media["alt"]) == ("image", "https://cdn.example.com/one.jpg", "A mug")


@pytest.mark.rule("R-CAT-28")
def test_the_first_image_is_used_on_listing_tiles_in_the_basket_and_on_the_order(api, shop):
    mug = make_product(shop, "Mug")
    make_media(mug, "", file=picture("back.png"), sort_order=1)
    make_media(mug, "", file=picture("front.png"), sort_order=0)
    listing = Client(headers={"host": shop.domain}).get("/products").content.decode()
    assert "front" in listing
    assert "back" not in listing
    shopper = Shopper(shop)
    shopper.bring(api, {"product_id": mug.pk})
    # The integration's line, and the shopper's copy of it.
    for line in CartLine.objects.all():
        assert Path(line.image_snapshot).name.startswith("front")
    shopper.order()
    assert Path(OrderLine.objects.get().image).name.startswith("front")


@pytest.mark.rule("R-CAT-28")
def test_a_product_may_have_no_image(api, shop):
    make_product(shop, "Mug")
    assert api.get("/products/mug").json()["data"]["media"] == []
