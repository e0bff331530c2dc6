"""A blank cell of visibility, kind or stock keeps what an existing product has, and a price of 0 is named."""

import pytest

from storefront.catalogue.models import Product, Variant
from tests.product_files.files import imported, warnings

# By format, a mug whose cells beside name, SKU and price are blank.
BLANK = {
    "wix": "handleId,fieldType,name,sku,price,visible,inventory\np1,Product,Mug,M,{price},,\n",
    "bigcommerce": (
        "Item,Name,SKU,Options,Price,Type,Is Visible,Is Featured,Inventory Tracking,Current Stock\n"
        "Product,Mug,M,,{price},,,,,\n"
    ),
    "bigcommerce-v2": (
        "Item Type,Product ID,Product Name,Product Code/SKU,Price,Product Type,Product Visible?,Allow Purchases?,"
        "Track Inventory,Current Stock Level\nProduct,1,Mug,M,{price},,,,,\n"
    ),
    "squarespace": "Product Type [Non Editable],Title,SKU,Price,Visible,Stock\n,Mug,M,{price},,\n",
    "square": (
        "Token,Item Name,Variation Name,SKU,Price,Archived,Square Online Item Visibility,Shipping Enabled,"
        "Current Quantity Shop\nA,Mug,Regular,M,{price},,,,\n"
    ),
}
KEPT = {"status": "draft", "track_inventory": True, "stock_qty": 5, "requires_shipping": False}


@pytest.mark.parametrize("name", BLANK)
def test_blank_cells_keep_what_the_product_has(shop, other_shop, tmp_path, name):
    for each in (shop, other_shop):
        imported(each, BLANK[name].format(price=10), tmp_path)
    mug = Product.objects.filter(shop=shop)
    assert mug.values("status", "track_inventory", "requires_shipping").get() == {
        "status": "active",
        "track_inventory": False,
        "requires_shipping": True,
    }
    mug.update(**KEPT)
    imported(shop, BLANK[name].format(price=11), tmp_path, update=True)
    assert mug.values(*KEPT, "price").get() == KEPT | {"price": 11}
    assert Product.objects.get(shop=other_shop).price == 10


def test_a_blank_stock_keeps_that_of_a_variant(shop, tmp_path):
    text = """handleId,fieldType,name,sku,price,surcharge,inventory,productOptionName1,productOptionDescription1
p1,Product,Tee,T,{},,,Size,S
p1,Variant,,T-S,,0,,,S
"""
    imported(shop, text.format(10), tmp_path)
    Variant.objects.filter(shop=shop).update(track_inventory=True, stock_qty=5)
    imported(shop, text.format(11), tmp_path, update=True)
    assert Variant.objects.values_list("price", "track_inventory", "stock_qty").get(shop=shop) == (11, True, 5)


@pytest.mark.parametrize("name", BLANK)
def test_a_price_of_0_is_named(shop, tmp_path, name):
    report = imported(shop, BLANK[name].format(price="0.00"), tmp_path)
    header = "price" if name == "wix" else "Price"
    assert warnings(report) == [f"line 2, {header}: is 0; whoever orders it pays nothing"]


@pytest.mark.parametrize(("price", "expected"), [("11", (11, 0)), ("10", (10, 0)), ("9", (9, 10))])
@pytest.mark.parametrize("name", ["bigcommerce", "square"])
def test_a_price_alone_ends_a_reduction_that_it_passes(shop, tmp_path, name, price, expected):
    imported(shop, BLANK[name].format(price=8), tmp_path)
    Product.objects.filter(shop=shop).update(compare_price=10)
    imported(shop, BLANK[name].format(price=price), tmp_path, update=True)
    assert Product.objects.values_list("price", "compare_price").get(shop=shop) == expected
