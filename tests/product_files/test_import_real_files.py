"""Imports of files that real shops exported. Without ../shared/data, these tests are skipped."""

from collections import Counter
from decimal import Decimal

import pytest

from storefront.catalogue.models import Category, Media, Product, ProductSearch, Variant
from storefront.product_files.csv_reading import UnreadableFile
from storefront.product_files.importing import import_products
from tests.product_files.files import real_file, warnings
from tests.shops.factories import NOW

pytestmark = [pytest.mark.any_database, pytest.mark.proof]


def run(shop, name: str, **given):
    return import_products(shop=shop, file=real_file(name), now=NOW, **given)


def test_woocommerces_sample_file(shop):
    report = run(shop, "woocommerce-sample.csv")
    assert report.counts() == {"created": 18, "updated": 0, "skipped": 0, "failed": 0, "conflicts": 0}
    found = [(problem.line, problem.column) for problem in report.problems]
    assert found == [
        (2, "Meta: _wpcom_is_markdown"),
        (14, "Download 1 name"), (14, "Download 1 URL"), (14, "Download 2 name"), (14, "Download 2 URL"),
        (24, "Grouped products"), (25, "External URL"), (25, "Button text"),
        (24, "Type"), (25, "Type"),
    ]  # fmt: skip
    neck = Product.objects.get(shop=shop, sku="woo-vneck-tee")
    # These variations fit any size.
    assert [(variant.option_values, variant.price) for variant in neck.variants.all()] == [
        ({"Color": "Red"}, 20), ({"Color": "Green"}, 20), ({"Color": "Blue"}, 15),
    ]  # fmt: skip
    assert neck.weight == Decimal("0.227")
    assert (neck.media.count(), neck.variants.first().image) == (3, neck.media.first())
    beanie = Product.objects.get(shop=shop, sku="woo-beanie")
    assert (beanie.price, beanie.compare_price) == (18, 20)
    assert Product.objects.get(shop=shop, sku="woo-hoodie-with-pocket").exclude_from_catalog
    assert Product.objects.get(shop=shop, sku="woo-album").type == "digital"
    assert Variant.objects.filter(shop=shop).count() == 7
    assert sorted(Category.objects.filter(shop=shop).values_list("name", flat=True)) == [
        "Accessories", "Clothing", "Decor", "Hoodies", "Music", "Tshirts",
    ]  # fmt: skip
    assert run(shop, "woocommerce-sample.csv", update=True).counts()["skipped"] == 18


def test_a_classic_shopify_export(shop):
    report = run(shop, "shopify-packt.csv")
    assert report.counts() == {"created": 20, "updated": 0, "skipped": 0, "failed": 0, "conflicts": 0}
    assert report.problems == []
    lamp = Product.objects.get(shop=shop, slug="floor-lamp")
    assert (lamp.price, lamp.compare_price, lamp.brand.name, lamp.tags) == (
        Decimal("69.99"), 85, "Company 123", ["Black", "Lamp"],
    )  # fmt: skip
    assert run(shop, "shopify-packt.csv", update=True).counts()["skipped"] == 20


def test_a_shopify_file_with_headers_in_another_case(shop):
    report = run(shop, "shopify-gatsby-demo.csv")
    # Two products of this file have the same handle.
    assert report.counts() == {"created": 99, "updated": 0, "skipped": 0, "failed": 0, "conflicts": 0}
    assert "line 170, Handle: is already on line 20; this product was skipped" in warnings(report)
    assert {problem.column for problem in report.problems if not problem.column.startswith("Google shopping ")} == {
        "Handle", "Variant fullfilment service",
    }  # fmt: skip
    assert Variant.objects.filter(shop=shop).count() == 297
    assert Media.objects.filter(shop=shop).count() == 99
    assert run(shop, "shopify-gatsby-demo.csv", update=True).counts()["skipped"] == 99


def test_a_file_of_another_program_is_refused(shop):
    with pytest.raises(UnreadableFile, match="It begins: slug, sku, name"):
        run(shop, "spree-products.csv")


# With real transactions: in a transaction around the whole test, SQLite would keep what it might roll back in
# memory, and scan it at each statement.
@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(600)
def test_a_file_of_92_thousand_groceries(shop, other_shop):
    report = run(shop, "grocery-92k-woocommerce.csv")
    assert report.counts() == {"created": 92331, "updated": 0, "skipped": 0, "failed": 0, "conflicts": 0}
    products = Product.objects.filter(shop=shop)
    assert Counter(products.values_list("status", flat=True)) == {"active": 68189, "draft": 24142}
    assert products.filter(price=0, status="draft").count() == 24142
    assert ProductSearch.objects.filter(shop=shop).count() == products.values("slug").distinct().count() == 92331
    bounds = [bound for pair in Category.objects.filter(shop=shop).values_list("lft", "rgt") for bound in pair]
    assert sorted(bounds) == list(range(1, len(bounds) + 1))
    assert not Product.objects.filter(shop=other_shop).exists()
    assert run(shop, "grocery-92k-woocommerce.csv").counts()["skipped"] == 92331
