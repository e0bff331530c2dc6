"""The language is a part of a page's address, and no link of the page loses it."""

import re
from html import unescape

import pytest
from django.test import Client
from django.urls import get_resolver

from storefront.content.models import Page, Redirect
from storefront.shops import languages, places
from storefront.shops.spoken import speaking
from tests.catalogue.factories import make_category, make_product
from tests.checkout.shopper import Shopper, fill_cart, link_to
from tests.shops.factories import NOW

# Addresses that have no language.
WITHOUT = re.compile(r"/(?:static|media|api)/|https://cdn\.|mailto:|data:|#|\?")


def targets(text: str) -> list[str]:
    """Where the links and forms of a page lead, without the links to its other versions."""
    text = re.sub(
        r'<nav class="page versions".*?</nav>|<link rel="alternate"[^>]*>|<aside class="offer".*?</aside>',
        "",
        text,
        flags=re.S,
    )
    found = re.findall(r'\s(?:href|action|hx-get|hx-post|data-suggestions)="([^"]+)"', text)
    return [unescape(each) for each in found if not WITHOUT.match(unescape(each))]


def make_content(shop) -> None:
    cups = make_category(shop, "Cups")
    make_product(shop, "Mug", categories=(cups,), stock_qty=50, description='<a href="/products/mug">Mug</a>')
    make_product(shop, "Sold out", categories=(cups,), stock_qty=0)
    Page.objects.create(
        shop=shop, title="Terms", slug="terms", kind="terms", body="<p>Read <a href='/pages/terms'>this</a>.</p>",
        is_published=True, updated_at=NOW, created_at=NOW,
    )  # fmt: skip


def test_the_address_decides(page, shop, other_shop):
    assert '<html lang="en"' in page("/")
    assert '<html lang="de"' in page("/de/")
    assert '<html lang="ar" dir="rtl"' in page("/ar/")
    assert '<html lang="pt"' in page("/pt/")
    page("/fr/", 404)
    page("/de/nope", 404)
    assert '<html lang="fr"' in page("/", host=other_shop.domain)
    page("/de/", 404, host=other_shop.domain)


def test_the_home_page_of_a_language_has_a_slash(visitor):
    answer = visitor.get("/de")
    assert (answer.status_code, answer["Location"], answer["Cache-Control"]) == (301, "/de/", "no-cache")
    assert visitor.get("/de?from=mail&q=%C3%A4")["Location"] == "/de/?from=mail&q=%C3%A4"


def test_names_its_language_and_what_it_varies_by(visitor, shop, other_shop):
    answer = visitor.get("/de/products", headers={"accept-language": "en"})
    assert answer["Content-Language"] == "de"
    assert {"Accept-Language", "Cookie"} <= set(answer["Vary"].split(", "))
    shop.further_languages = []
    shop.save()
    answer = visitor.get("/products")
    assert (answer["Content-Language"], "Accept-Language" in answer.get("Vary", "")) == ("en", False)


@pytest.mark.parametrize("path", ["/admin/", "/admin/login/", "/api/docs", "/api/v1/products"])
def test_what_is_no_page_of_the_shop_has_no_language(visitor, shop, path):
    assert visitor.get(path).status_code != 404
    assert visitor.get(f"/de{path}").status_code == 404


def test_a_path_that_begins_like_one_of_ours_has_a_language(page, other_shop):
    for path in ("/administration", "/apiary"):
        assert '<html lang="fr"' in page(path, 404, host=other_shop.domain)
        assert '<html lang="de"' in page(f"/de{path}", 404)


@pytest.mark.parametrize("urlconf", ["urls", "urls_shop", "urls_secure"])
def test_no_page_begins_with_a_language(urlconf):
    codes = {code for code, _ in languages.CHOICES}
    found = {
        str(pattern.pattern).strip("^").partition("/")[0]
        for pattern in get_resolver(f"storefront.server.{urlconf}").url_patterns
    }
    assert not codes & (found | set(places.RESERVED))


@pytest.mark.slow
def test_no_link_of_a_page_leaves_its_language(shop):
    make_content(shop)
    shopper, waiting, seen = Shopper(shop), ["/de/"], set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        answer = shopper.get(path)
        if answer.status_code != 200 or not answer["Content-Type"].startswith("text/html"):
            continue
        for target in targets(answer.content.decode()):
            target = target.removeprefix(shop.base_url)
            assert target.startswith("/de/"), (path, target)
            if "decline" not in target:
                waiting.append(target.partition("#")[0])
    assert {"/de/products", "/de/products/mug", "/de/categories/cups", "/de/pages/terms", "/de/basket"} <= seen
    assert {"/de/account/sign-in", "/de/account/register"} <= {path.partition("?")[0] for path in seen}


@pytest.mark.slow
def test_the_checkout_stays_in_its_language(shop, mailoutbox):
    mug = make_product(shop, "Mug", stock_qty=50)
    browser = Client(headers={"host": shop.domain})
    assert browser.post("/de/basket/add", {"product": mug.pk, "qty": 1})["Location"] == "/de/basket"
    shopper = InLanguage(shop, browser, "de")
    for path in ("/basket", "/checkout"):
        assert all(target.startswith("/de/") for target in targets(shopper.read(path)))
    assert shopper.fill_details()["Location"].startswith("/de/checkout/")
    answer = shopper.post("/checkout/payment", shopper.payment_fields("manual"))
    assert answer["Location"].startswith("/de/orders/")
    assert all(target.startswith("/de/") for target in targets(browser.get(answer["Location"]).content.decode()))


