"""`storefront verify` names imported products whose price is that of none of their variants."""

from decimal import Decimal

from storefront.catalogue.models import Product, Variant
from storefront.catalogue.verifying import deviations
from storefront.kit.deviations import Deviation
from tests.catalogue.factories import make_product, make_variant
from tests.product_files.files import imported

FILE = (
    "Handle,Title,Option1 Name,Option1 Value,Variant Price,Variant Inventory Qty\n"
    "mug,Mug,Colour,Red,9.50,3\nmug,,,Blue,12,3\n"
)


def test_verify_names_a_price_that_no_variant_has(shop, other_shop, tmp_path):
    for each in (shop, other_shop):
        imported(each, FILE, tmp_path)
    assert list(deviations(shop)) == []
    Variant.objects.filter(shop=shop).update(price=Decimal("19.50"))
    assert list(deviations(shop)) == [Deviation("list price", "product mug", "9.50", "19.50")]
    assert list(deviations(other_shop)) == []
    Variant.objects.filter(shop=shop, name="Blue").update(is_active=False, price=1)
    assert len(list(deviations(shop))) == 1
    Product.objects.filter(shop=shop).update(price=Decimal("19.50"))
    assert list(deviations(shop)) == []


def test_prices_that_were_chosen_are_no_deviation(shop, tmp_path):
    """Those of products of programs and of the admin, and 0.00 where each variant has a price (R-CAT-14)."""
    make_variant(make_product(shop, "Scarf", price=Decimal("9.50")), price=Decimal(12))
    imported(shop, FILE, tmp_path)
    Product.objects.filter(shop=shop, slug="mug").update(price=0)
    assert list(deviations(shop)) == []
