import pytest

from storefront.catalogue.models import Product
from tests.product_files.files import imported, warnings, woo


def product(shop) -> Product:
    return Product.objects.get(shop=shop)


def test_yoasts_fields_are_the_members_for_search_engines(shop, tmp_path):
    row = woo() | {
        "Meta: _yoast_wpseo_title": "A mug, 100% clay",
        "Meta: _yoast_wpseo_metadesc": "It holds <b>tea</b>",
        "Meta: _yoast_wpseo_canonical": "https://a.example.com/mug",
        "Meta: _yoast_wpseo_opengraph-image": "https://a.example.com/mug.jpg",
        "Meta: _yoast_wpseo_meta-robots-noindex": "1",
    }
    report = imported(shop, [row], tmp_path)
    assert report.problems == []
    made = product(shop)
    assert (made.meta_title, made.meta_description) == ("A mug, 100% clay", "It holds <b>tea</b>")
    assert (made.canonical_url, made.og_image_url) == ("https://a.example.com/mug", "https://a.example.com/mug.jpg")
    assert made.noindex


def test_rank_maths_fields_count_where_yoasts_are_blank(shop, tmp_path):
    row = woo() | {
        "Meta: _yoast_wpseo_title": "",
        "Meta: rank_math_title": "Ours",
        "Meta: _yoast_wpseo_metadesc": "Yoast's",
        "Meta: rank_math_description": "Rank Math's",
        "Meta: rank_math_robots": "index",
    }
    assert imported(shop, [row], tmp_path).problems == []
    made = product(shop)
    assert (made.meta_title, made.meta_description, made.noindex) == ("Ours", "Yoast's", False)


@pytest.mark.parametrize(
    ("column", "template", "resolved"),
    [
        ("_yoast_wpseo_title", "%%title%% %%page%% %%sep%% %%sitename%%", "Mug - {shop}"),
        ("_yoast_wpseo_title", "%%title%% %%page%% %%sep%%", "Mug"),
        ("_yoast_wpseo_title", "Buy %%title%% (%%wc_sku%%) in %%primary_category%%", "Buy Mug (M1) in Cups"),
        ("rank_math_title", "%title% %sep% %sitename%", "Mug - {shop}"),
        ("rank_math_title", "50% off: %wc_brand%, %excerpt%", "50% off: Kiln, Holds tea"),
    ],
)
def test_placeholders_are_resolved(shop, tmp_path, column, template, resolved):
    row = woo(sku="M1", categories="Kitchen > Cups", brands="Kiln", short_description="<p>Holds tea</p>")
    assert imported(shop, [row | {f"Meta: {column}": template}], tmp_path).problems == []
    assert product(shop).meta_title == resolved.format(shop=shop.name)


@pytest.mark.parametrize(
    ("column", "text", "reason"),
    [
        (
            "_yoast_wpseo_title",
            "%%title%% %%cf_colour%%",
            "has the placeholder %%cf_colour%%, which cannot be resolved",
        ),
        ("rank_math_title", "%title% %date(Y)%", "has the placeholder %date(Y)%, which cannot be resolved"),
        ("_yoast_wpseo_canonical", "/mug", "expected a URL that begins with https:// or http://"),
        ("_yoast_wpseo_title", "x" * 501, "has 501 characters; at most 500 are allowed"),
    ],
)
def test_what_cannot_be_used_is_a_warning_and_the_product_is_imported(shop, tmp_path, column, text, reason):
    report = imported(shop, [woo() | {f"Meta: {column}": text}], tmp_path)
    (warning,) = warnings(report)
    assert warning.startswith(f"line 2, Meta: {column}: {reason}")
    assert warning.endswith("; not imported")
    made = product(shop)
    assert (made.meta_title, made.canonical_url) == (None, None)


def test_blank_fields_clear_the_members_of_an_existing_product(shop, other_shop, tmp_path):
    column = "Meta: _yoast_wpseo_title"
    for each in (shop, other_shop):
        imported(each, [woo(sku="M1") | {column: "A mug"}], tmp_path)
    imported(shop, [woo(sku="M1") | {column: ""}], tmp_path, update=True)
    assert (product(shop).meta_title, product(other_shop).meta_title) == (None, "A mug")


@pytest.mark.parametrize("word", ["Méta : ", "Мета: ", "Metadado: ", "Pola: "])
def test_headers_of_other_languages(shop, tmp_path, word):
    imported(shop, [woo() | {f"{word}_yoast_wpseo_title": "A mug"}], tmp_path)
    assert product(shop).meta_title == "A mug"
