"""What a file's columns of prices change in existing products: never more than they state."""

from decimal import Decimal

import pytest

from storefront.catalogue.models import Product
from storefront.product_files.csv_reading import UnreadableFile
from tests.catalogue.factories import make_product
from tests.product_files.files import as_lines, errors, imported, warnings, woo
from tests.shops.factories import NOW

SALE = {"sale_price": "8.00", "sale_until": "2026-12-01T00:00:00Z"}


@pytest.fixture
def reduced(shop, other_shop, tmp_path):
    """At 8.00 instead of 10.00, without dates."""
    for each in (other_shop, shop):
        imported(each, [woo(sku="A", sale_price="8", regular_price="10")], tmp_path)
    return shop


@pytest.fixture
def on_sale(shop, tmp_path):
    """At 8.00 instead of 10.00, until December."""
    imported(shop, as_lines({"name": "Mug", "sku": "A", "price": "10.00", "status": "active", **SALE}), tmp_path)
    return shop


def prices(shop) -> tuple:
    made = Product.objects.get(shop=shop)
    assert made.status == "active"
    return made.price, made.compare_price, made.sale_price


@pytest.mark.parametrize(
    ("content", "expected", "warned"),
    [
        ("SKU,Sale price\nA,\n", (10, 0), "is empty; the sale ends"),
        ("SKU,Sale price\nA,7\n", (7, 10), ""),
        ("SKU,Sale price\nA,12\n", (10, 0), "is not lower than the regular price; ignored; the earlier sale ends"),
        ("SKU,Regular price\nA,11\n", (8, 11), ""),
        ("SKU,Regular price\nA,7\n", (7, 0), "the sale price 8.00 is not lower than the regular price"),
        ("SKU,Regular price\nA,\n", (8, 10), "is empty; an existing product keeps its price"),
        ("SKU,Regular price,Sale price\nA,,\n", (10, 0), "is empty; "),
        ("SKU,Regular price,Sale price\nA,,7\n", (7, 10), "is empty; an existing product keeps its price"),
        ("SKU,Regular price,Sale price\nA,9,\n", (9, 0), "is empty; the sale ends"),
        ("SKU,Regular price,Sale price\nA,0,\n", (0, 0), "is empty; the sale ends"),
        ("SKU,Published,Stock\nA,1,\n", (8, 10), ""),
    ],
)
def test_a_sale_without_dates(reduced, other_shop, tmp_path, content, expected, warned):
    report = imported(reduced, content, tmp_path, update=True)
    assert errors(report) == []
    assert prices(reduced) == (*expected, None)
    said = warnings(report)
    assert bool(said) == bool(warned)
    assert all(warned in text for text in said)
    assert prices(other_shop) == (8, 10, None)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("SKU,Sale price\nA,\n", (10, 0, None)),
        ("SKU,Sale price\nA,7\n", (7, 10, 7)),
        ("SKU,Regular price\nA,11\n", (8, 11, 8)),
        ("SKU,Regular price\nA,7\n", (7, 0, None)),
        ("SKU,Regular price\nA,\n", (8, 10, 8)),
        ("SKU,Regular price,Sale price,Date sale price ends\nA,,7,\n", (7, 10, None)),
        ("SKU,Date sale price ends\nA,2026-12-24\n", (8, 10, 8)),
        ("SKU,Date sale price starts\nA,2026-11-30\n", (10, 0, 8)),
    ],
)
def test_a_sale_with_dates(on_sale, tmp_path, content, expected):
    assert errors(imported(on_sale, content, tmp_path, update=True)) == []
    assert prices(on_sale) == expected


def test_a_compare_price_never_becomes_a_reduction_that_the_file_does_not_state(shop, tmp_path):
    make_product(shop, "Mug", sku="A", price=Decimal(9), compare_price=Decimal(8))
    imported(shop, "SKU,Regular price\nA,10\n", tmp_path, update=True)
    assert prices(shop) == (10, 8, None)
    imported(shop, "SKU,Regular price\nA,7\n", tmp_path, update=True)
    assert prices(shop) == (7, 0, None)


@pytest.mark.parametrize("header", ["SKU,Name,Sale price", "SKU,Name,Regular price,Sale price"])
def test_nothing_is_free_by_a_sale_of_zero(reduced, tmp_path, header):
    row = "A,Mug," + "," * (header.count(",") - 2) + "0\n"
    report = imported(reduced, header + "\n" + row, tmp_path, update=True)
    assert report.failed == 1
    assert "line 2, Sale price: is 0, which would make it free" in errors(report)[0]
    assert prices(reduced) == (8, 10, None)


@pytest.mark.parametrize("update", [False, True])
@pytest.mark.parametrize(
    "content",
    [
        "ID,Name,SKU,Price,Sale Price\n77,Apple,A,12.00,0\n",
        "SKU,Name,Published,Regular price,Price\nA,Apple,1,5,12\n",
        "Artikelnummer,Name,Veröffentlicht,Angebotspreis,Preis (EUR)\nA,Apple,1,5,12\n",
        "Product ID [Non Editable],SKU,Title,Price,Sale Price,On Sale,Stock,Visible\n1,A,Apple,12.00,0.00,No,4,Yes\n",
    ],
)
def test_prices_of_other_programs_are_not_taken_for_woocommerces(reduced, tmp_path, content, update):
    with pytest.raises(UnreadableFile):
        imported(reduced, content, tmp_path, update=update)
    assert prices(reduced) == (8, 10, None)


