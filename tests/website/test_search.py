"""Searching on the shop's pages: by relevance, with the nearest spelling, and with suggestions."""

import json
from html import unescape

import pytest

from tests.catalogue.factories import make_category, make_product, make_variant
from tests.website.test_listing import names
from tests.website.test_translated_pages import speaks


@pytest.fixture
def products(shop, other_shop):
    make_product(shop, "Tray", description="For six mugs", is_pinned=True, price="1.00")
    make_variant(make_product(shop, "Harbour mug"), "Moss", sku="MUG-HARBOUR-MOSS")
    make_product(shop, "Blanket")
    make_product(shop, "Secret mug", status="draft")
    make_product(shop, "Hidden mug", exclude_from_catalog=True)
    make_product(other_shop, "Foreign mug")
    make_product(other_shop, "Blankit")


def test_shows_the_most_relevant_first_unless_another_order_is_chosen(shop, page, products):
    assert names(page("/products?q=mugs")) == ["Harbour mug", "Tray"]
    assert '<option value="" selected>Relevance</option>' in page("/products?q=mugs")
    assert names(page("/products?q=mugs&sort=name")) == ["Harbour mug", "Tray"]
    assert names(page("/products?q=mugs&sort=price_asc")) == ["Tray", "Harbour mug"]
    assert "Recommended" in page("/products")
    assert "Relevance" not in page("/products")


@pytest.mark.parametrize("q", ["moss", "mug-harbour-moss", "harbour+mugs"])
def test_finds_a_product_by_its_variants(shop, page, products, q):
    assert names(page(f"/products?q={q}")) == ["Harbour mug"]


@pytest.mark.django_db(transaction=True)
def test_shows_what_the_nearest_spelling_finds_and_says_so(shop, page, products):
    text = unescape(page("/products?q=blankit"))
    assert "No products match blankit. Showing blanket instead." in text
    assert names(text) == ["Blanket"]
    assert 'value="blankit"' in text
    nothing = page("/products?q=spaceship")
    assert "No products found" in nothing
    assert "instead" not in nothing


@pytest.mark.django_db(transaction=True)
def test_a_search_that_finds_nothing_is_made_without_stop_words(shop, other_shop, page, products):
    speaks(shop, "de")
    make_product(shop, "Jacket", description="Filled with down")
    make_product(shop, "Rain jacket", translations={"de": {"name": "Jacke für Regen"}})
    make_product(other_shop, "Kettle")
    assert "No products match a mug of their own. Showing mug instead." in unescape(
        page("/products?q=a mug of their own")
    )
    # Words of the page's language, and of the shop's.
    assert names(page("/de/products?q=jacke gegen den regen")) == ["Jacke für Regen"]
    assert names(page("/de/products?q=mug of their own")) == ["Harbour mug", "Tray"]
    assert "instead" not in page("/products?q=jacke gegen den regen")
    # The mistake is in what is left.
    assert names(page("/products?q=blankit of their own")) == ["Blanket"]
    # What is found with its stop words stays, and so does a search that has no other words.
    assert names(page("/products?q=down jacket")) == ["Jacket"]
    for nothing in ("their own", "kettle of their own"):
        assert "No products found" in page(f"/products?q={nothing}")


def test_the_nearest_spelling_of_a_category_s_search_is_one_that_it_has(shop, page, products):
    cups = make_category(shop)
    assert "instead" not in page(f"/products?q=blankit&category={cups.slug}")


def test_the_nearest_spelling_is_escaped(shop, page, products):
    assert "<b>" not in page("/products?q=<b>blankit")


def suggested(visitor, q: str) -> list[dict]:
    answer = visitor.get("/search/suggestions", {"q": q})
    assert answer.status_code == 200
    assert answer["Cache-Control"] == "public, max-age=60"
    return json.loads(answer.content)


def test_suggests_the_most_relevant_listed_products(shop, visitor, products):
    assert suggested(visitor, "mug") == [
        {"name": "Harbour mug", "url": "/products/harbour-mug"},
        {"name": "Tray", "url": "/products/tray"},
    ]
    assert suggested(visitor, "mugs harb") == [{"name": "Harbour mug", "url": "/products/harbour-mug"}]
    assert suggested(visitor, "m") == suggested(visitor, " ") == suggested(visitor, "spaceship") == []


def test_suggests_eight_at_most_in_few_queries(shop, visitor, django_assert_max_num_queries):
    for n in range(10):
        make_product(shop, f"Mug {n}")
    suggested(visitor, "mug")
    with django_assert_max_num_queries(4):
        assert len(suggested(visitor, "mugs")) == 8


def test_a_long_text_is_cut(shop, visitor, products):
    assert suggested(visitor, "mug " * 5000) != []
    assert visitor.post("/search/suggestions").status_code == 405
