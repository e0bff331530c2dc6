"""Small files of Shopify's columns, cells of apps, and variants that do not sell."""

import pytest

from storefront.catalogue.models import Product, Variant
from tests.product_files.files import as_lines, exported, imported, warnings


@pytest.mark.parametrize("columns", ["Status", "Published", "Variant Compare At Price"])
def test_a_handle_with_any_column_of_shopifys_is_its_file(columns, shop, tmp_path):
    imported(shop, as_lines({"slug": "mug", "name": "Mug", "price": "5"}), tmp_path)
    value = {"Status": "archived", "Published": "false"}.get(columns, "9")
    assert imported(shop, f"Handle,{columns}\nmug,{value}\n", tmp_path, update=True).failed == 0


def test_an_object_in_a_metafield_is_left_out_and_told(shop, tmp_path):
    header = "Handle,Title,Variant Price,App (product.metafields.app.data),Width (product.metafields.custom.width)"
    report = imported(shop, f'{header}\nmug,Mug,5,"{{""a"":1}}",10 cm\n', tmp_path)

    assert [item["name"] for item in Product.objects.get(shop=shop).attributes] == ["Width"]
    assert any("is data of an app; not imported" in each for each in warnings(report))


def test_a_variant_that_does_not_sell_is_sold_out_in_an_export(shop, other_shop, tmp_path):
    variants = [
        {"option_values": {"Size": "S"}, "sku": "S", "price": "5", "is_active": False},
        {"option_values": {"Size": "M"}, "sku": "M", "price": "6"},
    ]
    imported(shop, as_lines({"slug": "tee", "name": "Tee", "price": "5", "variants": variants}), tmp_path)
    content = exported(shop, "shopify")
    imported(other_shop, content, tmp_path)

    row = Variant.objects.get(shop=other_shop, sku="S")
    assert (row.track_inventory, row.stock_qty, row.allow_backorders) == (True, 0, False)
    assert not Variant.objects.get(shop=other_shop, sku="M").track_inventory
    assert imported(shop, content, tmp_path, update=True).updated == 0