class InLanguage(Shopper):
    """A shopper on the pages of a further language."""

    def __init__(self, shop, browser: Client, code: str) -> None:
        super().__init__(shop)
        self.browser, self.code = browser, code

    def get(self, path, **given):
        return super().get(f"/{self.code}{path}", **given)

    def post(self, path, fields, **given):
        return super().post(f"/{self.code}{path}", fields, **given)


@pytest.mark.rule("R-LINK-26")
def test_a_checkout_link_leads_to_its_language(shop, api, shopper):
    mug = make_product(shop, "Mug", stock_qty=50)
    token = fill_cart(api, {"product_id": mug.pk})
    plain = link_to(api, token)
    assert plain.startswith("https://shop.example.com/cart/resume?")
    for locale, language in (("de", "/de"), ("de-AT", "/de"), ("DE_at", "/de"), ("en", "")):
        url = api.post("/cart/checkout", {"locale": locale}, cart=token).json()["checkout_url"]
        assert url.startswith(f"https://shop.example.com{language}/cart/resume?")
        assert shopper.follow(url)["Location"] == f"{language}/checkout"
    for locale in ("fr", "", "deutsch"):
        refused = api.post("/cart/checkout", {"locale": locale}, cart=token)
        assert (refused.status_code, refused.json()["problems"][0]["field"]) == (422, "locale")
        assert refused.json()["problems"][0]["allowed"] == shop.languages
    unnamed = api.post("/cart/checkout", {"locale": None}, cart=token).json()["checkout_url"]
    assert unnamed.startswith("https://shop.example.com/cart/resume?")
    # The language is not signed: the link can be opened in each.
    assert shopper.follow(plain.replace("/cart/", "/ar/cart/"))["Location"] == "/ar/checkout"
    assert shopper.follow(plain.replace("/cart/", "/fr/cart/")).status_code == 404


class TestRedirects:
    def make(self, shop, path: str, target: str) -> None:
        Redirect.objects.create(shop=shop, path=path, target=target, created_at=NOW, updated_at=NOW)

    def location(self, visitor, path: str) -> str | None:
        answer = visitor.get(path)
        return answer["Location"] if answer.status_code == 301 else None

    def test_a_merchants_redirect_holds_in_each_language(self, shop, visitor):
        self.make(shop, "/old", "/products?sort=name")
        assert self.location(visitor, "/old") == "/products?sort=name"
        assert self.location(visitor, "/de/old") == "/de/products?sort=name"

    def test_one_of_a_language_is_taken_as_it_is(self, shop, visitor):
        self.make(shop, "/de/alt", "/de/products")
        self.make(shop, "/de/weg", "/gone")
        assert self.location(visitor, "/de/alt") == "/de/products"
        assert self.location(visitor, "/de/weg") == "/gone"
        assert self.location(visitor, "/alt") is None

    def test_none_leads_to_itself_or_back(self, shop, visitor):
        self.make(shop, "/foo", "/de/foo")
        assert self.location(visitor, "/de/foo") is None
        self.make(shop, "/foo2", "/baz")
        self.make(shop, "/baz", "/de/foo2")
        assert self.location(visitor, "/de/foo2") is None
        self.make(shop, "/a", "/b")
        self.make(shop, "/de/b", "/a")
        assert self.location(visitor, "/de/b") == "/b"
        assert self.location(visitor, "/de/a") is None

    def test_old_addresses_and_other_programs_keep_the_language(self, shop, visitor):
        make_product(shop, "Mug")
        assert self.location(visitor, "/de/product/mug") == "/de/products/mug"
        assert self.location(visitor, "/de/cart") == "/de/basket"


def test_further_domains_lead_to_the_same_page(shop, visitor):
    shop.further_domains.create(domain="shop.example.net", confirmed_at=NOW, created_at=NOW)
    answer = visitor.get("/de/products?q=mug", headers={"host": "shop.example.net"})
    assert answer["Location"] == "https://shop.example.com/de/products?q=mug"


def test_addresses_of_mails_have_the_language_that_is_spoken(shop, other_shop, settings):
    def address(name: str, **given) -> str:
        return places.page_address(name, shop=shop, **given).removeprefix("https://shop.example.com")

    assert address("website:home") == "/"
    assert address("website:home", language="de") == "/de/"
    with speaking(shop, "de"):
        assert address("website:home") == "/de/"
        assert address("website:home", language="en") == "/"
        assert places.page_address("website:home", shop=other_shop) == "https://other.example.com/"
    with speaking(shop, "fr"):
        assert address("website:home") == "/", "a language that the shop does not have"
    settings.ADMIN_HOST, settings.SECURE_HOST = "admin.example.com", "secure.example.com"
    with speaking(shop, "de"):
        assert address("website:account") == "http://secure.example.com/shop.example.com/de/account"
        assert address("admin:index") == "http://admin.example.com/admin/"
