"""An export says what its format cannot hold, and of how many products."""

import io
from collections import Counter

import pytest

from storefront.catalogue.models import BundleItem, Option, Product, Vendor
from storefront.product_files.exporting import export_products
from storefront.product_files.losses import sentences
from storefront.product_files.translated_columns import NOT_HELD
from storefront.shops.models import AuditEntry
from tests.catalogue.factories import make_category, make_media, make_product, make_variant
from tests.shops.factories import NOW

URL = "https://a.example.com/1.jpg"


def lost(shop, format: str) -> dict[str, int]:
    found: Counter[str] = Counter()
    export_products(shop=shop, format=format, out=io.StringIO(), lost=found)
    return dict(found)


@pytest.fixture
def plain(shop, other_shop):
    """A product that every format holds, and a second shop with one that none holds."""
    make_product(other_shop, "Theirs", is_gift_card=True, translations={"de": {"name": "X"}}, noindex=True)
    product = make_product(shop, "Plain", brand=shop.brands.create(name="Loom"), tags=["a"], weight=1)
    make_media(product, URL)
    return product


@pytest.mark.parametrize("format", ["woocommerce", "shopify", "native"])
def test_nothing_is_said_of_products_that_the_format_holds(shop, plain, format):
    assert lost(shop, format) == {}


BOTH = {
    NOT_HELD: {"translations": {"de": {"name": "Becher"}}},
    "Publish on": {"publish_at": NOW},
    "Hide from search engines": {"noindex": True},
    "Mark as new": {"is_new": True},
    "Billing interval": {"billing_interval": "month"},
    "Damaged units": {"damaged_qty": 1},
    "Picture for social media": {"og_image_url": URL},
}
WOOCOMMERCE = {
    "Gift card": {"is_gift_card": True},
    "That it is archived: it becomes a draft": {"status": "archived"},
    "Tax code for a tax service": {"tic_code": "20010"},
    "Keys of metafields": {"attributes": [{"name": "A", "values": ["a"], "metafield": "custom.a"}]},
    "Previous prices that are not higher than the price": {"price": 5, "compare_price": 4},
}
SHOPIFY = {
    "Short description": {"short_description": "Small"},
    "Sale price": {"sale_price": 1, "sale_until": NOW},
    "Position in lists": {"sort_order": 3},
    "Length": {"length": 2, "dimension_unit": "cm"},
    "That it is a digital product": {"type": "digital"},
    "That it is hidden from product lists, while it is no active product": {
        "status": "draft",
        "exclude_from_catalog": True,
    },
}
CASES = [(format, *each) for format in ("woocommerce", "shopify") for each in BOTH.items()]
CASES += [("woocommerce", *each) for each in WOOCOMMERCE.items()] + [("shopify", *each) for each in SHOPIFY.items()]


@pytest.mark.parametrize(("format", "kind", "given"), CASES)
def test_a_value_without_a_column_is_counted(shop, plain, format, kind, given):
    make_product(shop, "Mug", **{"compare_price": 0, **given})
    assert lost(shop, format) == {kind: 1}
    assert lost(shop, "native") == {}


def test_rows_of_a_product_are_counted_once_for_each(shop, plain):
    bundle = make_product(shop, "Set", type=Product.Type.BUNDLE, vendor=Vendor.objects.create(shop=shop, name="V"))
    for number in (1, 2):
        make_media(bundle, f"{URL}?{number}", alt="Front")
        BundleItem.objects.create(shop=shop, bundle=bundle, product=plain, qty=number)
        Option.objects.create(shop=shop, product=bundle, name=f"Text {number}")
    expected = {"Supplier": 1, "Items of bundles": 1, "Options with prices": 1}
    assert lost(shop, "shopify") == expected
    assert lost(shop, "woocommerce") == expected | {"Description for those who cannot see it": 1}


def test_what_shopify_has_no_place_for_around_variants_and_categories(shop):
    kitchen = make_category(shop, "Kitchen")
    cups, home = make_category(shop, "Cups", kitchen), make_category(shop, "Home")
    shirt = make_product(
        shop, "Shirt", type="variable", sku="S", categories=(cups, home, make_category(shop, "X", home))
    )
    shirt.attributes = [{"name": "Colour", "values": ["Blue", "Red"], "variation": True}]
    shirt.default_variant = make_variant(shirt, "Blue", is_active=False)
    shirt.save()
    assert lost(shop, "shopify") == {
        "Categories beyond one path and one type": 1,
        "For sale, of variants": 1,
        "SKU and barcode of a product with variants": 1,
        "Values of options that no variant has": 1,
        "Variant selected at first": 1,
    }
    assert lost(shop, "woocommerce") == {}


def test_the_admin_says_it_on_the_next_page_and_in_the_audit_log(desk, shop, other_shop):
    make_product(other_shop, "Theirs", noindex=True)
    make_product(shop, "Mug", is_gift_card=True)
    make_product(shop, "Jug", is_gift_card=True)
    answer = desk.get("/admin/catalogue/productimport/export/woocommerce/")
    assert b"has no place" not in b"".join(answer.streaming_content)
    after = AuditEntry.objects.get(action="products.exported").after
    assert after == {"format": "woocommerce", "products": 2, "not_held": {"Gift card": 2}}
    (sentence,) = sentences("woocommerce", Counter(after["not_held"]))
    assert sentence == "Not in the file, because WooCommerce has no place for it: Gift card (2 products)."
    assert sentence in desk.get("/admin/catalogue/productimport/").content.decode()
