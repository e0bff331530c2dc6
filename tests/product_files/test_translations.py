"""Texts in further languages in product files."""

import json

import pytest

from storefront.catalogue import verifying
from storefront.catalogue.models import Category, Product
from storefront.product_files.csv_reading import UnreadableFile
from storefront.shops.models import Shop
from tests.catalogue.factories import make_category, make_product
from tests.product_files.files import errors, exported, imported, warnings
from tests.product_files.undo import import_kept, undo

ROW = {"Type": "simple", "SKU": "M1", "Name": "Mug", "Published": "1", "Regular price": "9.50"}
HANDLE = {"Handle": "mug", "Title": "Mug", "Variant Price": "9.50"}


def speaks(shop: Shop, *codes: str) -> None:
    Shop.objects.filter(pk=shop.pk).update(further_languages=list(codes))
    shop.further_languages = list(codes)


def texts_of(shop: Shop) -> dict | None:
    return Product.objects.get(shop=shop).translations


@pytest.mark.parametrize("row", [ROW, HANDLE], ids=["woocommerce", "shopify"])
def test_columns_state_texts_and_a_file_is_a_patch(shop, other_shop, tmp_path, row):
    theirs = make_product(other_shop, "Mug", slug="mug", sku="M1")
    texts = {"name:de": "Becher", "Description:de": "<b>Blau</b>", "name:fr": "Tasse"}
    report = imported(shop, [row | texts], tmp_path)
    assert (report.created, report.problems) == (1, [])
    assert texts_of(shop) == {"de": {"name": "Becher", "description": "<b>Blau</b>"}, "fr": {"name": "Tasse"}}
    assert imported(shop, [row | texts], tmp_path, update=True).updated == 0
    report = imported(shop, [row | {"name:de": "", "slug:it": "tazza"}], tmp_path, update=True)
    assert report.updated == 1
    assert texts_of(shop) == {"de": {"description": "<b>Blau</b>"}, "fr": {"name": "Tasse"}, "it": {"slug": "tazza"}}
    theirs.refresh_from_db()
    assert theirs.translations is None


@pytest.mark.parametrize("row", [ROW, HANDLE], ids=["woocommerce", "shopify"])
def test_a_text_that_cannot_be_stored_is_reported_with_line_and_column(shop, tmp_path, row):
    another = {"Handle": "cup"} if "Handle" in row else {"SKU": "C1"}
    report = imported(shop, [row, row | another | {"name:de": "x" * 501}], tmp_path)
    assert report.failed == 1
    assert errors(report) == ["line 3, name:de: has 501 characters; at most 500 are allowed"]


def test_a_column_of_no_language_is_not_known(shop, tmp_path):
    report = imported(shop, [ROW | {"name:xx": "?"}], tmp_path)
    assert "is not a known column" in str(report.problems[0])
    assert texts_of(shop) is None


@pytest.mark.parametrize("format", ["woocommerce", "shopify"])
def test_an_exported_table_has_the_shops_languages_and_can_be_read_again(shop, other_shop, tmp_path, format):
    speaks(shop, "de")
    make_product(shop, "Mug", sku="M1", translations={"de": {"name": "Becher"}, "fr": {"name": "Tasse"}})
    text = exported(shop, format)
    assert "name:de" in text
    assert "Becher" in text
    assert "Tasse" not in text
    assert imported(other_shop, text, tmp_path).created == 1
    assert texts_of(other_shop) == {"de": {"name": "Becher"}}
    assert imported(shop, text.replace("Becher", "Pott"), tmp_path, update=True).updated == 1
    assert texts_of(shop) == {"de": {"name": "Pott"}, "fr": {"name": "Tasse"}}
    assert ":de" not in exported(other_shop, format)


def test_the_native_file_loses_no_text(shop, other_shop, tmp_path):
    cups = make_category(shop, "Cups", translations={"de": {"name": "Tassen"}})
    texts = {"de": {"name": "Becher", "attribute:Colour": "Farbe"}}
    make_product(shop, "Mug", categories=(cups,), translations=texts)
    lines = exported(shop)
    assert json.loads(lines)["translations"] == texts
    imported(other_shop, lines, tmp_path)
    assert texts_of(other_shop) == texts
    assert Category.objects.get(shop=other_shop).translations == {"de": {"name": "Tassen"}}


def text_row(field: str, default: str, text: str, **given: str) -> dict[str, str]:
    row = {"Type": "PRODUCT", "Identification": "'7001", "Field": field, "Locale": "de", "Market": "", "Status": ""}
    return row | {"Default content": default, "Translated content": text} | given


