"""What `q` finds, and that a product's text follows everything that it is made of."""

import unicodedata
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storefront.catalogue import actions, jobs
from storefront.catalogue.models import Brand, Product, ProductSearch, Variant
from storefront.catalogue.search_texts import search_text, search_words
from storefront.listing import queries
from storefront.listing.page import RELEVANCE
from storefront.listing.queries import ProductFilters
from tests.catalogue.factories import make_product, make_variant
from tests.shops.factories import NOW, make_shop


def found(shop, q, sort=None) -> list[str]:
    page = queries.product_page(shop, ProductFilters(q=q, sort=sort), page=1, per_page=100, now=NOW)
    assert page.total == len(page.rows)
    return [record["name"] for record in page.rows]


@pytest.fixture
def mug(shop, other_shop) -> Product:
    """A mug of this shop, beside a lamp, and another shop's with the same words."""
    make_product(shop, "Lamp")
    for each in (shop, other_shop):
        brand = Brand.objects.create(shop=each, name="Kettlewright")
        product = make_product(
            each,
            "Harbour mug",
            brand=brand,
            description="<p>Dries on the <b>shelf</b> beside your towel. Holds berries.</p>",
            tags=["Stoneware"],
            attributes=[{"name": "Glaze", "values": ["Celadon"], "variation": False}],
        )
        make_variant(product, "Large, moss", sku="MUG-HARBOUR-OAT", option_values={"Colour": "Moss"})
    return Product.objects.get(shop=shop, name="Harbour mug")


@pytest.mark.rule("R-CAT-20")
@pytest.mark.parametrize(
    "q",
    [
        "mugs",
        "MUGS",
        "towels",
        "berry",
        "mug harbour",
        "moss",
        "large",
        "moss large",
        "MUG-HARBOUR-OAT",
        "harbour-oat",
        "kettlewright",
        "kettlewrights",
        "stoneware",
        "glaze",
        "celadon mugs",
        "arbou",
        "mugs towels berry kettlewrights stoneware celadon",
    ],
)
def test_finds_what_people_type(shop, mug, q):
    assert found(shop, q) == ["Harbour mug"]


@pytest.mark.parametrize("q", ["lamp mug", "mugx", "smug", "mugs lamps", "strongs", "mug%"])
def test_finds_nothing_else(shop, mug, q):
    assert found(shop, q) == []


@pytest.mark.parametrize(
    ("language", "name", "q"),
    [
        ("de", "Blaue Becher", "blauer becher"),
        ("de", "Haus", "häuser"),
        ("de", "Haus", "hauser"),
        ("fr", "Tasse bleue", "tasses bleues"),
        ("ru", "Синие кружки", "кружка"),
        # These write vowels with marks.
        ("hi", "लाल किताब", "किताबों"),
        ("ta", "நீல கோப்பை", "கோப்பைகள்"),
    ],
)
def test_stems_are_those_of_the_shop_s_language(db, language, name, q):
    shop, english = make_shop("l.example.com", language=language), make_shop("e.example.com", language="other")
    for each in (shop, english):
        make_product(each, name, slug="one")
    assert found(shop, q) == [name]
    assert found(english, q) == []


@given(st.lists(st.text(max_size=60), min_size=3, max_size=3), st.sampled_from(["en", "de", "tr", "other"]), st.data())
def test_what_occurs_in_name_description_or_sku_is_still_found(texts, language, data):
    name, description, sku = texts
    text = search_text(language=language, name=name, description=description, sku=sku).text
    plain = unicodedata.normalize("NFC", "\n".join(texts)).casefold()
    start = data.draw(st.integers(0, len(plain)))
    for word in search_words(plain[start : start + data.draw(st.integers(0, 20))], language):
        assert word.text in text


def test_what_a_date_hides_is_not_counted_after_searches_that_it_did_not_hide(shop, other_shop):
    for each in (shop, other_shop):
        make_product(each, "Red mug")
        make_product(each, "Blue mug")
    assert (len(found(shop, "mug")), len(found(other_shop, "mug"))) == (2, 2)
    shop.products.filter(name="Red mug").update(publish_at=NOW + timedelta(days=1))
    assert (found(shop, "mug"), len(found(other_shop, "mug"))) == (["Blue mug"], 2)
    assert (found(shop, "red"), found(shop, "blue")) == ([], ["Blue mug"])
    shop.products.update(publish_at=None, unpublish_at=NOW)
    assert found(shop, "mug") == found(shop, "blue") == []


