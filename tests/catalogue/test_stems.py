"""Stems of words. Products' texts are stored with them, so a stemmer that changes them needs all texts made again.

Words are folded before they are stemmed.
"""

from concurrent.futures import ThreadPoolExecutor

import pytest

from storefront.catalogue.folding import unaccented
from storefront.catalogue.search_texts import search_text, search_words, stem_of
from storefront.shops.languages import CHOICES

STEMS = [
    ("ar", "أكواب", "اكواب"),
    ("ca", "tasses", "tasse"),
    ("cs", "hrnky", "hrnk"),
    ("da", "kopperne", "kop"),
    ("de", "tassen", "tass"),
    ("el", "κουπεσ", "κουπ"),
    ("en", "mugs", "mug"),
    ("es", "tazas", "taz"),
    ("et", "tassid", "tas"),
    ("eu", "katiluak", "katilu"),
    ("fa", "کتابها", "کتاب"),
    ("fi", "mukeja", "mukej"),
    ("fr", "tasses", "tass"),
    ("ga", "mhuga", "muga"),
    # There is no stemmer for Hebrew.
    ("he", "כוסות", "כוסות"),
    ("hi", "कपों", "कप"),
    ("hu", "bögrék", "bögre"),
    ("hy", "բաժակներ", "բաժ"),
    ("id", "cangkirnya", "cangkir"),
    ("it", "tazze", "tazz"),
    ("lt", "puodeliai", "puodel"),
    ("nl", "kopjes", "kop"),
    ("no", "koppene", "kopp"),
    ("pl", "kubkami", "kubk"),
    ("pt", "canecas", "canec"),
    ("ro", "canile", "can"),
    ("ru", "кружками", "кружк"),
    ("sr", "шољама", "šolj"),
    ("sv", "muggarna", "mugg"),
    ("ta", "கோப்பைகள்", "கோப்பை"),
    ("tr", "bardaklar", "bardak"),
    ("other", "mugs", "mugs"),
]


@pytest.mark.parametrize(("language", "word", "stem"), STEMS)
def test_a_stored_stem_stays_what_it_is(language, word, stem):
    assert stem_of(word, language) == stem
    text = search_text(language=language, name=word).text.split("\x1c")[0]
    # Without accents, and so that a search without them finds it too.
    plain, found = unaccented(word), {unaccented(stem), unaccented(stem_of(unaccented(word), language))}
    assert text.split() == [plain, *sorted(found - {plain})]
    wanted = [(plain, None if unaccented(stem) == plain else unaccented(stem))]
    assert [(each.text, each.stem) for each in search_words(word, language)] == wanted


def test_every_language_of_a_shop_is_among_them():
    assert sorted(language for language, _, _ in STEMS) == sorted(language for language, _ in CHOICES)


def test_threads_that_stem_at_once_get_the_same_as_one_after_the_other():
    words = [f"{word}{ending}" for word in ("national", "general", "organis") for ending in ("ly", "ities", "ations")]
    expected = [stem_of(word, "en") for word in words]
    with ThreadPoolExecutor(8) as threads:
        for found in threads.map(lambda _: [stem_of(word, "en") for word in words], range(400)):
            assert found == expected