def test_shopifys_file_of_translations_updates_products(shop, other_shop, tmp_path):
    mug, cup = make_product(shop, "Mug", translations={"de": {"meta_title": "Kaufen"}}), make_product(shop, "Cup")
    theirs = make_product(other_shop, "Mug")
    rows = [
        text_row("title", "Mug", "Becher"),
        text_row("handle", "mug", ""),
        text_row("body_html", "", "<p>Blau</p>", Locale="pt-BR"),
        text_row("title", "Cup", "Tasse", Identification="'7002"),
        text_row("title", "Mug", "Häferl", Market="Austria"),
        text_row("title", "Colour", "Farbe", Type="PRODUCT_OPTION"),
        text_row("title", "Unknown", "Unbekannt", Identification="'7003"),
    ]
    report = imported(shop, rows, tmp_path, update=True)
    for each in (mug, cup, theirs):
        each.refresh_from_db()
    assert mug.translations == {"de": {"meta_title": "Kaufen", "name": "Becher"}, "pt": {"description": "<p>Blau</p>"}}
    assert cup.translations == {"de": {"name": "Tasse"}}
    assert theirs.translations is None
    assert (report.updated, report.created) == (2, 0)
    told = " ".join(map(str, report.problems))
    for words in ("one market alone", "'PRODUCT_OPTION'", "creates no products"):
        assert words in told, told


def test_shopifys_file_of_translations_creates_nothing(shop, tmp_path):
    with pytest.raises(UnreadableFile, match="Choose to update"):
        imported(shop, [text_row("title", "Mug", "Becher")], tmp_path)


def test_a_bad_row_of_translations_is_named(shop, tmp_path):
    make_product(shop, "Mug")
    rows = [text_row("title", "Mug", "Becher"), text_row("title", "Mug", "?", Locale="xx")]
    report = imported(shop, rows, tmp_path, update=True)
    assert errors(report) == ["line 3, Locale: 'xx' is not a language that a shop can have"]
    assert texts_of(shop) is None


def wpml(language: str, source: str = "", group: str = "product_1", **given: str) -> dict[str, str]:
    codes = {"Meta: _wpml_import_language_code": language, "Meta: _wpml_import_source_language_code": source}
    return ROW | codes | {"Meta: _wpml_import_translation_group": group} | given


def test_rows_that_wpml_exports_are_texts_of_their_original(shop, tmp_path):
    blank = {"Description": "", "Attribute 1 name": "", "Attribute 1 value(s)": ""}
    colours = {"Attribute 1 name": "Colour", "Attribute 1 value(s)": "Blue, Red", "Description": ""}
    farben = {"Attribute 1 name": "Farbe", "Attribute 1 value(s)": "Blau, Rot", "Description": "Schön"}
    rows = [
        wpml("de", "en", Name="Becher", **farben),
        wpml("en", **colours),
        wpml("en", group="product_2", **blank | {"SKU": "C1", "Name": "Cup"}),
        wpml("xx", "en", group="product_2", **blank | {"SKU": "C1"}),
    ]
    report = imported(shop, rows, tmp_path)
    assert (report.created, report.failed) == (2, 1)
    assert errors(report) == ["line 5, Meta: _wpml_import_language_code: is not a language that a shop can have"]
    mug = Product.objects.get(shop=shop, sku="M1")
    assert mug.name == "Mug"
    assert mug.translations == {
        "de": {
            "name": "Becher",
            "description": "Schön",
            "attribute:Colour": "Farbe",
            "attribute:Colour:Blue": "Blau",
            "attribute:Colour:Red": "Rot",
        }
    }
    assert imported(shop, rows, tmp_path, update=True).updated == 0


def polylang(language: str, group: str = "pll_1", **given: str) -> dict[str, str]:
    return ROW | {"Language": language, "Translation group": group} | given


def test_rows_that_polylang_exports_are_texts_of_the_row_in_the_main_language(shop, other_shop, tmp_path):
    rows = [
        polylang("de", Name="Becher", Description="Blau"),
        polylang("en", Description="Blue"),
        polylang("de-at", "pll_2", Name="Häferl", SKU="C1", Description=""),
        polylang("", "", Name="Pot", SKU="P1", Description=""),
    ]
    report = imported(shop, rows, tmp_path)
    assert (report.created, report.failed) == (2, 1)
    assert errors(report) == [
        "line 4, Translation group: 'pll_2' has no row in the shop's main language in this file, whose texts these "
        "would be"
    ]
    mug = Product.objects.get(shop=shop, sku="M1")
    assert (mug.name, mug.translations) == ("Mug", {"de": {"name": "Becher", "description": "Blau"}})
    assert imported(shop, rows, tmp_path, update=True).updated == 0