def test_an_import_and_an_action_write_the_same_text(shop, mug):
    before = ProductSearch.objects.get(product=mug).text
    ProductSearch.objects.filter(product=mug).update(text="")
    actions.update_product(shop=shop, product=mug, now=NOW)
    assert ProductSearch.objects.get(product=mug).text == before


CHANGES = {
    "name": ({"name": "Teapot"}, "teapots"),
    "tags": ({"tags": ["Seaside"]}, "seasides"),
    "attributes": ({"attributes": [{"name": "Finish", "values": ["Satin"]}]}, "satin"),
    "new variant": ({"variants": [{"name": "Tiny", "sku": "T-77", "price": "1.00"}]}, "t-77"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_the_text_follows_a_change(shop, mug, what):
    changes, q = CHANGES[what]
    assert found(shop, q) == []
    actions.update_product(shop=shop, product=mug, now=NOW, **changes)
    assert len(found(shop, q)) == 1


def test_variants_that_are_removed_or_not_sold_are_not_found(shop, mug):
    variant = Variant.objects.get(shop=shop)
    actions.update_product(shop=shop, product=mug, now=NOW, variants=[{"id": variant.pk, "is_active": False}])
    assert found(shop, "moss") == []
    actions.update_product(shop=shop, product=mug, now=NOW, variants=[{"id": variant.pk, "is_active": True}])
    assert found(shop, "moss") == ["Harbour mug"]
    actions.update_product(shop=shop, product=mug, now=NOW, variants=[{"id": variant.pk, "remove": True}])
    assert found(shop, "moss") == []


def test_texts_are_written_again_for_another_language_or_name_of_a_brand(shop, other_shop, mug):
    assert found(shop, "kettlewright") == ["Harbour mug"]
    Brand.objects.filter(shop=shop).update(name="Riverside")
    shop.language = "de"
    shop.save()
    make_product(shop, "Häuser").save()
    ProductSearch.objects.filter(shop=shop, text__contains="häuser").update(text=" häuser ")
    jobs.rewrite_search_texts.call(shop.pk)
    assert (found(shop, "kettlewright"), found(shop, "riverside")) == ([], ["Harbour mug"])
    assert found(shop, "haus") == ["Häuser"]
    assert found(other_shop, "kettlewright") == ["Harbour mug"]


def test_a_shop_s_pages_show_the_most_relevant_first(shop):
    make_product(shop, "A tray", description="Holds six mugs", is_pinned=True)
    make_product(shop, "B tray", tags=["mugs"])
    make_product(shop, "C tray", sku="mugs-1")
    make_product(shop, "Smugsy", is_pinned=True)
    make_product(shop, "Blue mug")
    make_product(shop, "Mugs")
    assert found(shop, "mugs", RELEVANCE) == ["Mugs", "Smugsy", "Blue mug", "C tray", "B tray", "A tray"]
    assert found(shop, "mugs")[:2] in (["A tray", "Smugsy"], ["Smugsy", "A tray"])


def test_pages_by_relevance_follow_one_another(shop, monkeypatch):
    for n in range(12):
        make_product(shop, f"Mug {n:02d}" if n % 2 else f"Bowl {n:02d}", description="for a mug", sort_order=n)
    pages = [
        [
            row["name"]
            for row in queries.product_page(
                shop, ProductFilters(q="mug", sort=RELEVANCE), page=page, per_page=5, now=NOW
            ).rows
        ]
        for page in (1, 2, 3)
    ]
    expected = [f"Mug {n:02d}" for n in range(1, 12, 2)] + [f"Bowl {n:02d}" for n in range(0, 12, 2)]
    assert [name for page in pages for name in page] == expected
    # More matches than are ranked are in the default order.
    monkeypatch.setattr("storefront.listing.page.MAX_RANKED", 11)
    assert found(shop, "mug", RELEVANCE) == found(shop, "mug")
