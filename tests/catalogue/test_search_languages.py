"""Searches in the languages of a shop: what a product's text has, how the words of a search are stemmed, and which
spelling is offered."""

import pytest

from storefront.catalogue import actions
from storefront.catalogue.models import ProductSearch, SearchWord
from storefront.catalogue.search_texts import MARKUP, SECTION_ENDS, search_words
from storefront.listing import queries, spelling
from storefront.listing.page import RELEVANCE, ProductFilters
from storefront.listing.reindexing import reindex
from storefront.product_files.importing import import_products
from storefront.shops.models import Shop
from tests.catalogue.factories import make_product, make_variant
from tests.shops.factories import NOW

GERMAN = {"de": {"name": "Blaue Becher", "description": "<p>Für Häuser</p>", "attribute:Colour": "Farbe"}}


@pytest.fixture
def shop(shop) -> Shop:
    shop.language, shop.further_languages = "en", ["de", "fr"]
    shop.save()
    return shop


@pytest.fixture
def other_shop(other_shop) -> Shop:
    other_shop.language, other_shop.further_languages = "de", ["en"]
    other_shop.save()
    return other_shop


def found(shop: Shop, q: str, language: str | None = None, **filters) -> list[str]:
    chosen = ProductFilters(q=q, language=language, **filters)
    page = queries.product_page(shop, chosen, page=1, per_page=10, now=NOW)
    return [row["slug"] for row in page.rows]


def corrected(shop: Shop, q: str, language: str | None = None) -> str | None:
    return spelling.nearest_spelling(shop, ProductFilters(q=q, language=language), now=NOW)


def test_texts_of_each_language_are_in_their_sections_with_its_stems(shop):
    mug = make_product(
        shop,
        "Mugs",
        attributes=[{"name": "Colour", "values": ["Blue"]}],
        translations={"de": {**GERMAN["de"], "attribute:Colour:Blue": "Blau"}, "es": {"name": "Taza"}},
    )
    sections = ProductSearch.objects.get(product=mug).text
    for end in SECTION_ENDS:
        sections = sections.replace(end, "|")
    name, _, other, description = sections.partition(MARKUP)[0].split("|")
    assert name.split() == ["mugs", "mug", "blaue", "becher", "bech", "blau"]
    assert {"colour", "blue", "farbe", "blau"} <= set(other.split())
    # The stem of `häuser` in German.
    assert {"fur", "hauser", "haus"} <= set(description.split())
    assert "taza" not in sections


def test_words_are_stemmed_in_the_language_of_the_page_and_the_main_one(shop, other_shop):
    make_product(shop, "Houses", translations={"de": {"name": "Häuser"}})
    make_product(other_shop, "Becher", translations={"en": {"name": "Mug"}})
    assert found(shop, "Häusern") == []
    assert found(shop, "Häusern", "de") == ["houses"]
    # In the main language too, whatever the page's is.
    assert found(shop, "house", "de") == found(shop, "housing", "de") == ["houses"]
    assert found(shop, "Häuser") == found(shop, "hauser", "fr") == ["houses"]
    assert found(other_shop, "mugs", "en") == ["becher"]
    assert search_words("houses", "en") == search_words("houses", "en", "en")


def test_every_match_of_the_main_language_is_one_of_each_language(shop):
    make_product(shop, "T-shirts for women", sku="AB-1", description="Soft &amp; warm", tags=["Summer"])
    for q in ("t shirt", "tshirt", "t-shirts", "women's", "AB1", "summers", "softer warm", "shirt summer"):
        for language in ("de", "fr"):
            for is_shopper in (False, True):
                before = found(shop, q, for_shoppers=is_shopper)
                assert set(before) <= set(found(shop, q, language, for_shoppers=is_shopper)), q


def test_names_come_before_descriptions_in_each_language(shop):
    make_product(shop, "Cup", translations={"de": {"name": "Tasse", "description": "Kein Becher"}})
    make_product(shop, "Mug", translations={"de": {"name": "Becher"}})
    assert found(shop, "becher", "de", sort=RELEVANCE) == ["mug", "cup"]


def test_variants_are_found_by_their_translations_as_long_as_they_are_sold(shop):
    texts = {"de": {"attribute:Size": "Größe", "attribute:Size:Large": "Riesig", "variant:Special": "Sonderling"}}
    shirt = make_product(shop, "Shirt", translations=texts)
    large = make_variant(shirt, "Large", option_values={"Size": "Large"})
    make_variant(shirt, "Special", option_values={"Size": "Small"})
    assert found(shop, "riesig", "de") == found(shop, "sonderling", "de") == ["shirt"]
    actions.update_product(shop=shop, product=shirt, now=NOW, variants=[{"id": large.pk, "is_active": False}])
    assert found(shop, "riesig", "de") == []


def test_texts_follow_the_translations_and_the_shops_languages(shop):
    mug = make_product(shop, "Mug")
    actions.update_product(shop=shop, product=mug, now=NOW, translations=GERMAN)
    assert found(shop, "becher", "de") == ["mug"]
    shop.further_languages = ["fr"]
    shop.save()
    assert reindex(shop=shop).texts == 1
    assert found(shop, "becher", "de") == []
    assert not SearchWord.objects.filter(shop=shop, word="becher").exists()
    shop.further_languages = ["de"]
    shop.save()
    assert reindex(shop=shop).texts == 1
    assert found(shop, "becher", "de") == ["mug"]


@pytest.mark.django_db(transaction=True)
def test_imported_products_are_found_in_each_language(shop, tmp_path):
    path = tmp_path / "mugs.jsonl"
    path.write_text('{"name": "Mug", "price": "1.00", "status": "active", "translations": {"de": {"name": "Becher"}}}')
    import_products(shop=shop, file=path, now=NOW)
    assert found(shop, "becher", "de") == ["mug"]
    assert reindex(shop=shop).texts == 0
    assert SearchWord.objects.filter(shop=shop, word="becher", language="de").exists()


def test_spelling_offers_words_of_the_pages_language_first(shop, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        make_product(shop, "Glove", translations={"de": {"name": "Glocke"}})
        make_product(shop, "Globe", translations={"de": {"name": "Globus"}})
        make_product(shop, "Ring", translations={"de": {"name": "Ring"}})
        make_product(shop, "King", translations={"fr": {"name": "Roi"}})
    assert corrected(shop, "gloce") in ("glove", "globe")
    assert corrected(shop, "gloce", "de") == "glocke"
    # A word that both languages have is one of the page's.
    assert corrected(shop, "zing", "de") == "ring"
