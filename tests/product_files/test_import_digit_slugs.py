"""Slugs of digits, as books and article numbers have them, stay as they are."""

import pytest

from storefront.catalogue.models import Category, Product
from tests.catalogue.factories import make_category, make_product
from tests.product_files.files import as_lines, exported, imported, woo

SLUGS = ["1129", "007", "9" * 30]
HANDLES = "Handle,Title,Variant SKU,Variant Price\n"


def slugs_of(shop) -> list[str]:
    return list(Product.objects.filter(shop=shop).order_by("pk").values_list("slug", flat=True))


@pytest.mark.parametrize("format", ["native", "woocommerce", "shopify"])
def test_an_export_changes_nothing_and_fills_an_empty_shop_with_the_same(shop, other_shop, tmp_path, format):
    for slug in SLUGS:
        make_product(shop, f"Book {slug}", slug=slug)
    file = exported(shop, format)
    for update in (False, True):
        assert imported(shop, file, tmp_path, update=update).counts()["skipped"] == len(SLUGS)
    assert imported(other_shop, file, tmp_path).created == len(SLUGS)
    assert slugs_of(other_shop) == slugs_of(shop) == SLUGS
    assert imported(other_shop, exported(other_shop, format), tmp_path, update=True).counts()["skipped"] == len(SLUGS)


def test_a_slug_of_a_category_stays(shop, other_shop, tmp_path):
    make_product(shop, "Book", categories=(make_category(shop, "Novels", slug="007"),))
    imported(other_shop, exported(shop), tmp_path)
    assert Category.objects.get(shop=other_shop).slug == "007"


def test_a_name_of_digits_alone_makes_the_slug_that_the_api_makes(shop, tmp_path):
    for row in (woo(name="1984"), woo(id="7", name="1984")):
        imported(shop, [row], tmp_path)
    assert slugs_of(shop)[0] == "product-1984"
    assert imported(shop, [woo(name="1984")], tmp_path, update=True).counts()["skipped"] == 1


def test_a_product_that_got_another_slug_from_the_same_file_before_is_found(shop, other_shop, tmp_path):
    """Such slugs were once changed to `product-1129`."""
    make_product(shop, "Book", slug="product-1129", sku="B")
    make_product(other_shop, "Book", slug="product-1129")
    report = imported(shop, f"{HANDLES}1129,Book,B,7\n", tmp_path, update=True)
    assert (report.created, report.updated, slugs_of(shop)) == (0, 1, ["product-1129"])


def test_a_product_with_nothing_else_in_common_is_another_one(shop, tmp_path):
    make_product(shop, "Vase", slug="product-1129", sku="V")
    report = imported(shop, f"{HANDLES}1129,Book,B,7\n", tmp_path, update=True)
    assert (report.created, slugs_of(shop)) == (1, ["product-1129", "1129"])


def test_both_slugs_of_one_file_are_two_products(shop, tmp_path):
    lines = as_lines(*({"name": "Book", "slug": slug, "price": "5.00"} for slug in ("product-1129", "1129")))
    assert imported(shop, lines, tmp_path).created == 2
    assert imported(shop, lines, tmp_path, update=True).counts()["skipped"] == 2
