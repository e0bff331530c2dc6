"""What is exported as WooCommerce's or Shopify's CSV comes back as it was."""

import csv
import io
from decimal import Decimal

import pytest

from storefront.catalogue import queries
from storefront.catalogue.exporting import export_products
from storefront.catalogue.models import Product
from tests.catalogue.factories import make_category, make_media, make_product, make_variant
from tests.catalogue.product_files import imported
from tests.shops.factories import NOW


def exported(shop, format: str) -> str:
    out = io.StringIO(newline="")
    export_products(shop=shop, format=format, out=out)
    return out.getvalue()


@pytest.fixture
def filled(shop, other_shop):
    make_product(other_shop, "Secret")
    kitchen = make_category(shop, "Kitchen & Bath")
    cups = make_category(shop, "Cups, small", kitchen)
    mug = make_product(
        shop, "=Mug", sku="-M1", description="<p>a\nb \\n c</p>", price=Decimal("8.00"), compare_price=Decimal("10"),
        tags=["a", "b"], weight=Decimal("0.250"), barcode="0049", cost_price=Decimal("3.20"), categories=(cups,),
        slug="the-mug", stock_qty=-2, allow_backorders=True,
    )  # fmt: skip
    make_media(mug, "https://a.example.com/1.jpg?v=1", alt="Front")
    shirt = make_product(shop, "Shirt", price=Decimal("10"), track_inventory=False, stock_qty=0)
    shirt.attributes = [{"name": "Colour", "values": ["Blue", "Red"], "variation": True}]
    shirt.brand = shop.brands.create(name="Loom")
    shirt.save()
    picture = make_media(shirt, "https://a.example.com/2.jpg")
    make_variant(shirt, "Blue", price=Decimal("10"), image=picture, sku="S-B", sort_order=0, weight=Decimal("0.3"))
    make_variant(shirt, "Red", price=Decimal("11"), stock_qty=0, sort_order=1, weight=Decimal("0.3"))
    make_product(shop, "Draft", status="draft")
    return shop


@pytest.mark.parametrize("format", ["woocommerce", "shopify"])
def test_it_comes_back_as_it_was(filled, other_shop, tmp_path, format):
    text = exported(filled, format)
    Product.objects.filter(shop=other_shop).delete()
    report = imported(other_shop, text, tmp_path)
    assert (report.created, report.problems) == (3, [])

    for slug in ("the-mug", "shirt"):
        before, after = (queries.product_record(each, slug, now=NOW) for each in (filled, other_shop))
        same = (
            "name",
            "description",
            "sku",
            "price",
            "compare_price",
            "cost_price",
            "weight",
            "barcode",
            "status",
            "tags",
        )
        same += (
            "type",
            "track_inventory",
            "stock_qty",
            "allow_backorders",
            "is_taxable",
            "requires_shipping",
            "attributes",
        )
        assert {name: after[name] for name in same} == {name: before[name] for name in same}
        assert [media["url"] for media in after["media"]] == [media["url"] for media in before["media"]]
        assert [category["name"] for category in after["categories"]] == [each["name"] for each in before["categories"]]
        fields = ("name", "sku", "price", "stock_qty", "track_inventory", "option_values", "weight", "image")
        assert [{name: variant[name] for name in fields} for variant in after["variants"]] == [
            {name: variant[name] for name in fields} for variant in before["variants"]
        ]
    assert Product.objects.get(shop=other_shop, name="Draft").status == "draft"
    assert Product.objects.get(shop=other_shop, slug="shirt").brand.name == "Loom"


@pytest.mark.parametrize("format", ["woocommerce", "shopify", "native"])
def test_ones_own_export_changes_nothing(filled, tmp_path, format):
    report = imported(filled, exported(filled, format), tmp_path, update=True)
    assert (report.changes, report.counts()) == ([], {"created": 0, "updated": 0, "skipped": 3, "failed": 0})


def test_cells_that_spreadsheets_would_calculate_are_guarded(filled):
    row = next(csv.DictReader(io.StringIO(exported(filled, "woocommerce").removeprefix("\ufeff"), newline="")))
    assert (row["Name"], row["SKU"], row["Stock"]) == ("'=Mug", "'-M1", "'-2")
    assert row["Categories"] == "Kitchen &amp; Bath > Cups\\, small"
    assert row["Description"] == "<p>a\\nb \\\\n c</p>"


def test_nothing_of_another_shop_is_in_it(filled):
    for format in ("native", "woocommerce", "shopify"):
        assert "Secret" not in exported(filled, format)
