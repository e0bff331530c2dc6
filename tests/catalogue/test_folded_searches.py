"""Searches find words that are typed in another way than they are written: without accents, with other apostrophes and
hyphens. What stands in markup alone is found by the API, and not by shoppers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storefront.catalogue import app_queries
from storefront.catalogue.folding import casefolded, folded, folded_word
from storefront.catalogue.models import Product
from storefront.catalogue.search_texts import MARKUP, search_text
from storefront.listing import queries
from storefront.listing.page import RELEVANCE
from storefront.listing.queries import ProductFilters
from tests.catalogue.factories import make_product, make_variant
from tests.shops.factories import NOW, make_shop


def found(shop, q: str, *, for_shoppers: bool = True, **filters) -> list[str]:
    given = ProductFilters(q=q, for_shoppers=for_shoppers, **filters)
    page = queries.product_page(shop, given, page=1, per_page=100, now=NOW)
    ids = queries.match_ids(shop, q, for_shoppers=for_shoppers, now=NOW)
    names = [record["name"] for record in page.rows]
    assert page.total == len(names)
    if not filters:
        assert sorted(names) == sorted(Product.objects.filter(pk__in=list(ids)).values_list("name", flat=True))
    return names


FINDS = [
    ("Mug 11″", '11"'),
    ('Mug 11"', "11”"),
    ("צה״ל", 'צה"ל'),
    ("Col·lecció", "col·leccio"),
    ("Col·lecció", "colleccio"),
    # Accents, and letters that are no letter with an accent.
    ("Dípticos", "dipticos"),
    ("Dipticos", "dípticos"),
    ("Câmara de bebé", "CAMARA bebe"),
    ("Câmara de bebé", "ca\u0302mara"),
    ("xịt chống nắng", "xit chong nang"),
    ("Đồng hồ", "dong ho"),
    ("Køkken", "kokken"),
    ("Łóżko", "lozko"),
    ("Straße", "strasse"),
    ("Œuvre", "oeuvre"),
    ("Işık", "isik"),
    ("ＭＵＧ ﬁne", "mug fine"),
    ("10 m² rug", "m2"),
    ("Ёлка", "елка"),
    ("Καφές", "καφεσ"),
    ("ΜΆΙΟΣ", "μαϊος"),
    # Apostrophes.
    ("Men's wallet", "men’s"),
    ("Men’s wallet", "men's"),
    ("Men's wallet", "mens"),
    ("Menʼs wallet", "men‘s wallets"),
    ("Mugs", "mug’s"),
    ("L’huile d'olive", "l'huile d’olive"),
    ("L’huile d'olive", "huiles olives"),
    # Hyphens.
    ("T-shirt", "t-shirts"),
    ("T-shirt", "tshirt"),
    ("T-shirt", "tshirts"),
    ("T-shirt", "t shirt"),
    ("T-shirts", "t-shirt"),
    ("T-shirt", "shirts"),
    ("T\u2010shirt", "t\u2011shirt"),
    ("Tshirt", "t-shirts"),
    ("Tshirt", "t shirt"),
    ("T shirt", "t-shirts"),
    ("T shirt", "tshirt"),
    ("Blue T shirts", "t-shirt"),
    ("V-neck jumper", "v-necks"),
    ("V neck jumper", "vnecks"),
    ("V bodies", "v-body"),
    ("MUG-12-A", "mug12a"),
    ("Blu-ray", "blu-rays"),
    ("Blu ray", "bluray"),
    ("Type C cable", "type-c"),
    ("Co\u00adoperate", "cooperate"),
    ("می\u200cخواهم", "میخواهم"),
    ("Ages 3-5", "3-5"),
    ("Ages 3–5", "3-5"),
    ("צ\u05f3יפס", "ציפס"),
    ("תל\u05beאביב", "תל-אביב"),
    # Hyphens for spaces, and numbers that are written together with words.
    ("Long sleeve shirt", "long-sleeve"),
    ("Long sleeve shirt", "long-sleeves"),
    ("Long-sleeve shirt", "long sleeves"),
    ("Gluten free bread", "gluten-free"),
    ("Non stick pan", "non-stick"),
    ("Tee shirt", "tee-shirts"),
    ("Tee shirts", "tee-shirt"),
    ("12 pack", "12-pack"),
    ("12 packs", "12pack"),
    ("12-pack", "12pack"),
    ("12pack", "12-pack"),
    ("A 2 in 1 pot", "2-in-1"),
    ("A 2 in 1 pot", "2in1"),
    ("iPhone 14", "iphone-14"),
    ("iPhone 14", "iphone14"),
    ("5 l kettle", "5l"),
    ("Água benta", "agua-benta"),
    # Entities.
    ("Salt &amp; pepper 11&#39;&#39;", "& 11''"),
    ("Caf&eacute;", "cafe"),
]


@pytest.mark.parametrize(("name", "q"), FINDS)
def test_a_word_is_found_however_it_is_typed(shop, other_shop, name, q):
    for each in (shop, other_shop):
        make_product(each, name, slug="one")
        make_product(each, "Zzz", slug="two")
    assert found(shop, q) == found(shop, q, for_shoppers=False) == [name]
    assert found(shop, q, sort=RELEVANCE) == [name]
    page, total = app_queries.product_page(shop, status=None, q=q, updated_since=None, start=0, count=9, now=NOW)
    assert ([record["name"] for record in page], total) == ([name], 1)


@pytest.mark.parametrize(
    ("name", "q"),
    [
        ("Women's wallet", "men’s"),
        ("Women's wallet", "mens'"),
        ("Women's wallet", "mens’ wallet"),
        ("Women’s wallet", "men's wallet"),
        ("Йод", "иод"),
        ("ひかり", "ひがり"),
        ("कल", "किल"),
        ("ไก่", "ไก้"),
        ("Size 35", "3-5"),
        ("Size 3-5", "35"),
        ("Sea shore", "seashore"),
        ("Sleeve, long or short", "long-sleeve"),
        ("Pack of 112 packs", "12-pack"),
    ],
)
def test_other_words_are_not_found(shop, name, q):
    make_product(shop, name, slug="one")
    assert found(shop, q) == []


def test_the_api_finds_what_the_name_contains(shop):
    make_product(shop, "Women's wallet")
    assert found(shop, "men's", for_shoppers=False) == found(shop, "n's", for_shoppers=False) == ["Women's wallet"]


@pytest.mark.parametrize(
    "q", ["strong", "class", "intro", "<p", "towels</strong>", "strong towels", "y class", "mug class a b c d e f"]
)
def test_markup_is_found_by_the_api_alone(shop, other_shop, q):
    for each in (shop, other_shop):
        text = '<p class="intro">A <strong>towels</strong> y a b c d e f'
        make_product(each, "Mug", description=text)
        make_product(each, "Strongbox", description="first class intro")
    others = {"strong": ["Strongbox"], "class": ["Strongbox"], "intro": ["Strongbox"]}.get(q, [])
    assert found(shop, q) == others
    assert sorted(found(shop, q, for_shoppers=False)) == ["Mug", *others]
    assert found(shop, q, featured=True) == []
    assert found(shop, "towel") == ["Mug"]


def test_a_sum_and_a_heart_are_no_markup(shop):
    make_product(shop, "Mug", description="I <3 tea, a < b and c > d, 1<2")
    assert found(shop, "<3") == found(shop, "1<2") == found(shop, "tea c > d") == ["Mug"]


def test_a_word_of_hyphens_or_apostrophes_finds_what_has_them(shop):
    for number, name in enumerate(("T-shirt", "Men’s", "Plain", "3-5", "a -- b")):
        make_product(shop, name, slug=f"p{number}")
    assert sorted(found(shop, "-")) == ["3-5", "T-shirt", "a -- b"]
    assert found(shop, "--") == ["a -- b"]
    assert found(shop, "'") == found(shop, "’") == ["Men’s"]
    assert found(shop, "'-") == []


SHOPPERS = [
    "Mug – Blue",
    "mug - blue",
    "mug — blue",
    "Mug / Blue",
    "“blue mug”",
    '"Blue mug"',
    "(mug), blue!",
    "mug. – blue?",
]


@pytest.mark.parametrize("q", SHOPPERS)
def test_shoppers_find_a_product_as_orders_name_it(shop, other_shop, q):
    for each in (shop, other_shop):
        make_variant(make_product(each, "Mug"), "Blue")
        make_product(each, "Bowl – 1/2", slug="bowl")
    assert found(shop, q) == ["Mug"]


def test_punctuation_alone_is_searched_as_it_is(shop):
    make_product(shop, 'Mug – 11" (tall)')
    make_product(shop, "Bowl 11")
    assert found(shop, '11"') == found(shop, "–") == found(shop, "(") == ['Mug – 11" (tall)']
    assert found(shop, "mug –", for_shoppers=False) == found(shop, "(tall", for_shoppers=False) == ['Mug – 11" (tall)']
    assert found(shop, "bowl –", for_shoppers=False) == found(shop, "(bowl", for_shoppers=False) == []


SKUS = [
    ("978-3-16-148410-0", "9783161484100"),
    ("9783161484100", "978-3-16-148410-0"),
    ("978-3-16-148410-0", "978-3-16-148410-0"),
    ("978-3-16-148410-0", "3-16-148410-0"),
    ("AB-12-34", "ab1234"),
    ("AB-12-34", "ab-12-34"),
]


@pytest.mark.parametrize(("sku", "q"), SKUS)
def test_a_sku_is_found_with_and_without_its_hyphens(shop, other_shop, sku, q):
    for each in (shop, other_shop):
        make_product(each, "Mug", sku=sku)
        make_product(each, "Bowl", sku="978-3-16-148410-1", slug="bowl")
    for for_shoppers in (True, False):
        assert found(shop, q, for_shoppers=for_shoppers) == ["Mug"]


@pytest.mark.parametrize("q", ["h2o", "once", "supercalifragil", "blue", "red"])
def test_markup_within_a_word_does_not_split_it(shop, q):
    text = 'H<sub>2</sub>O <B class="x">O</B>nce supercali<wbr/>fragil <p>blue</p><p>red</p>'
    make_product(shop, "Mug", description=text)
    make_product(shop, "Bowl", description="blu ed h o")
    assert found(shop, q) == ["Mug"]
    assert found(shop, "bluered") == found(shop, "class") == []
    for written in (q, "H<sub>2</sub>O", "<wbr/>", "class"):
        assert found(shop, written, for_shoppers=False) == ["Mug"]


@pytest.mark.parametrize("q", ["\u200b", "\u0301", "\ufeff \u200d", "\u0301\u0302"])
def test_characters_without_a_width_alone_find_nothing(shop, q):
    make_product(shop, "Mug")
    for for_shoppers in (True, False):
        assert found(shop, q, for_shoppers=for_shoppers) == []
        assert found(shop, f"mug {q}", for_shoppers=for_shoppers) == ["Mug"]
    page = app_queries.product_page(shop, status=None, q=q, updated_since=None, start=0, count=9, now=NOW)
    assert page == ([], 0)


def test_a_number_with_too_many_digits_is_no_entity():
    assert " &#" + "9" * 5000 in search_text(language="en", name="&#" + "9" * 5000 + ";").text


@pytest.mark.slow
@given(st.text(max_size=20), st.text(max_size=20))
def test_a_part_of_a_text_is_a_part_of_it_folded(before, part):
    for text in (before + part, part + before, before + part + before):
        for word in casefolded(part).split():
            assert folded_word(word) in folded(casefolded(text)) or set(folded_word(word)) <= {"'", "-"}


@given(st.text(), st.sampled_from(["en", "pt", "other"]))
def test_what_was_folded_stays_the_same(text, language):
    made = search_text(language=language, name=text, description=text)
    assert made == search_text(language=language, name=text, description=text)
    assert folded(folded(text)) == folded(text)
    assert MARKUP not in text.split()
    assert made.text.count(MARKUP) <= 1


def test_the_language_of_the_shop_counts_with_and_without_accents(db):
    shop = make_shop("pt.example.com", language="pt")
    make_product(shop, "Canções")
    for q in ("canções", "cancoes", "CANÇÕES", "canção", "cancao"):
        assert bool(found(shop, q)) is (q not in ("canção", "cancao")), q
