"""BigCommerce's CSV of products, as its current and its older export write it."""

from decimal import Decimal

import pytest

from storefront.catalogue.models import Product
from tests.product_files.files import errors, header, imported, warnings

V3 = header(
    "Item,ID,Name,Type,SKU,Options,Inventory Tracking,Current Stock,Low Stock,Price,Cost Price,Retail Price,"
    "Sale Price,Brand ID,Categories,Description,Page Title,Product URL,UPC/EAN,Weight,Is Visible,Is Featured,"
    "Sort Order,Variant Image URL,Internal Image URL (Export),Image URL (Import),Image Description,"
    "Image is Thumbnail,Image Sort Order,YouTube ID"
)
V2 = header(
    "Item Type,Product ID,Product Name,Product Type,Product Code/SKU,Brand Name,Product Description,Price,"
    "Cost Price,Retail Price,Sale Price,Product Weight,Allow Purchases?,Product Visible?,Track Inventory,"
    "Current Stock Level,Low Stock Level,Category,Product Image ID - 1,Product Image URL - 1,Page Title,"
    "Product UPC/EAN,Product URL,Sort Order,Stop Processing Rules"
)


def v3(**given: str) -> dict[str, str]:
    names = {name.lower().replace(" ", "_").replace("/", "_"): name for name in V3}
    return dict.fromkeys(V3, "") | {names.get(name, name): value for name, value in given.items()}


def v2(**given: str) -> dict[str, str]:
    names = {"item": "Item Type", "sku": "Product Code/SKU", "name": "Product Name", "stock": "Current Stock Level"}
    names |= {name.lower().replace(" ", "_").rstrip("?"): name for name in V2}
    return dict.fromkeys(V2, "") | {names.get(name, name): value for name, value in given.items()}


MUG = [
    v3(
        item="Product", id="7", name="Mug", type="physical", sku="M-1", inventory_tracking="product", current_stock="5",
        low_stock="2", price="12.00", cost_price="4.00", retail_price="15.00", description="<p>Blue</p>",
        page_title="A mug", product_url="/mug/", upc_ean="4006381333931", is_visible="TRUE", is_featured="TRUE",
        sort_order="3", weight="0.0000",
    ),
    v3(item="Image", image_sort_order="1", image_description="Behind") | {V3[24]: "https://a.example.com/2.jpg"},
    v3(item="Image", image_sort_order="0") | {V3[24]: "https://a.example.com/1.jpg"},
]  # fmt: skip
TEE = [
    v3(item="Product", name="Tee", type="physical", sku="T", inventory_tracking="variant", price="20.00",
       product_url="/tee/", is_visible="FALSE"),
    v3(item="Variant", sku="T-S", current_stock="1", variant_image_url="https://a.example.com/s.jpg",
       options="Type=Swatch|Name=Colour|Value=Red[#ff0000]Type=Rectangle|Name=Size|Value=S"),
    v3(item="Variant", sku="T-M", current_stock="0", price="22.00",
       options="Type=Swatch|Name=Colour|Value=Red[#ff0000]|Type=Rectangle|Name=Size|Value=M"),
]  # fmt: skip
OLD_TEE = [
    v2(item="Product", name="Tee", product_type="P", sku="T", brand_name="Acme", price="20.00", product_visible="Y",
       allow_purchases="Y", track_inventory="by option", category="Shirts/Short;New", product_url="/tee/",
       product_description="<p>Soft</p>", page_title="A tee", **{V2[19]: "https://a.example.com/1.jpg"}),
    v2(item="  SKU", name="[CS]Colour=Red:#ff0000,[RT]Size=S", sku="T-S", stock="3"),
    v2(item="  SKU", name="[CS]Colour=Red:#ff0000,[RT]Size=M", sku="T-M", stock="0"),
    v2(item="  SKU", name="[CS]Colour=Blue:#0000ff,[RT]Size=M", sku="T-B", stock="1"),
    v2(item="  Rule", name="[RT]Size=M", price="[ADD]2.50"),
    v2(item="  Rule", sku="T-B", price="[FIXED]9.00", allow_purchases="N"),
]  # fmt: skip


def variants(shop) -> list[tuple]:
    found = Product.objects.get(shop=shop).variants.all()
    return [(each.sku, each.option_values, each.price, each.stock_qty, each.is_active) for each in found]


def test_v3_a_product_with_pictures_in_their_order(shop, tmp_path):
    report = imported(shop, MUG, tmp_path)
    assert (report.created, report.problems) == (1, [])
    mug = Product.objects.get(shop=shop)
    assert (mug.name, mug.slug, mug.sku, mug.barcode) == ("Mug", "mug", "M-1", "4006381333931")
    assert (mug.price, mug.compare_price, mug.cost_price, mug.stock_qty) == (12, 15, 4, 5)
    assert (mug.status, mug.is_featured, mug.sort_order, mug.low_stock_threshold) == ("active", True, 3, 2)
    assert [(each.source_url[-5:], each.alt) for each in mug.media.all()] == [("1.jpg", ""), ("2.jpg", "Behind")]


