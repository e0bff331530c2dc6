"""A row that is left of a product with variants never switches the others off, and never makes a second product."""

import pytest

from storefront.catalogue.models import Product, Variant
from tests.product_files.files import errors, imported
from tests.product_files.programs.test_import_twice import FILES

# By format, a file with one row of the tee that names its variant of size M by SKU, at the price of 15.
BY_SKU = {
    "bigcommerce": "Name,SKU,Inventory Tracking,Price\nTee,T-M,variant,15\n",
    "squarespace": "Product Type [Non Editable],Title,SKU,Price\nPHYSICAL,Tee,T-M,15\n",
    "square": "Token,Item Name,Variation Name,SKU,Price\nB,Tee,M,T-M,15\n",
    "google": "id,title,availability,price,item_group_id,size\nT-M,Tee,in_stock,15 EUR,T,M\n",
    "mapped": "Article,Number,Price,Model,Size\nTee,T-M,15,,\n",
}
# Rows of the product without any of its variants.
OF_PRODUCT = {
    "wix": "handleId,fieldType,name,sku,price\np1,Product,Tee,T,15\n",
    "bigcommerce": "Item,Name,SKU,Options,Price\nProduct,Tee,T,,15\n",
    "bigcommerce-v2": "Item Type,Product ID,Product Name,Product Code/SKU,Price\nProduct,1,Tee,T,15\n",
    "squarespace": "Product Type [Non Editable],Title,Price\nPHYSICAL,Tee,15\n",
    "square": "Token,Item Name,Variation Name,Price\nB,Tee,M,15\n",
    "matrixify": (
        "ID,Handle,Command,Title,Option1 Name,Option1 Value,Variant Price\n1,tee,MERGE,Tee,Title,Default Title,15\n"
    ),
}


def sold(shop) -> dict[str, tuple[str, bool]]:
    rows = Variant.objects.filter(shop=shop)
    return {row.sku: (str(row.price), row.is_active) for row in rows}


@pytest.mark.parametrize("name", BY_SKU)
def test_a_row_with_the_sku_of_a_variant_changes_that_variant_alone(shop, other_shop, tmp_path, name):
    text, given = FILES[name]
    for each in (shop, other_shop):
        imported(each, text, tmp_path, **given)
    report = imported(shop, BY_SKU[name], tmp_path, update=True, **given)
    assert (report.created, report.updated, errors(report)) == (0, 1, [])
    assert sold(shop) == {"T-S": ("10.00", True), "T-M": ("15.00", True)}
    assert sold(other_shop) == {"T-S": ("10.00", True), "T-M": ("12.00", True)}
    assert Product.objects.filter(shop=shop).count() == 1


@pytest.mark.parametrize("name", OF_PRODUCT)
def test_rows_without_the_variants_of_the_product_are_refused(shop, tmp_path, name):
    text, given = FILES[name]
    imported(shop, text, tmp_path, **given)
    report = imported(shop, OF_PRODUCT[name], tmp_path, update=True, **given)
    assert (report.created, report.updated, len(errors(report))) == (0, 0, 1)
    assert "the product has variants" in errors(report)[0]
    assert sold(shop) == {"T-S": ("10.00", True), "T-M": ("12.00", True)}
    assert Product.objects.get(shop=shop).type == "variable"
