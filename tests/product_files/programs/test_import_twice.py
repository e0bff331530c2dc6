"""The same file twice is the same products once, also where it states no slug, in every program's format."""

from typing import Any

import pytest

from storefront.catalogue.models import Product, Variant
from storefront.product_files.mapped.mapping import Mapping
from tests.product_files.files import imported

WIX = """handleId,fieldType,name,sku,price,surcharge,visible,inventory,productOptionName1,productOptionDescription1
p1,Product,Tee,T,10,,TRUE,InStock,Size,S;M
p1,Variant,,T-S,,0,TRUE,4,,S
p1,Variant,,T-M,,2,TRUE,InStock,,M
"""
V3 = """Item,Name,SKU,Options,Price
Product,Tee,T,,10
Variant,,T-S,Type=Rectangle|Name=Size|Value=S,
Variant,,T-M,Type=Rectangle|Name=Size|Value=M,12
"""
V2 = """Item Type,Product ID,Product Name,Product Code/SKU,Price
Product,1,Tee,T,10
SKU,,[RT]Size=S,T-S,
SKU,,[RT]Size=M,T-M,
Rule,,[RT]Size=M,,[ADD]2
"""
SQUARESPACE = """Product ID [Non Editable],Product Type [Non Editable],Title,SKU,Option Name 1,Option Value 1,Price
1,PHYSICAL,Tee,T-S,Size,S,10
,,,T-M,Size,M,12
"""
SQUARE = """Token,Item Name,Variation Name,SKU,Price
A,Tee,S,T-S,10
B,Tee,M,T-M,12
"""
GOOGLE = """id,title,availability,price,item_group_id,size
T-S,Tee,in_stock,10 EUR,T,S
T-M,Tee,in_stock,12 EUR,T,M
"""
MATRIXIFY = """ID,Handle,Command,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price
1,tee,MERGE,Tee,Size,S,T-S,10
1,tee,MERGE,,,M,T-M,12
"""
TABLE = """Article,Number,Price,Model,Size
Tee,T-S,10,T,S
Tee,T-M,12,T,M
"""
MAPPING = Mapping(
    {"Article": "name", "Number": "sku", "Price": "price", "Model": "group", "Size": "option1_value"},
    {"option1_name": "Size"},
)
FILES: dict[str, tuple[str, dict[str, Any]]] = {
    "wix": (WIX, {}),
    "bigcommerce": (V3, {}),
    "bigcommerce-v2": (V2, {}),
    "squarespace": (SQUARESPACE, {}),
    "square": (SQUARE, {}),
    "google": (GOOGLE, {}),
    "matrixify": (MATRIXIFY, {}),
    "mapped": (TABLE, {"mapping": MAPPING}),
}


@pytest.mark.parametrize("name", FILES)
def test_the_same_file_twice_changes_nothing(shop, other_shop, tmp_path, name):
    text, given = FILES[name]
    imported(other_shop, text, tmp_path, **given)
    assert imported(shop, text, tmp_path, **given).created == 1
    report = imported(shop, text, tmp_path, update=True, **given)
    assert (report.created, report.updated, report.skipped, report.problems) == (0, 0, 1, [])
    product = Product.objects.get(shop=shop)
    assert (product.name, product.type) == ("Tee", "variable")
    assert sorted(Variant.objects.filter(shop=shop).values_list("sku", flat=True)) == ["T-M", "T-S"]
