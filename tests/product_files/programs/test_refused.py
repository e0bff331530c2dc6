"""Exports that are recognised but not read are refused with the program's name and what to do."""

import pytest

from storefront.catalogue.models import Product
from storefront.product_files.opening import UnknownTable
from tests.product_files.files import imported

FILES = {
    "Etsy": "TITLE,DESCRIPTION,PRICE,CURRENCY_CODE,QUANTITY,TAGS,MATERIALS,IMAGE1,VARIATION 1 TYPE,SKU",
    "Wix's new catalogue": "handle,fieldType,name,visible,plainDescription,media,price",
    "Magento": "sku,store_view_code,attribute_set_code,product_type,categories,name,price,visibility,qty",
    "Ecwid": "type,product_internal_id,product_sku,product_name,product_price,product_quantity",
    "PrestaShop": '"Product ID";"Image";"Name";"Reference";"Category";"Price (tax excl.)";"Quantity"',
}


@pytest.mark.parametrize("program", FILES)
def test_an_export_is_refused_with_its_program_and_what_to_do(shop, tmp_path, program):
    header = FILES[program]
    separator = ";" if ";" in header else ","
    with pytest.raises(UnknownTable) as refusal:
        imported(shop, header + "\n" + separator.join(["1"] * len(header.split(separator))) + "\n", tmp_path)
    assert f"This is an export of {program}" in str(refusal.value)
    assert "Map its columns: in the admin, or with --map." in str(refusal.value)
    assert not Product.objects.exists()
