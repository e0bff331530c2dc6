"""Forms of values in catalogue records."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest

from storefront.catalogue.models import Category, Product
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.shops.factories import NOW

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\Z")
MONEY = re.compile(r"\d+\.\d\d\Z")


@pytest.fixture
def record(api, shop):
    mug = make_product(
        shop,
        "Mug",
        categories=(make_category(shop, "Cups"),),
        setup_fee=Decimal("1"),
        min_custom_price=Decimal("2.5"),
        damaged_price=Decimal("0.05"),
        published_on=NOW,
        publish_at=NOW - timedelta(microseconds=1),
        sitemap_lastmod=NOW,
        unpublish_at=NOW + timedelta(days=20000),
    )
    make_variant(mug, "Blue", image=make_media(mug))
    make_option(mug)
    return api.get("/products/mug").json()["data"]


@pytest.mark.rule("R-CALL-2")
def test_money_is_a_decimal_string_with_two_fraction_digits(record):
    members = ("price", "compare_price", "cost_price", "setup_fee", "min_custom_price", "damaged_price")
    amounts = [record[member] for member in members]
    amounts += [record["variants"][0][member] for member in ("price", "compare_price")]
    amounts += [value["price"] for value in record["options"][0]["values"]]
    assert all(MONEY.match(amount) for amount in amounts), amounts


@pytest.mark.rule("R-CALL-4")
def test_timestamps_on_catalogue_records_are_iso_8601_utc_with_six_fraction_digits_and_z(record):
    moments = [record[member] for member in ("created_at", "updated_at", "published_on", "sitemap_lastmod")]
    moments += [record["publish_at"], record["unpublish_at"]]
    for part in (record["variants"][0], record["categories"][0], record["categories"][0]["pivot"]):
        moments += [part["created_at"], part["updated_at"]]
    assert all(TIMESTAMP.match(moment) for moment in moments), moments
    assert record["publish_at"] == "2026-11-21T07:29:59.999999Z"


@pytest.mark.rule("R-CALL-6")
def test_booleans_are_json_true_and_false(api, shop, record):
    flags = [field.name for field in Product._meta.concrete_fields if field.get_internal_type() == "BooleanField"]
    assert flags
    assert all(record[flag] is True or record[flag] is False for flag in flags)
    assert record["variants"][0]["is_active"] is True
    assert record["options"][0]["required"] is False
    assert record["categories"][0]["is_active"] is True


@pytest.mark.rule("R-CALL-7")
def test_a_nullable_field_is_present_and_may_be_null(api, shop):
    make_product(shop, "Plain")
    record = api.get("/products/plain").json()["data"]
    for field in Product._meta.concrete_fields:
        if field.null:
            assert record[field.column] is None


@pytest.mark.rule("R-CAT-12")
def test_every_stored_column_of_a_product_or_category_is_returned_including_internal_ones(api, shop, record):
    # The shop's own id is the tenancy's, not the product's: whoever can read the record has it for a credential.
    columns = {field.column for field in Product._meta.concrete_fields} - {"shop_id"}
    assert columns <= set(record)
    assert columns <= set(api.get("/products").json()["data"][0])
    columns = {field.column for field in Category._meta.concrete_fields} - {"shop_id", "translations"}
    assert columns <= set(record["categories"][0])
    assert columns <= set(api.get("/categories").json()["data"][0])
