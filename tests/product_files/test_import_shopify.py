from decimal import Decimal

import pytest

from storefront.catalogue.models import Product
from storefront.product_files.csv_reading import UnreadableFile
from tests.product_files.files import errors, imported, warnings


def row(handle: str = "shirt", **given: str) -> dict[str, str]:
    """A row with the classic headers."""
    titles = {
        "title": "Title", "status": "Status", "published": "Published", "price": "Variant Price", "sku": "Variant SKU",
        "option": "Option1 Name", "value": "Option1 Value", "image": "Image Src", "position": "Image Position",
        "alt": "Image Alt Text", "variant_image": "Variant Image", "qty": "Variant Inventory Qty",
        "tracker": "Variant Inventory Tracker", "policy": "Variant Inventory Policy",
        "compare": "Variant Compare At Price",
        "grams": "Variant Grams", "category": "Product Category", "type": "Type", "vendor": "Vendor", "tags": "Tags",
        "body": "Body (HTML)",
    }  # fmt: skip
    made = dict.fromkeys(titles.values(), "") | {"Handle": handle}
    return made | {titles[name]: value for name, value in given.items()}


def simple(handle: str = "mug", **given: str) -> dict[str, str]:
    return row(handle, **{"title": "Mug", "option": "Title", "value": "Default Title", "price": "9.5", **given})


def product(shop, slug: str = "shirt") -> Product:
    return Product.objects.get(shop=shop, slug=slug)


def test_rows_of_one_handle_are_one_product(shop, other_shop, tmp_path):
    rows = [
        row(title="Shirt", body="<p>Soft</p>", vendor="Loom", category="Clothing > Shirts", type="Tops", tags="a, b",
            option="Colour", value="Blue", price="12.00", compare="12", sku="'007", grams="250",
            tracker="shopify", qty="3", image="https://a.example.com/2.jpg?v=1", position="2", alt="Back",
            variant_image="https://a.example.com/blue.jpg"),
        row(value="Red", price="11", qty="-1", tracker="shopify", position="1",
            image="https://a.example.com/1.jpg?v=1"),
        row(image="https://a.example.com/3.jpg", position="3"),
    ]  # fmt: skip
    report = imported(shop, rows, tmp_path)

    assert (report.created, errors(report)) == (1, [])
    made = product(shop)
    assert (made.name, made.type, made.status, made.price) == ("Shirt", "variable", "active", 11)
    assert (made.brand.name, made.tags, made.description) == ("Loom", ["a", "b"], "<p>Soft</p>")
    assert sorted(category.name for category in made.categories.all()) == ["Shirts", "Tops"]
    pictures = [media.source_url.rsplit("/", 1)[1] for media in made.media.all()]
    assert pictures == ["1.jpg?v=1", "2.jpg?v=1", "3.jpg", "blue.jpg"]
    blue, red = made.variants.all()
    assert (blue.option_values, blue.price, blue.compare_price, blue.sku) == ({"Colour": "Blue"}, 12, 12, "007")
    assert (blue.weight, blue.stock_qty, blue.image.source_url) == (
        Decimal("0.250"),
        3,
        "https://a.example.com/blue.jpg",
    )
    # The picture on a variant's row is the product's next one, not the variant's.
    assert (red.image, red.stock_qty) == (None, 0)
    assert warnings(report) == [
        "line 3, Variant Inventory Qty: stock -1 was imported as 0, because backorders are not allowed"
    ]
    assert made.attributes == [{"name": "Colour", "values": ["Blue", "Red"], "variation": True}]
    assert not Product.objects.filter(shop=other_shop).exists()


def test_the_new_headers_in_any_order_and_case(shop, tmp_path):
    new = {
        "Price": "9.50", "url HANDLE": "mug", "Title": "Mug", "Published on online store": "TRUE", "Status": "Active",
        "SKU": "M1", "Barcode": "0049", "Option1 name": "Title", "Option1 value": "Default Title", "Description": "Tea",
        "Continue selling when out of stock": "TRUE", "Inventory tracker": "shopify", "Inventory quantity": "-2",
        "Weight value (grams)": "1043.262451", "Compare-at price": "12", "Charge tax": "FALSE", "Gift card": "false",
        "Product image URL": "https://a.example.com/1.jpg", "SEO title": "A mug", "Cost per item": "3.20",
        "Label (variant.metafields.custom.x)": "y",
    }  # fmt: skip
    report = imported(shop, [new], tmp_path)

    assert (report.created, errors(report)) == (1, [])
    lost = "line 2, Label (variant.metafields.custom.x): is not imported; this is the first row with a value"
    assert warnings(report) == [lost]
    made = product(shop, "mug")
    assert (made.type, made.sku, made.barcode, made.price, made.compare_price) == (
        "simple",
        "M1",
        "0049",
        Decimal("9.5"),
        12,
    )
    assert (made.allow_backorders, made.track_inventory, made.stock_qty, made.is_taxable) == (True, True, -2, False)
    assert (made.weight, made.meta_title, made.cost_price) == (Decimal("1.043"), "A mug", Decimal("3.20"))


@pytest.mark.parametrize(
    ("status", "published", "expected"),
    [
        ("active", "true", "active"),
        ("Active", "", "active"),
        ("", "", "active"),
        ("active", "FALSE", "draft"),
        ("draft", "true", "draft"),
        ("archived", "true", "archived"),
        ("unlisted", "true", "active"),
        ("unlisted", "FALSE", "draft"),
    ],
)
def test_only_what_is_active_and_published_is_active(shop, tmp_path, status, published, expected):
    imported(shop, [simple(status=status, published=published)], tmp_path)
    assert product(shop, "mug").status == expected


