"""Plain texts of CSV files are stored without entities of HTML, and descriptions with them."""

import json

import pytest

from storefront.catalogue.models import Product
from tests.product_files.files import exported, imported, warnings, woo

SHOPIFY = "Handle,Title,Body (HTML),Vendor,Type,Tags,Option1 Name,Option1 Value,Variant Price,Status\n"


def test_names_tags_and_options_are_decoded(shop, other_shop, tmp_path):
    axis = {"Attribute 1 name": "Size &amp; fit", "Attribute 1 value(s)": "11&#39;&#39;, 12&Prime;"}
    rows = [
        woo(id="1", type="variable", sku="M", name="R&#038;B &amp; 11&#39;&#39;", tags="a &amp; b", regular_price="",
            description="<p>5 &lt; 6 &amp; 7</p>", categories="Home &amp; Bath", brands="A &amp; B") | axis,
        woo(type="variation", sku="V", parent="M") | axis | {"Attribute 1 value(s)": "11&#39;&#39;"},
    ]  # fmt: skip
    assert imported(shop, rows, tmp_path).problems == []
    made = Product.objects.get(shop=shop)
    assert (made.name, made.tags, made.brand.name) == ("R&B & 11''", ["a & b"], "A & B")
    assert made.categories.get().name == "Home & Bath"
    assert made.attributes == [{"name": "Size & fit", "values": ["11''", "12″"], "variation": True}]
    assert made.variants.get().option_values == {"Size & fit": "11''"}
    assert made.description == "<p>5 &lt; 6 &amp; 7</p>"
    content = "mug,Tom &amp; Co,<p>1 &amp; 2</p>,A &amp; B,C &amp; D,e &amp; f,G &amp; H,I &amp; J,5,active\n"
    imported(other_shop, SHOPIFY + content, tmp_path)
    made = Product.objects.get(shop=other_shop)
    assert (made.name, made.brand.name, made.tags, made.description) == (
        "Tom & Co",
        "A & B",
        ["e & f"],
        "<p>1 &amp; 2</p>",
    )
    assert (made.categories.get().name, made.variants.get().option_values) == ("C & D", {"G & H": "I & J"})


@pytest.mark.parametrize("format", ["woocommerce", "shopify"])
@pytest.mark.parametrize("name", ["R&B", "&amp;", "a &lt; b", "&amp;amp;", "Q&A;", "5 &copy 6"])
def test_texts_with_entities_of_their_own_go_out_and_come_back(shop, other_shop, tmp_path, format, name):
    line = {"name": name, "slug": "mug", "price": "5.00", "status": "active", "tags": [name], "brand": name}
    line |= {"variants": [{"option_values": {name: name}, "price": "5.00"}], "categories": [name]}
    line |= {"attributes": [{"name": name, "values": [name], "variation": True}]}
    imported(shop, json.dumps(line), tmp_path)
    content = exported(shop, format)
    assert imported(shop, content, tmp_path, update=True).changes == []
    assert imported(other_shop, content, tmp_path).problems == []
    made = Product.objects.get(shop=other_shop)
    assert (made.name, made.tags, made.brand.name, made.categories.get().name) == (name, [name], name, name)
    assert made.variants.get().option_values == {name: name}


def test_a_value_of_an_attribute_without_a_name_is_reported(shop, tmp_path):
    row = woo(sku="A") | {"Attribute 1 name": "", "Attribute 1 value(s)": "Blue"}
    report = imported(shop, [row], tmp_path)
    assert report.created == 1
    assert warnings(report) == [
        "line 2, Attribute 1 value(s): is the value of an attribute without a name; not imported"
    ]
