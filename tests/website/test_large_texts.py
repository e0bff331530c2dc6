"""Descriptions that would take seconds to clean: the write is refused; existing ones are shown without tags."""

import nh3
import pytest
from django.db import DatabaseError

from storefront.catalogue.models import CleanedText, Product
from storefront.kit import clock
from storefront.website import texts
from tests.catalogue.factories import make_category, make_product

DEEP = "<div>" * 30_000
LARGE = "<p>Of <b>clay</b>.</p>" * 500


@pytest.fixture
def cleaned_texts(monkeypatch) -> list[str]:
    """The texts with which nh3 was called."""
    found: list[str] = []
    clean = nh3.clean

    def watched(text: str, **options) -> str:
        found.append(text)
        return clean(text, **options)

    monkeypatch.setattr(nh3, "clean", watched)
    return found


@pytest.mark.parametrize(
    "text", [DEEP + "Cup", "<p " + "a=1 " * 50_000 + ">Cup", "".join(f"<b id={n}><p>" for n in range(9000))]
)
def test_an_existing_oversized_text_is_shown_without_tags(shop, page, cleaned_texts, text):
    product = make_product(shop, "Cup")
    Product.objects.filter(pk=product.pk).update(description=text, short_description=text)
    assert "<h1" in page("/products/cup")
    assert cleaned_texts == []


def test_an_existing_oversized_category_text_is_shown_without_tags(shop, page, cleaned_texts):
    category = make_category(shop, "Cups")
    type(category).objects.filter(pk=category.pk).update(description=DEEP)
    page("/categories/cups")
    assert cleaned_texts == []


def test_a_large_text_is_cleaned_once_and_cached(shop, other_shop, page, cleaned_texts):
    make_product(shop, "Cup", description=LARGE + "<script>evil()</script>")
    for _ in range(3):
        assert "<p>Of <b>clay</b>.</p>" * 500 in page("/products/cup")
    assert len(cleaned_texts) == 1
    kept = CleanedText.objects.get()
    assert (kept.shop, "script" in kept.html) == (shop, False)


def test_a_changed_text_is_cleaned_again(shop, page):
    product = make_product(shop, "Cup", description=LARGE)
    page("/products/cup")
    Product.objects.filter(pk=product.pk).update(description=LARGE.replace("clay", "wood"))
    assert "<b>wood</b>" in page("/products/cup")


def test_the_cache_of_cleaned_texts_is_per_shop(shop, other_shop):
    for each in (shop, other_shop):
        texts.safe_html(each, LARGE, now=clock.now())
    assert {row.shop for row in CleanedText.objects.all()} == {shop, other_shop}


def test_a_page_is_shown_if_the_cache_cannot_be_written(shop, monkeypatch):
    def busy(*_given, **_more):
        raise DatabaseError("database is locked")

    monkeypatch.setattr(CleanedText.objects, "bulk_create", busy)
    assert "<b>clay</b>" in texts.safe_html(shop, LARGE, now=clock.now())


def test_a_small_text_takes_no_query(shop, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert texts.safe_html(shop, "<p onclick=x()>A <b>cup</b></p>", now=clock.now()) == "<p>A <b>cup</b></p>"


@pytest.mark.parametrize("text", ["<b>a</b>" * 2000, "<p>" + "word " * 3000])
def test_an_excerpt_does_not_run_the_cleaner(text, cleaned_texts):
    assert len(texts.excerpt(text)) <= 155
    assert cleaned_texts == []
