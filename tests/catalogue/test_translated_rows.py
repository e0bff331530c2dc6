"""Rows of a list in a further language: they are as if each record had been decoded, translated and written again."""

import pytest
from django.utils.timezone import now

from storefront.catalogue.models import Product
from storefront.catalogue.translated_records import members_to_read, translated_json
from storefront.listing.queries import ProductFilters, product_page
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant

COLOURS = [{"name": "Colour", "values": ["Blue", "Red"], "variation": True}]
TRICKY = 'Quotes "name":"x", a backslash \\, a \u2028 and\ttabs, "translations":null, Ü'
TEXTS = {
    "name": TRICKY,
    "slug": "becher",
    "description": "Blau",
    "short_description": TRICKY,
    "meta_title": "Titel",
    "attribute:Colour": "Farbe",
    "attribute:Colour:Blue": "Blau",
    "picture:A mug": "Ein Becher",
    "option:Wrapping": "Papier",
}
MEMBERS = [
    None,
    *([name] for name in ("id", "name", "slug", "translations", "attributes", "media", "categories", "variants")),
    ["description", "meta_title", "translations"],
    ["short_description", "media", "options"],
    ["short_description", "updated_at"],
]


@pytest.fixture
def german(shop):
    shop.further_languages = ["de", "fr"]
    shop.save()
    cups = make_category(shop, "Cups", translations={"de": {"name": "Tassen"}})
    for number, translations in enumerate(
        (
            None,
            {},
            {"fr": {"name": "Tasse"}},
            {"de": {}},
            {"de": {"name": "", "short_description": " \n", "description": "Nur dies", "picture:A mug": " "}},
            {"de": {"slug": "no slug?", "meta_description": "Kurz"}},
            {"de": {"attribute:Colour": "Farbe"}, "fr": TEXTS},
            {"de": TEXTS | {"slug": "tasse"}, "fr": {"name": TRICKY}},
        )
    ):
        mug = make_product(
            shop,
            f"Mug {number}",
            categories=(cups,),
            attributes=COLOURS,
            tags=["a", '"name":'],
            description=TRICKY,
            short_description="Short",
            meta_title="Mug" if number % 2 else None,
        )
        make_variant(mug, "Blue", option_values={"Colour": "Blue"})
        make_option(mug, "Wrapping", {"Gold": "1.00"})
        make_media(mug, alt="A mug")
        # As older releases stored them, too.
        Product.objects.filter(pk=mug.pk).update(translations=translations)
    return shop


@pytest.mark.parametrize("members", MEMBERS)
def test_a_row_of_a_list_is_what_decoding_its_record_gives(german, members):
    members = members and frozenset(members)
    at = now()

    def texts(**filters) -> list[str]:
        return product_page(german, ProductFilters(**filters), page=1, per_page=50, now=at).records_json

    stored = texts(members=members_to_read(members))
    assert len(stored) == 8
    for language in german.further_languages:
        shown = texts(members=members, language=language)
        assert shown == [translated_json(text, language, members) for text in stored]
    assert texts(members=members, language=german.language) == texts(members=members)
