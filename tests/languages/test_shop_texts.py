"""Under a pseudo-language, no page and no mail of the shop has a text that is not marked for translation."""

import json
import re
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import HttpResponse
from django.test import Client
from django.utils import translation

from storefront.catalogue.models import Brand, Product
from storefront.content.jobs import send_message
from storefront.content.mail_subjects import SUBJECTS
from storefront.content.models import Page
from storefront.customers.jobs import SUBJECTS as NOTICES
from storefront.customers.jobs import account_mail, notice
from storefront.kit.countries import countries
from storefront.shops.models import Shop
from storefront.staff import doors
from storefront.stock_alerts import links
from storefront.stock_alerts.jobs import alert_mail
from storefront.stock_alerts.models import StockAlert
from storefront.website import choices
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.checkout.shopper import Shopper
from tests.customers.factories import add_address, make_customer
from tests.languages.pseudo import bare_lines, bare_words, pseudo, shown
from tests.shops.factories import NOW, make_shop

LAMP = f"axis-0={quote(shown('Blau'))}&axis-1={quote(shown('Lang'))}"
PAGES = [
    *("/", "/products", f"/products?q={quote(shown('zzz'))}", "/products?max_price=9", "/products?min_price=1"),
    f"/products?sort=name&stock=1&sale=1&min_price=2&max_price=9&brand={quote(shown('none'))}",
    *("/products?min_price=9&max_price=2", "/categories/becher"),
    *("/products/krug", "/products/tasse", "/products/rest", "/products/karte", "/products/bruch", "/products/lampe"),
    *(f"/products/lampe?{LAMP}", "/pages/terms", "/basket", "/contact"),
    *("/account/sign-in", "/account/register", "/account/forgot", "/account/mailed"),
]
# Forms that are sent with nothing, or with something wrong.
WRONG = {
    "/account/sign-in": {"email": "ada@example.com", "password": "x"},
    "/account/register": {"email": "ada"},
    "/account/forgot": {},
    "/contact": {"name": "ada@example.com", "email": "x"},
    "/stock-alerts": {"product": "{tasse}", "email": "x"},
    "/basket/add": {"product": "{tasse}", "qty": "1"},
}


@pytest.fixture
def speaking(db) -> Iterator[None]:
    """German is the pseudo-language."""
    with pseudo("de"), translation.override("de"):
        yield


@pytest.fixture
def foreign_shop(db, speaking) -> Shop:
    """A shop with goods of each kind, whose pages are in the pseudo-language."""
    shop = make_shop(language="de", name=shown("Leuchtturm"), email="shop@example.com")
    cups = make_category(shop, shown("Becher"), slug="becher", description=shown("Zum Trinken"))
    brand = Brand.objects.create(shop=shop, name=shown("Hafen"))
    attributes = [{"name": shown("Farbe"), "values": [shown("Blau")], "visible": True, "variation": False}]
    mug = make_product(
        shop, shown("Krug"), slug="krug", categories=(cups,), brand=brand, attributes=attributes, is_new=True, sku="7"
    )
    make_media(mug, alt=shown("Ein Krug"))
    make_media(mug, "https://cdn.example.com/two.jpg", alt=shown("Von hinten"))
    make_option(mug, shown("Gravur"), {shown("Gold"): "5.00", shown("Ohne"): "0.00"}, type="select")
    make_option(mug, shown("Text"), {"": "2.00"}, type="text", required=False)
    make_product(shop, shown("Tasse"), slug="tasse", categories=(cups,), stock_qty=0, compare_price="12.00")
    make_product(shop, shown("Rest"), slug="rest", categories=(cups,), stock_qty=2, low_stock_threshold=3)
    make_product(shop, shown("Karte"), slug="karte", is_gift_card=True, type="digital", track_inventory=False)
    make_product(shop, shown("Bruch"), slug="bruch", stock_qty=0, damaged_price="4.00", damaged_qty=2)
    lamp = make_product(shop, shown("Lampe"), slug="lampe", categories=(cups,), low_stock_threshold=2)
    for colour, cord, stock in (("Blau", "Kurz", 5), ("Rot", "Lang", 0), ("Rot", "Kurz", 1)):
        values = {shown("Farbe"): shown(colour), shown("Kabel"): shown(cord)}
        make_variant(lamp, shown(f"{colour} {cord}"), option_values=values, stock_qty=stock)
    texts = {"shop": shop, "is_published": True, "created_at": NOW, "updated_at": NOW}
    for kind in (Page.Kind.TERMS, Page.Kind.DELIVERY, Page.Kind.PRIVACY, Page.Kind.RETURNS):
        Page.objects.create(kind=kind, title=shown(kind), slug=str(kind), body=shown("Text"), **texts)
    return shop


@pytest.fixture
def shopper(foreign_shop) -> Shopper:
    return Shopper(foreign_shop)