def test_rows_of_one_handle_can_be_separate_or_lack_the_handle(shop, tmp_path):
    rows = [
        row(title="Shirt", option="Colour", value="Blue", price="1"),
        row("", value="Red", price="2"),
        simple(),
        row(value="Green", price="3"),
    ]
    report = imported(shop, rows, tmp_path)
    assert (report.created, report.problems) == (2, [])
    assert [variant.name for variant in product(shop).variants.all()] == ["Blue", "Red", "Green"]


@pytest.mark.parametrize(
    ("handle", "slug"), [("café-τσάι", "café-τσάι"), ("tea & co/1", "tea-co1"), ("123", "123"), ("007", "007")]
)
def test_handles_of_any_script(shop, tmp_path, handle, slug):
    imported(shop, [simple(handle)], tmp_path)
    assert product(shop, slug)
    # The product is found again.
    assert imported(shop, [simple(handle)], tmp_path).skipped == 1


def test_skus_can_repeat_and_be_blank(shop, tmp_path):
    report = imported(shop, [simple(f"mug-{n}", sku=sku) for n, sku in enumerate(["A", "A", "", ""])], tmp_path)
    assert report.created == 4


def test_two_variants_with_the_same_options_fail_the_product(shop, tmp_path):
    rows = [row(title="Shirt", option="Colour", value="Blue", price="1"), row(value="Blue", price="2"), simple()]
    report = imported(shop, rows, tmp_path)
    assert (report.created, report.failed) == (1, 1)
    assert errors(report) == ["line 3, Option1 Value: has the same options as the variant on line 2"]


def test_a_second_product_with_the_same_handle_is_skipped(shop, tmp_path):
    first = [row(title="Shirt", option="Colour", value="Blue", price="1"), row(value="Red", price="1")]
    second = [row(title="Shirt", option="Colour", value="Blue", price="9"), row(value="Green", price="9")]
    report = imported(shop, first + second, tmp_path)
    assert (report.created, report.failed) == (1, 0)
    assert warnings(report) == ["line 4, Handle: is already on line 2; this product was skipped"]
    assert product(shop).variants.count() == 2


def test_products_and_variants_without_a_price_are_not_active(shop, tmp_path):
    rows = [row(title="Shirt", option="Colour", value="Blue", price=""), row(value="Red", price="0"), simple(price="")]
    report = imported(shop, rows, tmp_path)
    assert [(variant.name, variant.is_active) for variant in product(shop).variants.all()] == [
        ("Blue", False),
        ("Red", True),
    ]
    assert product(shop, "mug").status == "draft"
    assert len(warnings(report)) == 2


def test_variants_are_not_changed_without_their_option_columns(shop, tmp_path):
    imported(shop, [row(title="Shirt", option="Colour", value="Blue", price="1")], tmp_path)
    report = imported(shop, "Handle,Title,Variant Price\nshirt,Shirt,5\n", tmp_path, update=True)
    assert (report.updated, report.failed) == (0, 1)
    assert "the product has variants, which need the columns Option1 Name and Option1 Value" in errors(report)[0]
    assert product(shop).variants.get().price == 1


@pytest.mark.parametrize(
    ("cell", "allowed"),
    [("DENY", False), ("CONTINUE", True), ("continue", True), ("TRUE", True), ("false", False), ("", False)],
)
def test_continue_selling_holds_either_words_or_true_and_false(shop, tmp_path, cell, allowed):
    rows = [simple() | {"Continue selling when out of stock": cell}]
    del rows[0]["Variant Inventory Policy"]
    assert errors(imported(shop, rows, tmp_path)) == []
    assert product(shop, "mug").allow_backorders is allowed


def test_another_word_for_continue_selling_is_an_error(shop, tmp_path):
    rows = [simple() | {"Continue selling when out of stock": "maybe"}]
    del rows[0]["Variant Inventory Policy"]
    expected = "line 2, Continue selling when out of stock: expected 1 or 0, or true or false, found 'maybe'"
    assert errors(imported(shop, rows, tmp_path)) == [expected]


def test_the_standardized_type_is_the_category(shop, tmp_path):
    rows = [simple() | {"Standardized Product Type": "Home > Mugs"}]
    del rows[0]["Product Category"]
    assert imported(shop, rows, tmp_path).problems == []
    assert product(shop, "mug").categories.get().parent.name == "Home"


INVENTORY = (
    "Handle,Title,Option1 Name,Option1 Value,SKU,HS Code,COO,Location,Incoming (not editable),"
    "Available (not editable),On hand (new)\n"
)


@pytest.mark.parametrize("update", [False, True])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (INVENTORY + "mug,Mug,Title,Default Title,M1,,,Shop,0,5,\n" * 240, "This is Shopify's export of inventory"),
        ("First Name,Last Name,Email,Tags,Note\n" + "A,B,a@example.com,,\n" * 240, "does not match a supported"),
    ],
)
def test_other_exports_of_shopify_are_refused_once(shop, tmp_path, content, reason, update):
    with pytest.raises(UnreadableFile, match=reason):
        imported(shop, content, tmp_path, update=update)


def test_a_file_that_can_create_nothing_is_refused_once_unless_it_updates(shop, other_shop, tmp_path):
    content = "Handle,Title,Tags\n" + "".join(f"mug-{n},Mug,new\n" for n in range(240))
    with pytest.raises(UnreadableFile, match=r"has no column Variant Price \(or Price\), which new products need"):
        imported(shop, content, tmp_path)
    imported(shop, [simple("mug-7")], tmp_path)
    imported(other_shop, [simple("mug-8")], tmp_path)
    report = imported(shop, content, tmp_path, update=True)
    assert (report.updated, report.failed) == (1, 239)
    assert product(shop, "mug-7").tags == ["new"]
    assert Product.objects.get(shop=other_shop).tags == []
