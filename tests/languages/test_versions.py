"""A page names its versions in the shop's other languages: for search engines, as links, and as an offer."""

import re
from html import unescape

import pytest

from storefront.content.models import Looks, MenuLink
from tests.catalogue.factories import make_category, make_product
from tests.client import ApiClient
from tests.shops.factories import NOW, make_shop

ENGLISH_FIRST = "en-GB,en;q=0.9,de;q=0.5"


def hreflang(text: str) -> dict[str, str]:
    return dict(re.findall(r'<link rel="alternate" hreflang="([^"]+)" href="([^"]+)">', text))


def switch(text: str) -> dict[str, str]:
    """The links of the switch, by the language's own name."""
    (shown,) = re.findall(r'<nav class="page versions".*?</nav>', text, flags=re.S) or [""]
    return {name: unescape(url) for url, name in re.findall(r'<a href="([^"]+)"[^>]*>([^<]+)</a>', shown)}


def offer(text: str) -> list[str]:
    (shown,) = re.findall(r'<aside class="offer".*?</aside>', text, flags=re.S) or [""]
    return [unescape(url) for url in re.findall(r'href="([^"]+)"', shown)]


def test_search_engines_learn_of_every_version(page, shop):
    make_product(shop, "Mug")
    base, text = "https://shop.example.com", page("/de/products/mug")
    assert f'<link rel="canonical" href="{base}/de/products/mug">' in text
    assert hreflang(text) == {
        "en": f"{base}/products/mug",
        "de": f"{base}/de/products/mug",
        "ar": f"{base}/ar/products/mug",
        "pt": f"{base}/pt/products/mug",
        "x-default": f"{base}/products/mug",
    }
    for path in ("/products/mug", "/ar/products/mug"):
        assert hreflang(page(path)) == hreflang(text)
    for url in hreflang(text).values():
        page(url.removeprefix(base))
    assert hreflang(page("/de/"))["en"] == f"{base}/"


def test_what_is_not_indexed_names_no_versions(page, shop):
    make_product(shop, "Mug", noindex=True)
    make_product(shop, "Cup", canonical_url="https://elsewhere.example.com/cup")
    for path in ("/de/products/mug", "/de/products?q=mug", "/de/products/cup", "/de/basket"):
        assert hreflang(page(path)) == {}
    assert hreflang(page("/de/nope", 404)) == {}


def test_the_sitemap_has_each_language(page, shop):
    make_product(shop, "Mug")
    index = page("/sitemap.xml")
    assert re.findall("<loc>([^<]+)", index)[2:4] == [
        "https://shop.example.com/de/sitemap-0.xml",
        "https://shop.example.com/de/sitemap-1.xml",
    ]
    part = page("/de/sitemap-1.xml")
    assert "<loc>https://shop.example.com/de/products/mug</loc>" in part
    assert '<xhtml:link rel="alternate" hreflang="en" href="https://shop.example.com/products/mug"/>' in part
    assert "https://shop.example.com/ar/</loc>" in page("/ar/sitemap-0.xml")
    assert "Disallow: /de/account\n" in page("/robots.txt")


def test_a_shop_with_one_language_shows_nothing_of_it(page, shop):
    shop.further_languages = []
    shop.save()
    make_product(shop, "Mug")
    for path in ("/", "/products", "/products/mug", "/basket"):
        text = page(path, **{"accept-language": "de"})
        assert not re.search(r"hreflang|class=.page versions|class=.offer|<html[^>]* dir=", text)
    assert "xhtml" not in page("/sitemap-1.xml")
    assert "de/" not in page("/sitemap.xml")


def test_the_switch_stays_on_the_page_with_its_query(page, shop):
    cups = make_category(shop, "Cups")
    make_product(shop, "Mug", categories=(cups,))
    text = page("/de/categories/cups?sort=name&stock=1")
    assert switch(text) == {
        "English": "/categories/cups?sort=name&stock=1",
        "Deutsch": "/de/categories/cups?sort=name&stock=1",
        "العربية": "/ar/categories/cups?sort=name&stock=1",
        "Português": "/pt/categories/cups?sort=name&stock=1",
    }
    assert 'hreflang="ar" lang="ar" dir="rtl"' in text
    assert 'lang="de" dir="ltr" aria-current="true"' in text
    assert 'hx-select-oob="#versions"' in text
    assert switch(page("/categories/cups"))["Deutsch"] == "/de/categories/cups"


