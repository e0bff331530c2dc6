"""A download without a file is not sold, since its buyer would get nothing: not by the API, not by the pages."""

import pytest

from storefront.carts import actions
from tests.carts.factories import add, make_bundle, make_cart
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.orders.files import add_file, make_download
from tests.shops.factories import NOW

NO_FILE = "This product is a download without a file, so it cannot be sold yet."


def test_it_is_refused_with_the_reason_until_it_has_a_file(shop, other_shop, api):
    song = make_product(shop, "Song", type="digital")
    make_download(other_shop, "Song")
    answer = add(api, song)
    assert answer.status_code == 422
    assert (answer.json()["code"], answer.json()["message"]) == ("product_unavailable", NO_FILE)
    shopper = Shopper(shop)
    assert "Sold out" in shopper.read("/products")
    assert "Add to basket" not in shopper.read("/products/song")
    add_file(song)
    assert add(api, song).status_code == 201
    assert "Add to basket" in shopper.read("/products/song")


@pytest.mark.parametrize("given", [{"is_gift_card": True}, {"is_preorder": True}])
def test_what_is_delivered_without_or_later_is_sold(shop, api, given):
    assert add(api, make_product(shop, type="digital", **given)).status_code == 201


def test_nor_is_a_bundle_with_one(shop, api):
    song, mug = make_product(shop, "Song", type="digital"), make_product(shop, "Mug")
    bundle = make_bundle(shop, "Set", {song: 1, mug: 1})
    assert add(api, bundle).json()["message"] == NO_FILE
    assert "Sold out" in Shopper(shop).read("/products")
    add_file(song)
    assert add(api, bundle).status_code == 201


def test_a_file_that_is_removed_makes_a_line_unavailable(shop):
    song, cart = make_download(shop), make_cart(shop)
    actions.add_line(shop=shop, now=NOW, cart=cart, product_id=song.pk, qty=1)
    song.digital_files.all().delete()
    (change,) = actions.reprice_cart(shop=shop, cart=cart, now=NOW).checks
    assert change.is_unavailable


@pytest.mark.slow
def test_the_admin_publishes_none(shop, other_shop, desk):
    song, book = make_product(shop, "Song", type="digital", status="draft"), make_download(shop, status="draft")
    theirs = make_product(other_shop, "Theirs", type="digital", status="draft")
    page = desk.choose(type(song), "publish", song, book, theirs).content.decode()
    assert "buyers would not get a file: Song." in page
    assert "1 updated." in page
    for each, status in ((song, "draft"), (book, "active"), (theirs, "draft")):
        each.refresh_from_db()
        assert each.status == status
    desk.fill(song, status="active")
    song.refresh_from_db()
    assert song.status == "draft"
    add_file(song)
    desk.fill(song, status="active")
    song.refresh_from_db()
    assert song.status == "active"
