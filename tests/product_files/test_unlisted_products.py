"""Shopify's `unlisted` products: everyone with the address reaches them, and nothing lists them."""

import pytest

from storefront.catalogue.models import Product
from tests.catalogue.factories import make_product
from tests.client import Client
from tests.product_files.files import errors, exported, imported
from tests.product_files.test_import_shopify import product, simple
from tests.shops.factories import NOW


def test_is_reached_by_its_address_and_is_in_no_list_search_or_sitemap(shop, tmp_path):
    rows = [simple(status="Unlisted"), simple("jug", status="active", title="Jug")]
    report = imported(shop, rows, tmp_path, now=NOW)
    assert (report.created, report.problems) == (2, [])
    visitor = Client(headers={"host": shop.domain})
    assert visitor.get("/products/mug").status_code == 200
    for path in ("/", "/products", "/products?q=mug", "/search/suggestions?q=mug", "/sitemap-1.xml", "/sitemap.xml"):
        assert "/products/mug" not in visitor.get(path).content.decode(), path
    assert "/products/jug" in visitor.get("/products").content.decode()
    assert "/products/jug" in visitor.get("/sitemap-1.xml").content.decode()


def test_comes_back_the_same_from_an_export(shop, other_shop, tmp_path):
    make_product(shop, "Mug", exclude_from_catalog=True)
    make_product(shop, "Jug")
    text = exported(shop, "shopify")
    assert text.count("unlisted") == 1
    assert imported(shop, text, tmp_path, update=True).skipped == 2
    assert imported(other_shop, text, tmp_path).created == 2
    for each in (shop, other_shop):
        assert (product(each, "mug").status, product(each, "mug").exclude_from_catalog) == ("active", True)
        assert not product(each, "jug").exclude_from_catalog


@pytest.mark.parametrize(("status", "hidden"), [("unlisted", True), ("active", False), ("", None), ("draft", None)])
def test_an_update_changes_it_only_where_the_file_says_so(shop, other_shop, tmp_path, status, hidden):
    for was_hidden in (False, True):
        Product.objects.all().delete()
        make_product(shop, "Mug", exclude_from_catalog=was_hidden)
        make_product(other_shop, "Mug", exclude_from_catalog=was_hidden)
        imported(shop, [simple(status=status)], tmp_path, update=True)
        assert product(shop, "mug").exclude_from_catalog == (was_hidden if hidden is None else hidden)
        assert product(other_shop, "mug").exclude_from_catalog == was_hidden


def test_a_status_that_is_not_known_is_refused_with_those_that_are(shop, tmp_path):
    report = imported(shop, [simple(status="secret")], tmp_path)
    expected = "line 2, Status: expected active, unlisted, draft or archived, found "
    assert [error.startswith(expected) for error in errors(report)] == [True]
