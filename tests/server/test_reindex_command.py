"""`storefront reindex` puts right what was brought out of step by force, and says what it was."""

import io
import json

from django.core.management import call_command
from django.db import connection

from storefront.catalogue.models import ListingTotal, Product, ProductSearch
from storefront.listing import queries
from storefront.listing.queries import ProductFilters
from tests.catalogue.factories import make_category, make_product
from tests.shops.factories import NOW

RIGHT = {"totals": [], "texts": 0, "listed": 0}


def reindex(*args: str) -> dict:
    out = io.StringIO()
    call_command("reindex", *args, stdout=out)
    return {shop.pop("shop"): shop for shop in json.loads(out.getvalue())}


def total(shop, **filters) -> int:
    return queries.product_page(shop, ProductFilters(**filters), page=1, per_page=1, now=NOW).total


def test_correct_values_are_unchanged(shop, other_shop):
    make_product(shop, "Teapot", categories=(make_category(shop),))
    make_product(shop, status="draft")
    assert reindex() == {shop.domain: RIGHT, other_shop.domain: RIGHT}
    assert (total(shop), total(shop, q="teapot")) == (1, 1)


def test_wrong_totals_are_reported_and_corrected(shop, other_shop):
    cups = make_category(shop)
    for each in (shop, other_shop):
        make_product(each, categories=(cups,) if each == shop else ())
    ListingTotal.objects.filter(shop=shop).update(products=5)
    totals = [{"category": None, "kept": 5, "counted": 1}, {"category": "cups", "kept": 5, "counted": 1}]
    assert reindex() == {shop.domain: RIGHT | {"totals": totals}, other_shop.domain: RIGHT}
    assert (total(shop), total(shop, category="cups"), total(other_shop)) == (1, 1, 1)
    make_product(shop, categories=(cups,))
    assert (total(shop), total(shop, category="cups")) == (2, 2)


def test_missing_totals_are_restored(shop):
    make_product(shop, categories=(make_category(shop),))
    ListingTotal.objects.all().delete()
    assert len(reindex()[shop.domain]["totals"]) == 2
    assert (total(shop), total(shop, category="cups")) == (1, 1)


def test_missing_outdated_and_orphaned_texts_are_corrected(shop):
    missing, outdated, gone = make_product(shop, "Teapot"), make_product(shop, "Kettle"), make_product(shop, "Lamp")
    ProductSearch.objects.filter(product=missing).delete()
    ProductSearch.objects.filter(product=outdated).update(text="samovar")
    Product.objects.filter(pk=gone.pk).update(deleted_at=NOW)
    assert reindex()[shop.domain] == RIGHT | {"texts": 3}
    found = [total(shop, q=word) for word in ("teapot", "kettle", "samovar", "lamp")]
    assert found == [1, 1, 0, 0]


def test_an_empty_index_is_rebuilt(shop):
    make_product(shop, "Teapot")
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("INSERT INTO catalogue_searchindex (catalogue_searchindex) VALUES ('delete-all')")
        else:
            ProductSearch.objects.update(listed=False)
    reindex("--shop", shop.domain)
    assert total(shop, q="teapot") == 1