@pytest.mark.parametrize(("header", "value"), [("Language", "German"), ("Translation group", "pll_1")])
def test_one_column_of_polylang_without_the_other_takes_no_product_away(shop, tmp_path, header, value):
    """A bookshop's own column can have this name."""
    report = imported(shop, [ROW | {header: value}, ROW | {"SKU": "C1", "Name": "Cup", header: ""}], tmp_path)
    assert report.created == 2
    assert warnings(report) == [f"line 2, {header}: is not imported; this is the first row with a value"]


@pytest.mark.parametrize("plugin", [wpml, polylang])
def test_translated_variations_are_texts_of_their_values(shop, tmp_path, plugin):
    def row(language: str, group: str, kind: str, sku: str, value: str, parent: str = "") -> dict[str, str]:
        is_german = language == "de"
        given = {"group": group, "Type": kind, "SKU": sku, "Parent": parent, "Name": "Becher" if is_german else "Mug"}
        source = {"source": "en"} if is_german and plugin is wpml else {}
        colour = {"Attribute 1 name": "Farbe" if is_german else "Colour", "Attribute 1 value(s)": value}
        return plugin(language, **given, **source, **colour)

    rows = [
        row("en", "p", "variable", "M", "Blue, Red"),
        # With other values than the original, as in a file of some of them.
        row("de", "p", "variable", "M", "Blau"),
        row("en", "v1", "variation", "M1", "Blue", "M"),
        row("de", "v1", "variation", "M1", "Blau", "M"),
        row("en", "v2", "variation", "M2", "Red", "M"),
        row("de", "v3", "variation", "M2", "Rot", "M"),
    ]
    report = imported(shop, rows, tmp_path)
    assert (report.created, report.failed) == (1, 1)
    (error,) = errors(report)
    assert error.startswith("line 7, ")
    assert "'v3' has no row in the shop's main language" in error
    mug = Product.objects.get(shop=shop)
    assert mug.variants.count() == 2
    assert mug.translations == {"de": {"name": "Becher", "attribute:Colour": "Farbe", "attribute:Colour:Blue": "Blau"}}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("taken", ["cup", "tasse"])
@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize("update", [True, False])
def test_a_slug_that_is_another_products_is_refused(shop, other_shop, tmp_path, taken, is_new, update):
    """Also one that another is shown at in the language, since it has none of its own there."""
    speaks(shop, "de", "fr")
    make_product(shop, "Cup", sku="C1", translations={"fr": {"slug": "tasse"}})
    if not is_new:
        make_product(shop, "Mug", sku="M1", translations={"fr": {"slug": "godet"}})
    rows = [ROW | {"slug:fr": taken}, ROW | {"SKU": "P1", "Name": "Pot", "slug:fr": "pot"}]
    report = imported(shop, rows, tmp_path, update=update)
    refused = [f"line 2: translations: fr: Another product of this shop already has the slug {taken}."]
    if not is_new and not update:
        refused = []
    assert (errors(report), report.created, report.updated) == (refused, 1, 0)
    assert Product.objects.get(shop=shop, sku="P1").translations == {"fr": {"slug": "pot"}}
    assert [each.translations for each in Product.objects.filter(shop=shop, sku="M1")] == (
        [] if is_new else [{"fr": {"slug": "godet"}}]
    )
    assert imported(other_shop, rows, tmp_path).created == 2


@pytest.mark.django_db(transaction=True)
def test_undoing_an_import_gives_back_the_texts_but_no_slug_that_is_taken_since(shop, tmp_path):
    speaks(shop, "de")
    make_product(shop, "Mug", sku="M1", translations={"de": {"slug": "becher", "name": "Becher"}})
    make_product(shop, "Pot", sku="P1", translations={"de": {"slug": "topf", "name": "Topf"}})
    changes = [ROW | {"slug:de": "krug"}, ROW | {"SKU": "P1", "Name": "Pot", "slug:de": "kanne"}]
    row, report = import_kept(shop, changes, tmp_path)
    assert report.updated == 2
    make_product(shop, "Cup", sku="C1", translations={"de": {"slug": "becher"}})
    done = undo(shop, row)
    assert (done.undone, done.left) == (1, 1)
    stored = dict(Product.objects.filter(shop=shop).values_list("sku", "translations"))
    assert stored["P1"] == {"de": {"slug": "topf", "name": "Topf"}}
    assert stored["M1"] == {"de": {"slug": "krug", "name": "Becher"}}
    assert stored["C1"] == {"de": {"slug": "becher"}}
    assert list(verifying.deviations(shop)) == []
