"""Squarespace's CSV of products."""

from decimal import Decimal

from storefront.catalogue.models import Product
from tests.product_files.files import as_csv, errors, imported, warnings

EMPTY = dict.fromkeys(
    [
        *("Product ID [Non Editable]", "Variant ID [Non Editable]", "Product Type [Non Editable]", "Product Page"),
        *("Product URL", "Title", "Description", "SKU", "Option Name 1", "Option Value 1", "Option Name 2"),
        *("Option Value 2", "Price", "Sale Price", "On Sale", "Stock", "Categories", "Tags", "Weight", "Length"),
        *("Width", "Height", "Visible", "Hosted Image URLs"),
    ],
    "",
)


def row(**given: str) -> dict[str, str]:
    names = {name.split(" [")[0].lower().replace(" ", "_"): name for name in EMPTY}
    return EMPTY | {names[name]: value for name, value in given.items()}


MUG = row(
    product_id="5f1", variant_id="v1", product_type="PHYSICAL", product_page="shop", product_url="blue-mug",
    title="Blue mug", description="<p>Blue</p>", sku="M-1", price="12.00", sale_price="9.50", on_sale="Yes", stock="4",
    categories="Cups, /Kitchen/Mugs", tags="blue, new", weight="0.0", visible="Yes",
    hosted_image_urls="https://a.example.com/1.jpg https://a.example.com/2.jpg",
)  # fmt: skip
TEE = [
    row(
        product_id="5f2", product_type="PHYSICAL", product_url="tee", title="Tee", sku="T-S", option_name_1="Size",
        option_value_1="S", price="20.00", sale_price="0.00", on_sale="No", stock="Unlimited", visible="No",
    ),
    row(sku="T-M", option_name_1="Size", option_value_1="M", price="22.00", sale_price="0.00", on_sale="No", stock="2"),
]  # fmt: skip


def test_a_row_is_a_product_on_sale_with_its_pictures_and_categories(shop, tmp_path):
    report = imported(shop, [MUG], tmp_path)
    assert (report.created, report.problems) == (1, [])
    mug = Product.objects.get(shop=shop)
    assert (mug.name, mug.slug, mug.sku, mug.status, mug.type) == ("Blue mug", "blue-mug", "M-1", "active", "simple")
    assert (mug.price, mug.compare_price, mug.stock_qty, mug.track_inventory) == (Decimal("9.5"), 12, 4, True)
    assert (mug.description, mug.tags) == ("<p>Blue</p>", ["blue", "new"])
    assert [each.source_url[-5:] for each in mug.media.all()] == ["1.jpg", "2.jpg"]
    assert sorted(each.name for each in mug.categories.all()) == ["Cups", "Mugs"]


def test_rows_without_a_title_are_variants(shop, tmp_path):
    assert imported(shop, [*TEE, MUG], tmp_path).created == 2
    tee = Product.objects.get(shop=shop, slug="tee")
    assert (tee.type, tee.status, tee.price) == ("variable", "draft", 20)
    found = [(each.sku, each.option_values, each.price, each.track_inventory) for each in tee.variants.all()]
    assert found == [("T-S", {"Size": "S"}, 20, False), ("T-M", {"Size": "M"}, 22, True)]


def test_a_second_import_changes_nothing(shop, tmp_path):
    imported(shop, [MUG, *TEE], tmp_path)
    report = imported(shop, [MUG, *TEE], tmp_path, update=True)
    assert (report.skipped, report.updated, report.changes) == (2, 0, [])


def test_a_price_that_is_not_one_refuses_the_whole_product(shop, tmp_path):
    report = imported(shop, [TEE[0], TEE[1] | {"Price": "soon"}, MUG], tmp_path)
    assert errors(report) == ["line 3, Price: expected a number, found 'soon'"]
    assert [each.slug for each in Product.objects.filter(shop=shop)] == ["blue-mug"]


def test_a_row_that_cannot_be_read_refuses_the_product_that_it_may_belong_to(shop, tmp_path):
    text = as_csv([MUG, *TEE]).splitlines(keepends=True)
    text.insert(3, "a,b,c," * 20 + "\n")
    report = imported(shop, "".join(text), tmp_path)
    assert [each.slug for each in Product.objects.filter(shop=shop)] == ["blue-mug"]
    assert len(errors(report)) == 3


def test_what_is_not_carried_is_reported_once(shop, tmp_path):
    report = imported(shop, [MUG | {"Weight": "0.5"}, TEE[0] | {"Weight": "0.2"}], tmp_path)
    assert warnings(report) == ["line 2, Weight: is not imported; this is the first row with a value"]
