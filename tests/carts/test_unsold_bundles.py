"""Bundles with an item that bundles cannot sell: an inactive variant, or another bundle."""

import pytest

from storefront.catalogue.models import Product, Variant
from storefront.orders.models import Order
from tests.carts.factories import add, make_bundle
from tests.catalogue.factories import make_product, make_variant
from tests.checkout.shopper import Shopper
from tests.factories.apps import install

NESTED = "A bundle cannot contain another bundle."


@pytest.mark.parametrize("is_tracked", [True, False])
def test_one_whose_variant_was_made_inactive_is_not_sold_when_pay_is_pressed(shop, api, is_tracked):
    blue = make_variant(make_product(shop, "Cup"), "Blue", track_inventory=is_tracked)
    bundle, shopper = make_bundle(shop, "Set", {blue: 1}), Shopper(shop)
    shopper.post("/basket/add", {"product": bundle.pk, "qty": "1"})
    shopper.fill_details()
    fields = shopper.payment_fields()
    Variant.objects.filter(pk=blue.pk).update(is_active=False)
    shopper.post("/checkout/payment", fields)
    assert not Order.objects.exists()
    assert add(api, bundle).json()["code"] == "product_unavailable"
    assert "Sold out" in shopper.read("/products")


def test_a_bundle_in_a_bundle_is_refused_where_it_is_written(shop, desk):
    app = install(shop, "read_products", "write_products").api
    inner = make_bundle(shop, "Inner", {make_product(shop, "Mug"): 1})
    given = {"name": "Outer", "price": "5.00", "type": "bundle", "bundle_items": [{"product_id": inner.pk, "qty": 1}]}
    refused = app.post("/products", given)
    assert (refused.status_code, refused.json()["errors"]) == (422, {"bundle_items.0.product_id": [NESTED]})


def test_and_is_not_sold_where_it_was_written_before(shop, api):
    """A subscription in the inner one would be sold by the outer one, and the stock of its items not taken."""
    coffee = make_product(shop, "Coffee", billing_interval="month")
    plain = make_product(shop, "Plain")
    outer = make_bundle(shop, "Outer", {plain: 1})
    assert add(api, outer).status_code == 201
    make_bundle(shop, "Inner", {coffee: 1})
    Product.objects.filter(pk=plain.pk).update(type=Product.Type.BUNDLE)
    assert add(api, outer).json()["code"] == "product_unavailable"