def test_the_switch_of_a_missing_page_leads_home(page):
    assert switch(page("/de/nope", 404))["English"] == "/"


@pytest.mark.usefixtures("apart")
def test_the_switch_of_a_secure_page_stays_there(page):
    text = page("/shop.example.com/de/account/sign-in?next=/x", host="secure.example.com")
    assert switch(text)["English"] == "/shop.example.com/account/sign-in?next=/x"
    assert switch(text)["Deutsch"] == "/shop.example.com/de/account/sign-in?next=/x"


def test_what_was_posted_leads_to_its_form(shop, visitor):
    mug = make_product(shop, "Mug", stock_qty=1)
    answer = visitor.post("/de/basket/add", {"product": mug.pk, "qty": 9})
    assert answer.status_code == 422
    url = switch(answer.content.decode())["English"]
    assert visitor.get(url).status_code == 200
    answer = visitor.post("/de/account/register?next=/x", {"email": "nobody"})
    assert switch(answer.content.decode())["English"] == "/account/register"


def test_a_secret_link_has_no_switch(page):
    assert switch(page("/de/cart/resume?cart=1&signature=2", 403)) == {}


class TestOffer:
    @pytest.mark.parametrize(
        ("path", "header", "offered"),
        [
            ("/products?q=a", "de", "/de/products?q=a"),
            ("/products", "de-AT,de;q=0.9,en;q=0.1", "/de/products"),
            ("/products", "fr,pt-BR;q=0.8", "/pt/products"),
            ("/de/products", ENGLISH_FIRST, "/products"),
            ("/products", ENGLISH_FIRST, None),
            ("/de/products", "de", None),
            ("/products", "fr", None),
            ("/products", "de;q=0,pt;q=0.0", None),
            ("/products", "*", None),
            ("/products", "", None),
        ],
    )
    def test_is_of_the_language_that_the_browser_prefers(self, page, path, header, offered):
        found = offer(page(path, **{"accept-language": header}))
        assert found[:1] == ([offered] if offered else [])

    def test_is_declined_for_good(self, visitor, page):
        decline = offer(page("/products?q=a", **{"accept-language": "de"}))[1]
        answer = visitor.get(decline)
        assert (answer.status_code, answer["Location"]) == (303, "/products?q=a")
        assert offer(page("/products", **{"accept-language": "de"})) == []

    def test_declining_leads_to_no_other_site(self, visitor):
        assert visitor.get("/de/language/decline?next=https://evil.example.com/")["Location"] == "/de/"

    def test_never_redirects(self, visitor):
        assert visitor.get("/", headers={"accept-language": "de"}).status_code == 200


def test_links_of_the_merchant_stay_in_the_language(page, shop):
    text = '<a href="/products?q=a">A</a> <a href="/media/a.pdf">B</a> <a href="https://x.example.com/">C</a>'
    make_product(shop, "Mug", description=text)
    looks = Looks.objects.create(shop=shop, updated_at=NOW)
    for link in ("/pages/about", "https://x.example.com/y", "/ar/products"):
        MenuLink.objects.create(shop=shop, looks=looks, label="Link", link=link)
    shown = page("/de/products/mug")
    for link in ("/de/products?q=a", "/media/a.pdf", "https://x.example.com/", "/de/pages/about", "/ar/products"):
        assert f'href="{link}"' in shown
    assert 'href="/products?q=a"' in page("/products/mug")


def test_a_language_without_a_code_is_english_to_browsers(page):
    make_shop("odd.example.com", language="other", further_languages=["de"])
    text = page("/", host="odd.example.com")
    assert '<html lang="en"' in text
    assert set(hreflang(text)) == {"de", "x-default"}
    assert switch(text) == {"Lighthouse": "/", "Deutsch": "/de/"}


def test_the_api_has_no_language(shop, api: ApiClient):
    answer = api.get("/products", headers={"Accept-Language": "de"})
    assert "Content-Language" not in answer
