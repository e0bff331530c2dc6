"""Texts that an older release wrote are written again by the worker, batch by batch."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from storefront.catalogue import app_queries, awaited_texts, search_index
from storefront.catalogue.models import AwaitedTexts, FrequentWord, Product, ProductSearch, SearchWord
from storefront.listing import queries
from storefront.listing.page import RELEVANCE, clear_caches
from storefront.listing.queries import ProductFilters
from storefront.listing.spelling import nearest_spelling
from storefront.listing.verifying import deviations
from tests.catalogue.factories import make_product
from tests.shops.factories import NOW

# With real commits, after which words are added.
pytestmark = pytest.mark.django_db(transaction=True)
migration = import_module("storefront.catalogue.migrations.0003_folded_texts")


def total(shop, q: str) -> int:
    filters = ProductFilters(q=q, for_shoppers=True)
    return queries.product_page(shop, filters, page=1, per_page=1, now=NOW).total


@pytest.fixture
def old(shop, other_shop, monkeypatch):
    """Two shops, whose texts are as they were before words were folded."""
    for number in range(3):
        for each in (shop, other_shop):
            text = "<b>strong</b> mug"
            product = make_product(each, f"Água-benta {number}", description=text, slug=f"p{number}")
            written = f" água-benta {number} água benta \x1c  \x1d  \x1e {text} strong mug "
            ProductSearch.objects.filter(product=product).update(text=written)
    SearchWord.objects.update(head="ág")
    FrequentWord.objects.create(shop=shop, text="mug", products=b"")
    monkeypatch.setattr(migration, "BATCH", 2)
    clear_caches()


def migrate() -> None:
    with connection.schema_editor() as editor:
        migration.drop_accents_of_ends(apps, editor)
        migration.write_texts_again(apps, editor)


def test_all_is_found_after_the_worker_has_written_the_texts(shop, other_shop, old):
    migrate()
    assert AwaitedTexts.objects.count() == 4
    assert not FrequentWord.objects.exists()
    # Until then, by what is written alike in both.
    assert (total(shop, "agua"), total(shop, "mug"), total(shop, "benta")) == (0, 3, 3)
    assert not list(deviations(shop))
    assert awaited_texts.write_overdue(now=NOW, limit=1) == 1
    assert total(shop, "agua") == 2
    assert awaited_texts.write_overdue(now=NOW, limit=10) == 3
    assert not AwaitedTexts.objects.exists()
    for each in (shop, other_shop):
        assert (total(each, "agua"), total(each, "aguabenta"), total(each, "strong")) == (3, 3, 3)
        assert search_index.rewrite_texts(each) == 0
        assert not list(deviations(each))


@pytest.mark.parametrize("q", ["sk-00017", "SK-00017", "água", "água-benta", "ÁGUA mug", "œ", "t-shirt agua-x"])
def test_what_a_product_contains_is_found_before_the_worker_has_written_its_text(shop, other_shop, q):
    product = make_product(shop, "Água-benta œ T-shirt água-x", description="mug", sku="SK-00017")
    make_product(other_shop, "Água-benta œ T-shirt água-x", description="mug", sku="SK-00017")
    written = " água-benta œ t-shirt água-x \x1c sk-00017 \x1d  \x1e mug "
    ProductSearch.objects.filter(product=product).update(text=written)
    migrate()
    clear_caches()
    wanted = 0 if "agua" in q else 1
    for for_shoppers in (True, False):
        for sort in (None, RELEVANCE):
            filters = ProductFilters(q=q, for_shoppers=for_shoppers, sort=sort)
            page = queries.product_page(shop, filters, page=1, per_page=5, now=NOW)
            assert (page.total, len(page.rows)) == (wanted, wanted)
    _, found = app_queries.product_page(shop, status=None, q=q, updated_since=None, start=0, count=9, now=NOW)
    assert found == wanted
    awaited_texts.write_overdue(now=NOW, limit=10)
    assert total(shop, q) == total(other_shop, q) == 1


def test_a_product_that_is_saved_meanwhile_keeps_its_newer_text(shop, old):
    migrate()
    product = Product.objects.get(shop=shop, slug="p1")
    Product.objects.filter(pk=product.pk).update(name="Fogão")
    search_index.write_text(product)
    assert total(shop, "fogao") == 1
    awaited_texts.write_overdue(now=NOW, limit=10)
    assert (total(shop, "fogao"), total(shop, "agua")) == (1, 2)


def test_a_wrong_letter_is_corrected_at_an_end_that_had_an_accent(shop, other_shop, old):
    migrate()
    awaited_texts.write_overdue(now=NOW, limit=10)
    assert nearest_spelling(shop, ProductFilters(q="agia"), now=NOW) == "água"
