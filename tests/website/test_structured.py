"""Products as schema.org JSON-LD."""

import json
from decimal import Decimal

import pytest

from storefront.catalogue.models import Brand
from tests.catalogue.factories import make_option, make_product, make_variant
from tests.content.test_pages import make_page
from tests.pricing.rows import make_rate


@pytest.fixture
def structured(page):
    def read(path: str):
        return json.loads(page(path).split('id="structured">')[1].split("</script>")[0])

    return read


def test_a_product_has_its_brand_gtin_delivery_and_returns(shop, other_shop, structured):
    make_rate(shop, "Parcel", "4.90", countries=["DE"])
    make_page(shop, "returns", kind="returns")
    brand = Brand.objects.create(shop=shop, name="Hafen")
    make_product(shop, "Cup", sku="C1", barcode="4006381333931", brand=brand)
    found = structured("/products/cup")
    assert (found["@type"], found["sku"], found["gtin"], found["brand"]["name"]) == (
        "Product",
        "C1",
        "4006381333931",
        "Hafen",
    )
    offer = found["offers"]
    assert offer["shippingDetails"]["shippingRate"] == {"@type": "MonetaryAmount", "value": "4.90", "currency": "EUR"}
    assert offer["shippingDetails"]["shippingDestination"]["addressCountry"] == "DE"
    assert offer["hasMerchantReturnPolicy"]["merchantReturnLink"] == "https://shop.example.com/pages/returns"


def test_says_nothing_that_is_not_known(shop, other_shop, structured):
    make_rate(other_shop, "Parcel", "4.90", countries=["DE"])
    make_page(other_shop, "returns", kind="returns")
    make_product(shop, "Cup", barcode="12345", requires_shipping=False)
    found = structured("/products/cup")
    assert not {"gtin", "brand", "sku"} & set(found)
    assert not {"shippingDetails", "hasMerchantReturnPolicy"} & set(found["offers"])


def test_a_product_with_variants_is_a_group(shop, structured):
    shirt = make_product(shop, "Shirt", type="variable", barcode="4006381333931")
    red = make_variant(shirt, "Red S", price=Decimal("20.00"), sku="S-R", barcode="96385074", stock_qty=3)
    red.option_values = {"Colour": "Red", "Size": "S", "Cut": "Slim"}
    red.save()
    blue = make_variant(shirt, "Blue S", price=Decimal("25.00"), stock_qty=0)
    blue.option_values = {"Colour": "Blue", "Size": "S"}
    blue.save()
    make_option(shirt, "Wrapping", {"Paper": "2.00"}, required=True)
    found = structured("/products/shirt")
    assert (found["@type"], found["productGroupID"]) == ("ProductGroup", f"p{shirt.pk}")
    assert found["variesBy"] == ["https://schema.org/color", "https://schema.org/size", "Cut"]
    first, second = found["hasVariant"]
    assert (first["color"], first["size"], first["sku"], first["gtin"]) == ("Red", "S", "S-R", "96385074")
    assert first["additionalProperty"] == [{"@type": "PropertyValue", "name": "Cut", "value": "Slim"}]
    assert first["url"] == f"https://shop.example.com/products/shirt?variant={red.pk}"
    assert (first["offers"]["price"], first["offers"]["availability"]) == ("22.00", "https://schema.org/InStock")
    assert (second["offers"]["price"], second["offers"]["availability"]) == ("27.00", "https://schema.org/OutOfStock")


def test_backorders_are_no_stock(shop, structured):
    make_product(shop, "Cup", stock_qty=0, allow_backorders=True, track_inventory=True)
    assert structured("/products/cup")["offers"]["availability"] == "https://schema.org/BackOrder"
