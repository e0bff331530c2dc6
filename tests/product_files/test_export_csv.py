"""Products exported as WooCommerce's or Shopify's CSV can be imported again without changes."""

import csv
import io
import re
from decimal import Decimal

import pytest

from storefront.catalogue.models import Product
from storefront.listing import queries
from storefront.product_files import exporting
from storefront.product_files.exporting import export_products
from tests.catalogue.factories import make_category, make_media, make_product, make_variant
from tests.product_files.files import exported, imported
from tests.shops.factories import NOW


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
def test_an_exported_file_imports_as_the_same_products(filled, other_shop, tmp_path, format):
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
def test_importing_a_shops_own_export_changes_nothing(filled, tmp_path, format):
    report = imported(filled, exported(filled, format), tmp_path, update=True)
    assert (report.changes, report.counts()) == (
        [],
        {"created": 0, "updated": 0, "skipped": 3, "failed": 0, "conflicts": 0},
    )


def first_row(shop, format: str) -> dict[str, str]:
    return next(csv.DictReader(io.StringIO(exported(shop, format).removeprefix("\ufeff"), newline="")))


@pytest.mark.parametrize("format", ["woocommerce", "shopify"])
def test_a_product_none_of_whose_variants_sells_keeps_its_price(shop, other_shop, tmp_path, format):
    cup = make_product(shop, "Cup", price=Decimal("3.00"), track_inventory=False, stock_qty=0)
    cup.attributes = [{"name": "Colour", "values": ["Blue"], "variation": True}]
    cup.save()
    make_variant(cup, "Blue", price=Decimal("3.00"), is_active=False)
    imported(other_shop, exported(shop, format), tmp_path)
    assert Product.objects.get(shop=other_shop).price == 3


def test_values_like_formulas_are_guarded_and_numbers_are_not(filled):
    row = first_row(filled, "shopify")
    assert (row["Title"], row["Variant SKU"], row["Variant Inventory Qty"]) == ("'=Mug", "'-M1", "-2")
    row = first_row(filled, "woocommerce")
    assert (row["Name"], row["SKU"], row["Stock"]) == ("'=Mug", "'-M1", "-2")
    assert row["Categories"] == "Kitchen &amp; Bath > Cups\\, small"
    assert row["Description"] == "<p>a\\nb \\\\n c</p>"


def test_exports_nothing_of_another_shop(filled):
    for format in ("native", "woocommerce", "shopify"):
        assert "Secret" not in exported(filled, format)


NASTY = [
    "=1+1",
    "+49 30",
    "-x",
    "@me",
    "'=1",
    "''=1",
    "'-",
    "'quoted'",
    "'0049",
    "-2",
    "+1.50",
    "＝1",
    "-",
    "'",
    "0049",
]


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("format", ["woocommerce", "shopify"])
def test_a_text_with_any_beginning_survives_export_and_import(shop, other_shop, tmp_path, format, text):
    given = {"description": text, "sku": text, "barcode": text, "tags": [text], "slug": "cup"}
    product = make_product(shop, text, **given)
    product.brand = shop.brands.create(name=text)
    product.save()
    file = exported(shop, format)
    for row in csv.reader(io.StringIO(file.removeprefix("\ufeff"), newline="")):
        assert not [cell for cell in row if re.match(r"[=+\-@＝]", cell) and not re.fullmatch(r"[+-]?[0-9.]+", cell)]
    assert imported(other_shop, file, tmp_path).problems == []
    found = Product.objects.get(shop=other_shop)
    assert (found.name, found.brand.name) == (text, text)
    assert {name: getattr(found, name) for name in given} == given


@pytest.mark.parametrize(
    ("format", "status"), [("native", "archived"), ("woocommerce", "draft"), ("shopify", "archived")]
)
def test_exports_archived_products_and_no_deleted_ones(shop, other_shop, tmp_path, format, status):
    make_product(shop, "Mug")
    make_product(shop, "Gone", deleted_at=NOW)
    make_product(shop, "Old", status="archived")
    make_product(other_shop, "Secret")
    progress: list[tuple[int, int]] = []
    out = io.StringIO(newline="")
    count = export_products(shop=shop, format=format, out=out, progress=lambda *how: progress.append(how))
    assert (count, progress[-1]) == (2, (2, 2))
    Product.objects.all().delete()
    imported(shop, out.getvalue(), tmp_path)
    # WooCommerce has no archived products.
    assert dict(Product.objects.values_list("name", "status")) == {"Mug": "active", "Old": status}


def test_the_progress_counts_no_deleted_products(shop, other_shop, monkeypatch):
    monkeypatch.setattr(exporting, "CHUNK_PRODUCTS", 1)
    make_product(shop, "Mug")
    make_product(shop, "Gone", deleted_at=NOW)
    make_product(other_shop, "Secret")
    progress: list[tuple[int, int]] = []
    export_products(shop=shop, format="native", out=io.StringIO(), progress=lambda *how: progress.append(how))
    assert progress == [(1, 1), (1, 1)]
