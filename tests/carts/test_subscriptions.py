"""A subscription is not sold, since no shop can charge it: not by the API, not by the pages."""

import pytest

from storefront.carts import actions
from storefront.catalogue.models import Product
from tests.carts.factories import add, make_bundle, make_cart
from tests.catalogue.factories import make_product, make_variant
from tests.checkout.shopper import Shopper
from tests.shops.factories import NOW


@pytest.fixture
def monthly(shop):
    return make_product(shop, "Coffee", billing_interval="month")


@pytest.mark.rule("R-CART-51")
def test_it_is_refused_with_the_reason_until_it_is_sold_once(shop, other_shop, api, monthly):
    make_product(other_shop, "Coffee")
    answer = add(api, monthly)
    assert (answer.status_code, answer.json()["code"]) == (422, "subscription_not_sold")
    assert list(answer.json()["errors"]) == ["product_id"]
    shopper = Shopper(shop)
    assert "Subscription, not available yet" in shopper.read("/products")
    page = shopper.read("/products/coffee")
    assert "Subscription, not available yet" in page
    assert "Add to basket" not in page
    assert api.get("/products/coffee").json()["data"]["billing_interval"] == "month"
    Product.objects.filter(pk=monthly.pk).update(billing_interval=None)
    assert add(api, monthly).status_code == 201
    assert "Add to basket" in shopper.read("/products/coffee")


@pytest.mark.rule("R-CART-51")
def test_nor_are_its_variants_damaged_units_and_bundles_with_it(shop, api, monthly):
    variant = make_variant(make_product(shop, "Tea", billing_interval="week"), "Green")
    damaged = make_product(shop, "Cocoa", billing_interval="day", damaged_qty=3, damaged_price="1.00")
    answers = [
        add(api, variant.product, variant_id=variant.pk),
        add(api, damaged, is_damaged=True),
        add(api, make_bundle(shop, "Set", {monthly: 1})),
    ]
    assert {answer.json()["code"] for answer in answers} == {"subscription_not_sold"}
    shopper = Shopper(shop)
    for slug in ("tea", "cocoa", "set"):
        assert "Add to basket" not in shopper.read(f"/products/{slug}")


def test_a_draft_tells_nothing(shop, api):
    draft = make_product(shop, "Plan", billing_interval="month", status="draft")
    assert add(api, draft).json()["code"] == "product_unavailable"


def test_a_line_whose_product_became_a_subscription_is_not_sold(shop, api):
    mug = make_product(shop, "Mug")
    cart = make_cart(shop)
    actions.add_line(shop=shop, cart=cart, product_id=mug.pk, qty=1, now=NOW)
    Product.objects.filter(pk=mug.pk).update(billing_interval="year")
    (change,) = actions.reprice_cart(shop=shop, cart=cart, now=NOW).checks
    assert change.is_unavailable


@pytest.mark.slow
def test_the_editor_does_not_offer_subscriptions(desk, monthly):
    page = desk.get(f"/admin/catalogue/product/{monthly.pk}/change/").content.decode()
    assert "billing_interval" not in page
    assert "setup_fee" not in page
    assert desk.fill(monthly, price="12.00").status_code == 302
    monthly.refresh_from_db()
    assert (monthly.billing_interval, str(monthly.price)) == ("month", "12.00")