@pytest.mark.parametrize("update", [False, True])
def test_an_offer_that_cannot_be_read_keeps_the_price(reduced, tmp_path, update):
    content = "id,title,description,link,price,sale price,availability,sku\n1,Apple,x,https://x.example,12 EUR,,x,A\n"
    assert imported(reduced, content, tmp_path, update=update).failed == 1
    assert prices(reduced) == (8, 10, None)


def test_a_file_with_a_foreign_price_is_refused_with_the_column(shop, tmp_path):
    with pytest.raises(UnreadableFile, match="The column Variant Price is none of WooCommerce's, but looks like a"):
        imported(shop, "SKU,Name,Regular price,Variant Price\nA,Mug,1,2\n", tmp_path)


def test_a_product_without_a_price_stays_a_draft_and_is_never_free(shop, tmp_path):
    rows = [woo(sku="A", regular_price="", published="1")]
    assert "imported as a draft" in warnings(imported(shop, rows, tmp_path))[0]
    report = imported(shop, rows, tmp_path, update=True)
    assert (report.skipped, Product.objects.get(shop=shop).status) == (1, "draft")


def test_a_variation_without_a_price_keeps_what_it_is(shop, tmp_path):
    axis = {"Attribute 1 name": "Colour"}
    rows = [
        woo(type="variable", sku="M", regular_price="") | axis | {"Attribute 1 value(s)": "Red, Blue"},
        woo(type="variation", sku="R", parent="M") | axis | {"Attribute 1 value(s)": "Red"},
        woo(type="variation", sku="B", parent="M", regular_price="") | axis | {"Attribute 1 value(s)": "Blue"},
    ]
    imported(shop, rows, tmp_path)
    found = Product.objects.get(shop=shop).variants
    assert list(found.order_by("sku").values_list("price", "is_active")) == [(0, False), (Decimal("9.50"), True)]
    rows[1]["Regular price"] = ""
    imported(shop, rows, tmp_path, update=True)
    assert list(found.order_by("sku").values_list("price", "is_active")) == [(0, False), (Decimal("9.50"), True)]


SHOPIFY = "Handle,Title,Variant Price,Variant Compare At Price,Status,Option1 Name,Option1 Value\n"


def test_an_empty_price_of_shopify_keeps_the_price(shop, tmp_path):
    content = SHOPIFY + "mug,Mug,8,10,active,Title,Default Title\ncup,Cup,8,,active,Colour,Red\ncup,,9,,,,Blue\n"
    imported(shop, content, tmp_path)
    content = SHOPIFY + "mug,Mug,,,active,Title,Default Title\ncup,Cup,,,active,Colour,Red\ncup,,,,,,Blue\n"
    report = imported(shop, content, tmp_path, update=True)
    mug, cup = Product.objects.get(shop=shop, slug="mug"), Product.objects.get(shop=shop, slug="cup")
    assert (mug.price, mug.compare_price, mug.status, cup.price, cup.status) == (8, 0, "active", 8, "active")
    assert list(cup.variants.values_list("price", "is_active")) == [(8, True), (9, True)]
    assert [text.split(";")[0] for text in warnings(report)] == [
        "line 2, Variant Price: is empty",
        "line 2, Variant Compare At Price: becomes 0, since the file has it empty or 0",
    ]


def test_prices_hold_in_lists_after_variations_alone(shop, other_shop, tmp_path):
    axis = {"Attribute 1 name": "Colour"}
    parent = woo(type="variable", sku="M", regular_price="") | axis | {"Attribute 1 value(s)": "Red, Blue"}
    red, blue = (
        woo(type="variation", sku=value[0], parent="M", regular_price=price, sale_price="")
        | axis
        | {"Attribute 1 value(s)": value}
        for value, price in (("Red", "9.50"), ("Blue", "9.90"))
    )
    for each in (shop, other_shop):
        imported(each, [parent, red, blue], tmp_path)
    product = Product.objects.get(shop=shop)
    assert product.price == Decimal("9.50")
    for changed, expected in (
        ([parent, red | {"Regular price": "19.50"}], "9.90"),
        ([blue | {"Regular price": "29.90"}], "19.50"),
        ([blue | {"Regular price": "29.90", "Sale price": "5", "Date sale price ends": "2026-12-01"}], "5.00"),
        ([blue | {"Published": "0", "Regular price": "29.90"}], "19.50"),
        ([parent | {"Regular price": "3"}], "19.50"),
    ):
        assert errors(imported(shop, changed, tmp_path, update=True)) == []
        product.refresh_from_db()
        assert product.price == Decimal(expected)
    assert Product.objects.get(shop=other_shop).price == Decimal("9.50")


def test_a_product_whose_price_is_not_that_of_its_variants_keeps_it_while_these_stay(shop, tmp_path):
    """R-CAT-14: a price of 0.00 where each variant has its own."""
    variants = [{"option_values": {"Colour": "Red"}, "price": "9.50", "stock_qty": 3}]
    imported(shop, as_lines({"name": "Mug", "price": "0.00", "variants": variants}), tmp_path)
    variants[0]["stock_qty"] = 4
    imported(shop, as_lines({"name": "Mug", "slug": "mug", "variants": variants}), tmp_path, update=True, now=NOW)
    assert Product.objects.get(shop=shop).price == 0
    variants[0]["price"] = "7.00"
    imported(shop, as_lines({"name": "Mug", "slug": "mug", "variants": variants}), tmp_path, update=True)
    assert Product.objects.get(shop=shop).price == 7