@pytest.fixture
def bare(shopper) -> Callable[..., list[str]]:
    """`bare("/products")`: the texts of that page that are not in the pseudo-language."""

    def read(path: str, status: int = 200, *, fields: dict[str, str] | None = None, **given) -> list[str]:
        answer = shopper.get(path, **given) if fields is None else shopper.post(path, fields, **given)
        assert answer.status_code == status, answer
        return bare_texts(answer)

    return read


def bare_texts(answer: HttpResponse) -> list[str]:
    """Texts of a page that are not in the pseudo-language, but for names of countries, which Babel translates."""
    names = set(countries().values())
    return [text for text in bare_words(answer.content.decode(), {"EUR"}) if text not in names]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_no_text_that_is_not_marked(bare, path):
    assert bare(path) == []


def test_the_words_of_an_unmarked_text_are_found():
    page = f'<p title="Sale">{shown("Neu")} <b>New</b></p><input type="submit" value="Buy"><img alt="A mug"><p>9 €</p>'
    assert bare_words(page) == ["New", "Sale", "Buy", "A mug"]
    assert bare_lines(f"{shown('Hallo' + chr(10) + chr(10) + 'Welt')}\nhttps://shop.example.com/x\nOrder 1") == [
        "Order 1"
    ]


@pytest.mark.parametrize("path", WRONG)
def test_an_error_of_a_form_has_no_text_that_is_not_marked(bare, path):
    make_customer(Product.objects.get(slug="tasse").shop)
    tasse = Product.objects.get(slug="tasse").pk
    assert bare(path, 422, fields={name: value.format(tasse=tasse) for name, value in WRONG[path].items()}) == []


def test_a_filled_basket_has_none(bare, shopper):
    put(shopper, "krug", qty="3", options=True)
    put(shopper, "rest", qty="2")
    Product.objects.filter(slug="rest").update(stock_qty=1, price="11.00")
    Product.objects.filter(slug="krug").update(price="11.00")
    assert bare("/basket") == []
    Product.objects.filter(slug="krug").update(status="draft")
    assert bare("/basket") == []


def test_the_messages_of_the_basket_have_none(bare, shopper):
    assert shopper.post("/basket/add", {"product": "0"}).status_code == 302
    assert bare("/") == []
    put(shopper, "tasse", status=422)
    put(shopper, "lampe", status=422)
    put(shopper, "rest", qty="x", status=422)
    put(shopper, "rest")
    shopper.post("/basket/delivery", {"country": "XX"})
    assert bare("/basket") == []


def test_the_texts_of_the_products_script_are_in_the_language(shopper):
    page = shopper.read("/products/lampe")
    texts = json.loads(re.search(r'id="texts">(.*?)</script>', page)[1])
    assert texts == choices.script_texts()
    assert all(text.startswith("⟦") for text in texts.values())
    variants = json.loads(re.search(r'id="variants">(.*?)</script>', page)[1])
    assert {variant["note"] for variant in variants} == {"", shown("Sold out"), shown("Only 1 left")}


def test_the_message_about_a_combination_has_none(foreign_shop, shopper):
    page = shopper.get(f"/products/lampe?{LAMP}")
    assert bare_words(f"<p>{page.context['detail'].choice.problem}</p>") == []
    assert choices.wanted(["⟦A⟧", "⟦B⟧", "⟦C⟧"]).startswith("⟦")


class TestOfAnAccount:
    @pytest.fixture
    def ada(self, foreign_shop, shopper):
        ada = make_customer(foreign_shop, name=shown("Ada"), phone="+49 40 1")
        shopper.sign_in()
        return ada

    @pytest.mark.parametrize(
        "path",
        ["", "/orders", "/addresses", "/addresses/new", "/details"],
    )
    def test_no_page_has_one(self, bare, ada, path):
        assert bare(f"/account{path}") == []

    def test_no_page_with_an_address_has_one(self, bare, ada):
        names = ("name", "company", "line1", "line2", "city", "region")
        texts = {name: shown(name) for name in names} | {"country": "DE", "postal_code": "20457"}
        address = add_address(ada, **texts)
        add_address(ada, **texts)
        for path in ("/account", "/account/addresses", f"/account/addresses/{address.pk}"):
            assert bare(path) == []

    def test_no_message_has_one(self, bare, shopper, ada):
        shopper.post("/account/details", {"name": shown("Ada L"), "phone": "030 123456"})
        assert bare("/account/details") == []
        assert (
            bare("/account/details/e-mail", 422, fields={"mail-email": "new@example.com", "mail-password": "x"}) == []
        )
        assert bare("/account/details/password", 422, fields={"word-current": "x", "word-password": "short"}) == []
        assert bare("/account/addresses/new", 422, fields={"country": "DE", "postal_code": "x"}) == []
        assert bare("/account/orders/7", 404) == []
        shopper.post("/account/sign-out", {})
        assert bare("/") == []