def test_v3_variants_have_their_options_and_the_price_of_the_product(shop, tmp_path):
    assert errors(imported(shop, TEE, tmp_path)) == []
    assert variants(shop) == [
        ("T-S", {"Colour": "Red", "Size": "S"}, 20, 1, True),
        ("T-M", {"Colour": "Red", "Size": "M"}, 22, 0, True),
    ]
    assert Product.objects.get(shop=shop).status == "draft"


def test_v3_an_export_of_chosen_columns_has_a_product_in_each_row(shop, tmp_path):
    chosen = ("Name", "SKU", "Inventory Tracking", "Current Stock", "Price", "Sale Price", "Is Visible")
    rows = [{name: each[name] for name in chosen} for each in (MUG[0], MUG[0] | {"Name": "Cup", "SKU": "C"})]
    assert imported(shop, rows, tmp_path).created == 2
    assert list(Product.objects.values_list("sku", "price").order_by("sku")) == [("C", 12), ("M-1", 12)]


def test_v3_a_sale_price_is_the_price_and_the_regular_one_the_compare_price(shop, tmp_path):
    imported(shop, [MUG[0] | {"Sale Price": "9.50"}], tmp_path)
    assert Product.objects.values_list("price", "compare_price").get(shop=shop) == (Decimal("9.5"), 12)


def test_v3_a_variant_whose_sale_price_is_unclear_is_refused(shop, tmp_path):
    report = imported(shop, [TEE[0] | {"Sale Price": "15"}, *TEE[1:]], tmp_path)
    assert errors(report)[0].startswith("line 4, Sale Price: is empty, but the product is on sale")
    assert not Product.objects.exists()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"Options": "Red"}, "line 3, Options: is empty; each of several variants needs its options"),
        ({"Options": "Type=Rectangle|Size=S"}, "line 3, Options: expected Type=...|Name=...|Value=..., found"),
        ({"Options": TEE[2]["Options"]}, "line 4, Options: has the same options as the variant on line 3"),
        ({"Item": "Variety"}, "line 3, Item: expected Product, Variant, Image or Video, found 'Variety'"),
        ({"Price": "x"}, "line 3, Price: expected a number, found 'x'"),
    ],
)
def test_v3_what_cannot_be_read_names_line_and_column(shop, tmp_path, change, problem):
    report = imported(shop, [TEE[0], TEE[1] | change, TEE[2]], tmp_path)
    assert any(each.startswith(problem) for each in errors(report)), errors(report)
    assert not Product.objects.exists()


def test_v2_skus_are_variants_whose_prices_rules_change(shop, tmp_path):
    report = imported(shop, OLD_TEE, tmp_path)
    assert (report.created, report.problems) == (1, [])
    assert variants(shop) == [
        ("T-S", {"Colour": "Red", "Size": "S"}, 20, 3, True),
        ("T-M", {"Colour": "Red", "Size": "M"}, Decimal("22.5"), 0, True),
        ("T-B", {"Colour": "Blue", "Size": "M"}, 9, 1, False),
    ]
    tee = Product.objects.get(shop=shop)
    assert (tee.slug, tee.brand.name, tee.meta_title, tee.status) == ("tee", "Acme", "A tee", "active")
    assert sorted(each.name for each in tee.categories.all()) == ["New", "Short"]
    assert [each.source_url for each in tee.media.all()] == ["https://a.example.com/1.jpg"]


def test_v2_a_rule_that_is_not_understood_refuses_the_product(shop, tmp_path):
    report = imported(shop, [*OLD_TEE[:4], OLD_TEE[4] | {"Price": "[PERCENT]5"}], tmp_path)
    assert errors(report) == ["line 6, Price: expected [ADD], [REMOVE] or [FIXED] and an amount, found '[PERCENT]5'"]
    assert not Product.objects.exists()


def test_v2_a_price_in_the_row_of_a_sku_is_refused(shop, tmp_path):
    report = imported(shop, [*OLD_TEE[:2], OLD_TEE[2] | {"Price": "[ADD]2"}], tmp_path)
    assert errors(report) == ["line 4, Price: is not read in the row of a SKU; state it in a row of a Rule below"]
    assert not Product.objects.exists()


@pytest.mark.parametrize("rows", [MUG, TEE, OLD_TEE, OLD_TEE[:1]], ids=["v3", "v3 variants", "v2 variants", "v2"])
def test_a_second_import_changes_nothing(shop, tmp_path, rows):
    imported(shop, rows, tmp_path)
    report = imported(shop, rows, tmp_path, update=True)
    assert (report.skipped, report.updated, report.changes) == (1, 0, [])


def test_what_is_not_carried_is_reported_once(shop, tmp_path):
    report = imported(shop, [MUG[0] | {"Brand ID": "3", "Weight": "2"}, TEE[0] | {"Brand ID": "3"}], tmp_path)
    assert [each.split(":")[0] for each in warnings(report)] == ["line 2, Brand ID", "line 2, Weight"]
