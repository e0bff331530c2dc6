"""Answers in a language: `locale`, `Accept-Language`, and that without both nothing changes."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.carts.models import CartLine
from storefront.catalogue.models import Category, Product
from storefront.catalogue.search_index import add_words_on_commit
from storefront.catalogue.search_texts import TranslatedWord
from storefront.shops.models import Shop
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.client import ApiClient

TEXTS = {
    "name": "Becher",
    "slug": "becher",
    "description": "<p>Blau</p>",
    "meta_title": "",
    "attribute:Colour": "Farbe",
    "attribute:Colour:Blue": "Blau",
    "option:Engraving": "Gravur",
    "option:Engraving:Gold": "Golden",
    "picture:A mug": "Ein Becher",
}
READS = ("/products", "/products/mug", "/categories", "/categories/cups", "/cart")


@pytest.fixture
def shop(shop) -> Shop:
    return speaking(shop, "en", "de", "fr")


@pytest.fixture
def mug(shop) -> Product:
    cups = make_category(shop, "Cups", translations={"de": {"name": "Tassen", "slug": "tassen"}})
    mug = make_product(
        shop,
        "Mug",
        description="Blue",
        meta_title="Mug!",
        categories=(cups,),
        attributes=[{"name": "Colour", "values": ["Blue"], "variation": True}, {"name": "Made of"}],
        translations={"de": TEXTS},
    )
    make_media(mug, alt="A mug")
    make_option(mug, "Engraving", {"Gold": "5.00", "None": "0.00"})
    make_variant(mug, "Blue", option_values={"Colour": "Blue"})
    return mug


def speaking(shop: Shop, language: str, *further: str) -> Shop:
    shop.language, shop.further_languages = language, list(further)
    shop.save()
    return shop


@pytest.mark.rule("R-CAT-43")
def test_a_product_has_its_texts_in_the_language_that_is_asked_for(api, mug):
    answer = api.get("/products/mug?locale=de")
    record, stored = answer.json()["data"], api.get("/products/mug").json()["data"]
    assert answer["Content-Language"] == "de"
    assert "Vary" not in answer or "Accept-Language" not in answer["Vary"]
    changed = {name for name in stored if record[name] != stored[name]}
    assert changed == {"name", "slug", "description", "media", "attributes", "categories", "variants", "options"}
    assert (record["name"], record["slug"], record["description"]) == ("Becher", "becher", "<p>Blau</p>")
    # An empty text is none.
    assert record["meta_title"] == "Mug!"
    assert record["translations"] == stored["translations"] == {"de": TEXTS}
    assert record["media"][0]["alt"] == "Ein Becher"
    assert record["attributes"] == [{"name": "Farbe", "values": ["Blau"], "variation": True}, {"name": "Made of"}]
    assert (record["variants"][0]["name"], record["variants"][0]["option_values"]) == ("Blau", {"Farbe": "Blau"})
    option = record["options"][0]
    assert (option["name"], [value["label"] for value in option["values"]]) == ("Gravur", ["Golden", "None"])
    (category,) = record["categories"]
    assert (category["name"], category["slug"]) == ("Tassen", "tassen")
    assert list(category) == list(stored["categories"][0])
    assert list(record) == list(stored)


@pytest.mark.rule("R-CAT-43")
def test_lists_and_categories_too(api, mug):
    (record,) = api.get("/products?locale=de").json()["data"]
    assert (record["name"], record["attributes"][0]["name"]) == ("Becher", "Farbe")
    (category,) = api.get("/categories?locale=de").json()["data"]
    assert (category["name"], category["slug"]) == ("Tassen", "tassen")
    assert "translations" not in category
    assert api.get("/categories/cups?locale=de").json()["data"] == category
    # Nothing is translated to French.
    for path in READS[:4]:
        answer = api.get(f"{path}?locale=fr")
        assert (answer.json()["data"], answer["Content-Language"]) == (api.get(path).json()["data"], "fr")


@pytest.mark.rule("R-CAT-43")
@pytest.mark.parametrize("member", ["name", "translations", "categories", "variants"])
def test_only_the_members_that_are_asked_for(api, mug, member):
    whole = api.get("/products/mug?locale=de").json()["data"]
    for path in ("/products/mug?", "/products?", "/products?after=&"):
        data = api.get(f"{path}locale=de&fields={member}").json()["data"]
        assert data in ({member: whole[member]}, [{member: whole[member]}])


@pytest.mark.rule("R-CAT-43")
def test_pages_and_runs_keep_the_language(api, shop, mug):
    make_product(shop, "Bowl", translations={"de": {"name": "Schale"}})
    answer = api.get("/products?locale=de&per_page=1").json()
    assert "locale=de" in answer["next_page_url"]
    run = api.get("/products?locale=de&after=")
    assert [each["name"] for each in run.json()["data"]] == ["Becher", "Schale"]
    assert run["Content-Language"] == "de"


@pytest.mark.rule("R-CAT-45")
def test_products_and_categories_are_found_by_their_slugs_in_the_language(api, shop, mug):
    for slug in ("mug", "becher"):
        assert api.get(f"/products/{slug}?locale=de").json()["data"]["id"] == mug.pk
    for slug in ("cups", "tassen"):
        assert api.get(f"/categories/{slug}?locale=de").json()["data"]["name"] == "Tassen"
        assert api.get(f"/products?category={slug}&locale=de").json()["total"] == 1
    for path in ("/products/becher", "/categories/tassen", "/products/becher?locale=fr"):
        assert api.get(path).status_code == 404
    assert api.get("/products?category=tassen").json()["total"] == 0
    Product.objects.filter(pk=mug.pk).update(translations={"de": {"slug": "tasse"}})
    moved = api.get("/products/becher?locale=de")
    assert moved.json()["data"]["slug"] == "tasse"
    assert moved["Content-Location"].endswith("/api/v1/products/mug")


@pytest.mark.rule("R-CAT-45")
def test_searches_are_in_the_language(api, shop, mug, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        add_words_on_commit(shop, [TranslatedWord("becher", "de")])
    assert api.get("/products?q=bechern&locale=de").json()["total"] == 1
    assert api.get("/products?q=bechern").json()["total"] == 0
    assert api.get("/products?q=becjer&locale=de").json()["did_you_mean"] == "becher"


@pytest.mark.rule("R-CAT-43")
@pytest.mark.parametrize("path", READS)
@pytest.mark.parametrize("locale", ["it", "", "deutsch", "-", "x" * 300])
def test_a_locale_that_the_shop_does_not_have_is_refused(api, mug, path, locale):
    answer = api.get(f"{path}?locale={locale}")
    assert answer.status_code == 422
    assert (answer.json()["code"], answer.json()["errors"]) == (
        "invalid_fields",
        {"locale": ["locale must be one of the shop's languages: en, de, fr."]},
    )
    assert answer.json()["problems"][0]["code"] == "not_allowed"
    assert answer.json()["problems"][0]["allowed"] == ["en", "de", "fr"]


@pytest.mark.rule("R-CAT-43")
@pytest.mark.parametrize("locale", ["de", "DE", "de-AT", "de_CH", "de-Latn-DE"])
def test_a_country_does_not_count(api, mug, locale):
    answer = api.get(f"/products/mug?locale={locale}")
    assert (answer.json()["data"]["name"], answer["Content-Language"]) == ("Becher", "de")


@pytest.mark.rule("R-CAT-43")
def test_the_main_language_can_be_asked_for(api, shop, mug):
    for path in READS:
        answer, plain = api.get(f"{path}?locale=en"), api.get(path)
        assert answer["Content-Language"] == "en"
        assert answer.json()["data"] == plain.json()["data"]
    speaking(shop, "other", "de")
    assert api.get("/products?locale=other")["Content-Language"] == "und"


@pytest.mark.rule("R-CAT-44")
@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("de", "de"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("it, fr;q=0.7, de;q=0.3", "fr"),
        ("en, de;q=0.9", ""),
        ("it", ""),
        ("*", ""),
        ("*, de;q=0.5", ""),
        ("de;q=0, fr;q=0", ""),
        ("de;;", ""),
        ("", ""),
        ("x" * 10_000, ""),
    ],
)
def test_accept_language_counts_if_it_prefers_a_further_language(api, shop, mug, header, language):
    for path in READS:
        answer, plain = (
            api.get(path, Accept_Language=header),
            api.get(f"{path}?locale={language}" if language else path),
        )
        assert answer.json()["data"] == plain.json()["data"]
        assert answer.get("Content-Language", "") == language
        assert ("Accept-Language" in answer.get("Vary", "")) == bool(language)
    # What is asked for counts, whatever the header prefers.
    explicit = api.get("/products/mug?locale=en", Accept_Language=header)
    assert (explicit.json()["data"]["name"], explicit["Content-Language"]) == ("Mug", "en")
    assert "Accept-Language" not in explicit["Vary"]


@pytest.mark.rule("R-CAT-44")
@pytest.mark.parametrize("further", [[], ["de", "fr"]])
def test_without_both_an_answer_is_the_same_to_the_byte(api, shop, mug, further):
    """In a shop with one language the header changes nothing either."""
    shop = speaking(shop, "en")
    before = [facts(api.get(path)) for path in READS]
    speaking(shop, "en", *further)
    assert [facts(api.get(path)) for path in READS] == before
    if not further:
        assert [facts(api.get(path, Accept_Language="de")) for path in READS] == before


def facts(answer) -> tuple[bytes, dict[str, str]]:
    own = ("X-Request-Id",)
    return answer.content, {name: value for name, value in answer.items() if name not in own}


@pytest.mark.rule("R-CAT-44")
def test_etags_differ_by_language_even_for_the_same_bytes(api, shop):
    make_product(shop, "Mug")
    etags = {api.get(f"/products/mug{query}")["ETag"] for query in ("", "?locale=en", "?locale=de", "?locale=fr")}
    assert len(etags) == 4
    etag = api.get("/products/mug?locale=de")["ETag"]
    known = api.get("/products/mug?locale=de", If_None_Match=etag)
    assert (known.status_code, known["Content-Language"]) == (304, "de")
    assert api.get("/products/mug?locale=fr", If_None_Match=etag).status_code == 200


@pytest.mark.rule("R-CAT-43")
def test_an_unknown_parameter_is_still_named_as_ignored(api, mug):
    for path in READS:
        answer = api.get(f"{path}?locale=de&local=de")
        assert answer["X-Ignored"] == "local"


@pytest.mark.rule("R-CART-54")
def test_carts_name_their_lines_in_the_language(api, shop, mug):
    variant, option = mug.variants.get(), mug.options.get()
    line = {"product_id": mug.pk, "variant_id": variant.pk, "qty": 1}
    line["options"] = {str(option.pk): option.values.get(label="Gold").pk}
    added = api.post("/cart?locale=de", line)
    assert added["Content-Language"] == "de"
    token = added.json()["cart_token"]
    record = added.json()["data"]
    assert record["name_snapshot"] == "Becher – Blau"
    assert [(each["name"], each["value"]) for each in record["options"]] == [("Gravur", "Golden")]
    (item,) = api.get("/cart?locale=de", cart=token).json()["data"]["items"]
    assert item["name_snapshot"] == "Becher – Blau"
    (stored,) = api.get("/cart", cart=token).json()["data"]["items"]
    assert (stored["name_snapshot"], stored["options"][0]["value"]) == ("Mug – Blue", "Gold")
    changed = api.patch(f"/cart/{stored['key']}?locale=de", {"qty": 2}, cart=token)
    assert changed.json()["data"]["items"][0]["name_snapshot"] == "Becher – Blau"
    assert changed["Content-Language"] == "de"
    # The tag is that of the cart, whichever language it was read in.
    assert changed["ETag"] == api.get("/cart", cart=token)["ETag"]
    several = api.post("/cart/lines?locale=de", {"lines": [line]}, cart=token)
    assert several.json()["data"]["items"][0]["name_snapshot"] == "Becher – Blau"


@pytest.mark.rule("R-CART-54")
def test_a_locale_that_is_refused_writes_nothing_and_a_replay_keeps_its_language(api, mug):
    line = {"product_id": mug.pk, "qty": 1, "variant_id": mug.variants.get().pk}
    line["options"] = {str(mug.options.get().pk): mug.options.get().values.first().pk}
    key = {"Idempotency_Key": "one"}
    assert api.post("/cart?locale=it", line, **key).status_code == 422
    assert not CartLine.objects.exists()
    first = api.post("/cart?locale=de", line, **key)
    again = api.post("/cart?locale=de", line, **key)
    assert again["Idempotent-Replayed"] == "true"
    assert (again.content, again["Content-Language"], again["ETag"]) == (first.content, "de", first["ETag"])


@pytest.mark.rule("R-CAT-43")
def test_a_list_in_a_language_takes_as_many_queries(api, shop, mug):
    for number in range(5):
        make_product(shop, f"Bowl {number}", translations={"de": {"name": f"Schale {number}"}})
    api.get("/products")
    counts = [_queries(api, path) for path in ("/products?per_page=4", "/products?per_page=4&locale=de")]
    assert counts[0] == counts[1]
    assert _queries(api, "/products/mug?locale=de") <= _queries(api, "/products/mug?fields=id") + 1


def _queries(api: ApiClient, path: str) -> int:
    with CaptureQueriesContext(connection) as found:
        assert api.get(path).status_code == 200
    return len(found)


@pytest.mark.rule("R-CAT-43")
def test_another_shops_languages_do_not_count(api, other_api, other_shop, mug):
    speaking(other_shop, "de", "en")
    make_product(other_shop, "Becher", slug="mug", translations={"en": {"name": "Cup"}, "de": {"name": "Falsch"}})
    assert other_api.get("/products/mug?locale=en").json()["data"]["name"] == "Cup"
    assert other_api.get("/products/mug?locale=de").json()["data"]["name"] == "Becher"
    assert other_api.get("/products/becher?locale=en").status_code == 404
    assert api.get("/products/mug?locale=de").json()["data"]["name"] == "Becher"
    assert other_api.get("/products").json()["data"][0]["name"] == "Becher"
    assert Category.objects.count() == 1