def test_no_page_of_a_stock_alert_has_one(foreign_shop, bare, shopper):
    tasse = Product.objects.get(slug="tasse")
    asked = shopper.post("/stock-alerts", {"product": tasse.pk, "email": "ada@example.com"})
    assert bare(asked["Location"]) == []
    alert = StockAlert.objects.get()
    for link in (links.confirm_link(foreign_shop, alert), links.stop_link(foreign_shop, alert.email)):
        path = link.removeprefix(foreign_shop.base_url)
        assert bare(path) == []
        assert bare(path, fields={}) == []
    assert bare("/stock-alerts/confirm?x=1", 403) == []


@pytest.mark.parametrize(("error", "status"), [(RuntimeError, 500), (OperationalError, 503), (PermissionDenied, 403)])
def test_no_page_of_an_error_has_one(foreign_shop, monkeypatch, error, status):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr("storefront.website.queries.variant_ranges", fail)
    browser = Client(raise_request_exception=False, headers={"host": foreign_shop.domain})
    answer = browser.get("/products/lampe")
    request_id = answer.headers["X-Request-Id"]
    assert answer.status_code == status
    assert bare_words(answer.content.decode().replace(request_id, "")) == []


def test_neither_a_missing_page_nor_a_form_without_its_secret_has_one(foreign_shop, bare):
    assert bare("/no/such/page", 404) == []
    assert bare("/products/gone", 404) == []
    strict = Client(enforce_csrf_checks=True, headers={"host": foreign_shop.domain})
    assert bare_words(strict.post("/basket/add", {}).content.decode()) == []


def test_neither_a_closed_shop_nor_a_closed_door_has_one(foreign_shop, bare):
    doors.close_doors(shop=foreign_shop, now=NOW)
    assert bare("/", 403) == []
    assert bare("/door", 422, fields={"password": "x"}) == []
    foreign_shop.is_active = False
    foreign_shop.save()
    assert bare("/", 410) == []


def test_a_shop_without_goods_has_none(bare):
    Product.objects.update(status="draft")
    for path in ("/", "/products", "/categories/becher"):
        assert bare(path) == []


@pytest.mark.usefixtures("apart")
def test_no_page_of_a_shop_with_a_secure_host_has_one(foreign_shop, bare):
    krug, tasse = (Product.objects.get(slug=slug) for slug in ("krug", "tasse"))
    for path in ("/products/krug", "/products/karte", "/products/tasse"):
        assert bare(path) == []
    secure = Client(headers={"host": "secure.example.com"})
    for path in (f"basket/texts?product={krug.pk}", f"stock-alerts?product={tasse.pk}"):
        answer: HttpResponse = secure.get(f"/{foreign_shop.domain}/{path}", follow=True)
        assert answer.status_code == 200, path
        assert bare_texts(answer) == []


@pytest.mark.parametrize("kind", sorted(kind for kind in SUBJECTS if kind.startswith("account_")))
def test_no_mail_to_a_customer_has_one(foreign_shop, kind):
    mail = account_mail(foreign_shop, "ada@example.com", kind.removeprefix("account_"), link="https://x.example.com")
    assert bare_lines(f"{mail.subject}\n{mail.body}") == []


@pytest.mark.parametrize("kind", NOTICES)
def test_no_notice_has_one(foreign_shop, kind):
    mail = notice(foreign_shop, "ada@example.com", kind)
    assert bare_lines(f"{mail.subject}\n{mail.body}") == []


@pytest.mark.parametrize("kind", ["stock_alert", "stock_alert_confirmation"])
def test_no_mail_about_stock_has_one(foreign_shop, kind):
    tasse = Product.objects.get(slug="tasse")
    mail = alert_mail(kind, foreign_shop, tasse, None, "ada@example.com", link="https://x.example.com")
    assert bare_lines(f"{mail.subject}\n{mail.body}") == []


def test_no_message_to_the_shop_has_one(foreign_shop, mailoutbox):
    send_message.call(foreign_shop.pk, shown("Ada"), "ada@example.com", shown("Hallo"))
    assert bare_lines(f"{mailoutbox[0].subject}\n{mailoutbox[0].body}") == []


def put(shopper: Shopper, slug: str, *, qty: str = "1", options: bool = False, status: int = 302) -> None:
    """Add this product to the basket, with its first choices."""
    product = Product.objects.get(slug=slug)
    chosen = {f"option-{each.pk}": str(each.values.first().pk) for each in product.options.filter(type="select")}
    answer = shopper.post("/basket/add", {"product": product.pk, "qty": qty} | (chosen if options else {}))
    assert answer.status_code == status, answer
    assert bare_texts(answer) == []
