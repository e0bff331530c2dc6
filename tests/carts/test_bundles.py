import pytest

from tests.carts.factories import add, contents, filled, make_bundle, only_key
from tests.catalogue.factories import make_product, make_variant


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", sku="M1", stock_qty=10)


@pytest.fixture
def red(shop):
    return make_variant(make_product(shop, "Spoon"), "Red", sku="S-R", stock_qty=5)


def test_bundle_line_has_its_items(shop, api, mug, red):
    bundle = make_bundle(shop, "Breakfast", {mug: 2, red: 1}, price="15.00")
    line = add(api, bundle).json()["data"]
    assert (line["is_bundle"], line["price_snapshot"]) == (True, "15.00")
    assert line["bundle_items"] == [
        {"product_id": mug.pk, "variant_id": None, "name": "Mug", "sku": "M1", "qty": 2},
        {"product_id": red.product_id, "variant_id": red.pk, "name": "Spoon – Red", "sku": "S-R", "qty": 1},
    ]
    assert list(line["bundle_items"][0]) == ["product_id", "variant_id", "name", "sku", "qty"]


def test_scarcest_item_limits_the_bundle(shop, api, mug, red):
    bundle = make_bundle(shop, parts={mug: 3, red: 1})
    answer = add(api, bundle, 4)
    assert (answer.json()["code"], answer.json()["available"]) == ("insufficient_stock", 3)
    assert add(api, bundle, 3).status_code == 201


def test_items_already_in_the_cart_count(shop, api, mug):
    bundle = make_bundle(shop, parts={mug: 3})
    token = filled(api, mug, 5)
    assert add(api, bundle, 2, cart=token).json()["available"] == 1
    add(api, bundle, 1, cart=token)
    assert add(api, mug, 3, cart=token).json()["available"] == 2


def test_two_bundles_share_the_stock_of_an_item(shop, api, mug):
    token = filled(api, make_bundle(shop, "One", {mug: 3}), 2)
    assert add(api, make_bundle(shop, "Two", {mug: 2}), 3, cart=token).json()["available"] == 2


def test_item_contained_twice_counts_twice(shop, api, mug):
    bundle = make_bundle(shop, parts={mug: 3})
    bundle.bundle_items.create(shop=shop, product=mug, qty=2)
    assert add(api, bundle, 3).json()["available"] == 2


def test_untracked_item_does_not_limit_the_bundle(shop, api, mug):
    mug.track_inventory = False
    mug.save()
    assert add(api, make_bundle(shop, parts={mug: 3}), 50).status_code == 201


def test_bundle_with_an_inactive_item_cannot_be_added(shop, api, red):
    red.is_active = False
    red.save()
    assert add(api, make_bundle(shop, parts={red: 1})).json()["code"] == "product_unavailable"


def test_change_checks_the_stock_of_the_items(shop, api, mug):
    bundle = make_bundle(shop, parts={mug: 3})
    token = filled(api, bundle)
    key = only_key(api, token)
    assert api.patch(f"/cart/{key}", {"qty": 4}, cart=token).json()["available"] == 3
    assert api.patch(f"/cart/{key}", {"qty": 3}, cart=token).status_code == 200
    assert contents(api, token)["totals"]["item_count"] == 3
