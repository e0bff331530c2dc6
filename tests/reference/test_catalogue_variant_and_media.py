"""Variants and pictures of a product."""

from decimal import Decimal
from pathlib import Path

import pytest
from django.test import Client

from storefront.carts.models import CartLine
from storefront.orders.models import OrderLine
from tests.catalogue.factories import make_media, make_product, make_variant
from tests.checkout.shopper import Shopper
from tests.reference.pictures import picture


@pytest.mark.rule("R-CAT-29")
def test_each_variant_carries_its_own_identifier_sku_price_and_stock(api, shop):
    shirt = make_product(shop, "Shirt")
    small = make_variant(shirt, "Small", sku="S-S", price=Decimal("9.00"), stock_qty=1)
    large = make_variant(shirt, "Large", sku="S-L", price=Decimal("11.00"), stock_qty=7)
    variants = api.get("/products/shirt").json()["data"]["variants"]
    assert [(each["id"], each["sku"], each["price"], each["stock_qty"]) for each in variants] == [
        (small.id, "S-S", "9.00", 1),
        (large.id, "S-L", "11.00", 7),
    ]


@pytest.mark.rule("R-CAT-29")
def test_a_variant_never_has_a_cost_price(api, shop):
    make_variant(make_product(shop, "Shirt"), cost_price=Decimal("34567.89"))
    answer = api.get("/products/shirt")
    assert "cost_price" not in answer.json()["data"]["variants"][0]
    assert b"34567.89" not in answer.content


@pytest.mark.rule("R-CAT-28")
def test_the_first_image_is_used_on_listing_tiles_in_the_basket_and_on_the_order(api, shop):
    mug = make_product(shop, "Mug")
    make_media(mug, "", file=picture("back.png"), sort_order=1)
    make_media(mug, "", file=picture("front.png"), sort_order=0)
    listing = Client(headers={"host": shop.domain}).get("/products").content.decode()
    assert "front" in listing
    assert "back" not in listing
    shopper = Shopper(shop)
    shopper.bring(api, {"product_id": mug.pk})
    # The integration's line, and the shopper's copy of it.
    for line in CartLine.objects.all():
        assert Path(line.image_snapshot).name.startswith("front")
    shopper.order()
    assert Path(OrderLine.objects.get().image).name.startswith("front")
