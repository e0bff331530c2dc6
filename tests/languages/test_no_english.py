"""No English is left on the demo shop's German pages, nor in its mails and papers: neither a text of the catalogue nor
a word that merchants wrote."""

import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from django.core.mail import EmailMultiAlternatives
from django.db import OperationalError
from django.test import Client

from storefront.catalogue.models import Category, Product
from storefront.content.models import Page
from storefront.customers.jobs import SUBJECTS, account_mail, notice
from storefront.demo import german as german_texts
from storefront.demo import shop as demo
from storefront.demo.content import PAGES
from storefront.documents.drawing import pdf_of
from storefront.documents.mails import document_mail
from storefront.documents.models import Document
from storefront.gift_cards.jobs import gift_card_mail
from storefront.gift_cards.models import GiftCard
from storefront.kit import clock
from storefront.orders import jobs
from storefront.orders.fulfilling import fulfil_order
from storefront.orders.models import Order
from storefront.payments import actions as payments
from storefront.shops.models import Shop
from storefront.shops.spoken import speaking
from storefront.stock_alerts.jobs import alert_mail
from tests.checkout.shopper import DECLINED, Shopper
from tests.customers.factories import add_address, make_customer
from tests.documents.factories import refund, texts_of, work
from tests.languages.pseudo import texts_of_page

pytestmark = pytest.mark.any_database

CATALOGUE = Path(__file__).parents[2] / "storefront/locale/de/LC_MESSAGES/django.po"
# Words that are in no German text.
WORDS = """
    the and your you with for from not order orders cart basket our this that are all has have will can cannot of or to
    please price delivery checkout payment address products sold by free back send sent reset choose continue item items
    add change remove search sort page pages colour size working days abroad collect pair large small made each left vat
"""
_WORD = re.compile(rf"\b({'|'.join(WORDS.split())})\b", re.IGNORECASE)
# What is a name, a code or an address on German pages, too.
NAMES = re.compile(
    r"\S+@\S+|https?://\S+|\S+\.(?:pdf|example)|Harbour Lane|Isle of Man|WELCOME10|\b(?!VAT\b)[A-Z-]+\d*\b"
)


@cache
def english() -> frozenset[str]:
    """The English texts of the catalogue and of the demo's merchant that are others in German."""
    pairs = {*_pairs_of_the_catalogue(), *_pairs_of_the_merchant()}
    spoken = {text for _, text in pairs}
    return frozenset(text for text, _ in pairs if len(text) > 3 and text not in spoken)


def _pairs_of_the_catalogue() -> Iterator[tuple[str, str]]:
    with CATALOGUE.open("rb") as file:
        messages = [message for message in read_po(file, locale="de") if message.id]
    for message in messages:
        texts, spoken = ([each] if isinstance(each, str) else each for each in (message.id, message.string))
        yield from product(texts, spoken)


def _pairs_of_the_merchant() -> Iterator[tuple[str, str]]:
    """Names of products, of their attributes, variants, options and pictures, of categories, pages and all else."""
    for line in demo.CONTENT.joinpath("products.jsonl").read_text().splitlines():
        row = json.loads(line)
        for key, text in row["translations"]["de"].items():
            yield row.get(key) or key.rpartition(":")[2], text
    yield from ((name, text) for name, (text, _) in german_texts.CATEGORIES.items())
    yield from ((title, german_texts.PAGES[kind][0]) for kind, (title, _, _) in PAGES.items())
    yield from german_texts.TEXTS.items()


def left_in(texts: list[str]) -> list[str]:
    """The texts that are English, as a whole or by a word."""
    plain = [" ".join(NAMES.sub(" ", text).split()) for text in texts]
    return sorted({text for text in plain if text in english() or _WORD.search(text)})


def left_in_mail(mail: EmailMultiAlternatives) -> list[str]:
    ((html, _),) = mail.alternatives
    return left_in([str(mail.subject), *mail.body.splitlines(), *texts_of_page(html)])


@pytest.fixture
def shop(db, settings, tmp_path, monkeypatch) -> Shop:
    """The demo shop, without small versions of its pictures."""
    settings.DATA_DIR, settings.MEDIA_ROOT = tmp_path, tmp_path / "media"
    monkeypatch.setattr(demo.thumbnails, "make", lambda name: None)
    return demo.open_shop(base_url="https://localhost", now=clock.now(), report=lambda message: None)


class German(Shopper):
    """A shopper on German pages, who notes what is English on them."""

    def __init__(self, shop: Shop) -> None:
        super().__init__(shop, shows_errors=False)
        self.found: dict[str, list[str]] = {}

    def get(self, path, **given):
        return self._note(path, super().get(f"/de{path.removeprefix('/de')}", **given))

    def post(self, path, fields, **given):
        return self._note(path, super().post(f"/de{path.removeprefix('/de')}", fields, **given))

    def _note(self, path, answer):
        if answer.get("Content-Type", "").startswith("text/html") and answer.content:
            page = answer.content.decode()
            assert answer.status_code >= 300 or '<html lang="de"' in page, path
            # The links to the page in English are in English.
            page = re.sub(r'<(\w+)[^>]*\blang="en".*?</\1>', "", page, flags=re.DOTALL)
            if left := left_in(texts_of_page(page)):
                self.found[path] = left
        return answer


@pytest.fixture
def german(shop) -> German:
    return German(shop)


def bought(german: German, sku: str, **fields: str) -> None:
    """Put this product into the basket, with the first value of each option and of each choice."""
    chosen = Product.objects.get(sku=sku)
    for option in chosen.options.all():
        value = option.values.first()
        fields[f"option-{option.pk}"] = "Ada" if option.type == "text" else str(value.pk)
    if variant := chosen.variants.filter(stock_qty__gt=1).first():
        fields["variant"] = str(variant.pk)
    answer = german.post("/basket/add", {"product": chosen.pk, "qty": "1"} | fields)
    assert answer.status_code == 302, left_in(texts_of_page(answer.content.decode()))


def ways(german: German) -> list[str]:
    """Of delivery, as the form names them."""
    return re.findall(r'name="delivery" value="([^"]+)"', german.read("/checkout/delivery"))


def test_the_words_are_found():
    """That the other tests can fail."""
    page = (
        '<p title="Sold out">Ausverkauft</p><p>Noch 3 from Hamburg</p><p>Harbour Lane</p><img alt="Harbour mug in oat">'
    )
    assert left_in(texts_of_page(page)) == ["Harbour mug in oat", "Noch 3 from Hamburg", "Sold out"]
    assert {"Kitchen", "Sea blue", "Monday to Saturday, 10 to 18", "Handwriting"} < english()


def test_pages_of_the_shop(shop, german):
    for path in ("/", "/products", "/products?q=becher&stock=1&sale=1&min_price=5", "/products?q=zzz", "/contact"):
        assert german.get(path).status_code == 200
    assert german.get("/search/suggestions?q=tasse").status_code == 200
    for model, place in ((Category, "categories"), (Product, "products"), (Page, "pages")):
        for row in model.objects.filter(shop=shop):
            slug = row.translations["de"].get("slug") or row.slug
            assert german.get(f"/{place}/{slug}").status_code == 200
    assert german.found == {}


def test_amounts_in_forms_and_quotation_marks_are_german(german):
    assert 'name="custom_price" inputmode="decimal" maxlength="16" autocomplete="off" value="25,00"' in german.read(
        "/products/geschenkgutschein"
    )
    assert "<h1>„zzz“</h1>" in german.read("/products?q=zzz")
    assert "inkl. MwSt." in german.read("/products/hafenbecher")


def test_errors(shop, german, monkeypatch):
    german.get("/no/such/page")
    german.get("/products/gone")
    german.get("/account/link?x=1")
    german.get("/cart/resume?cart=1")
    german.get("/stock-alerts/confirm?x=1")
    for path in ("/contact", "/account/sign-in", "/account/register", "/account/forgot", "/gift-card"):
        german.post(path, {})
    german.post("/account/sign-in", {"email": "ada@example.com", "password": "x"})
    german.post("/basket/add", {"product": "0"})
    german.get("/")
    strict = Client(enforce_csrf_checks=True, headers={"host": shop.domain})
    german._note("without its secret", strict.post("/de/basket/add", {}))

    def fail(*args, **kwargs):
        raise OperationalError

    monkeypatch.setattr("storefront.website.queries.variant_ranges", fail)
    german.get("/products/hafenbecher")
    assert german.found == {}


def test_the_way_to_an_order(shop, german):
    assert german.get("/basket").status_code == 200
    for sku in ("MUG-HARBOUR", "MUG-NAME", "BOX-BREAKFAST", "LAMPSHADE", "PATTERN-CARDIGAN"):
        bought(german, sku)
    german.post("/basket/delivery", {"country": "DE"})
    german.post("/basket/discount-codes", {"code": "NONE"})
    german.post("/basket/discount-codes", {"code": demo.CODE})
    german.get("/basket")
    german.get("/checkout")
    german.post("/checkout", {"email": "x", "shipping-country": "DE"})
    assert german.fill_details().status_code == 303
    german.post("/checkout/delivery", {})
    for chosen in ways(german):
        german.choose_delivery(chosen)
        german.get("/checkout/payment")
    german.post("/checkout/gift-cards", {"gift_card": "NONE"})
    page = german.post("/checkout/payment", german.payment_fields("demo", number=DECLINED))
    assert page.status_code == 422
    german.post("/checkout/payment", german.payment_fields(""))
    placed = german.post("/checkout/payment", german.payment_fields("manual", note="Hallo"))
    assert placed.status_code == 303
    assert german.get(placed["Location"].removeprefix(shop.base_url)).status_code == 200
    stranger = German(shop)
    stranger.get(f"/orders/{Order.objects.get().public_id}")
    assert german.found | stranger.found == {}


@pytest.fixture
def order(shop, german) -> Order:
    """Of goods of each kind, by an account, with a code."""
    make_customer(shop)
    german.sign_in()
    for sku in ("MUG-HARBOUR", "MUG-NAME", "BOX-BREAKFAST", "PATTERN-CARDIGAN"):
        bought(german, sku)
    german.post("/basket/discount-codes", {"code": demo.CODE})
    assert german.fill_details().status_code == 303
    german.choose_delivery(ways(german)[0])
    assert german.post("/checkout/payment", german.payment_fields()).status_code == 303
    return Order.objects.get()


def test_pages_of_an_account(shop, german, order):
    add_address(order.customer, country="DE", postal_code="20457", name="Ada", line1="Am Kai", city="Hamburg")
    account = ["", "/orders", f"/orders/{order.number}", "/addresses", "/addresses/new", "/details"]
    for path in account:
        assert german.get(f"/account{path}").status_code == 200, path
    german.post("/account/details", {"name": "Ada L", "phone": "030 123456"})
    german.get("/account/details")
    german.post("/account/details/e-mail", {"mail-email": "new@example.com", "mail-password": "x"})
    german.post("/account/details/password", {"word-current": "x", "word-password": "kurz"})
    german.post("/account/addresses/new", {"country": "DE", "postal_code": "x"})
    german.post("/account/sign-out", {})
    german.get("/account/sign-in")
    assert german.found == {}


def test_an_orders_page_its_mails_and_its_papers(shop, german, order):
    page = f"/orders/{order.public_id}"
    mails = [jobs.confirmation_mail(order), jobs.change_mail(order, "cancelled")]
    payments.mark_paid(shop=shop, order=order, now=clock.now())
    work(clock.now())
    german.get(page)
    order = Order.objects.get()
    mails += [jobs.confirmation_mail(order), jobs.change_mail(order, "paid"), jobs.downloads_mail(order)]
    mails.append(jobs.fulfilment_mail(fulfil_order(shop=shop, order=order, now=clock.now())))
    german.get(page)
    made = refund(order, "4.90")
    work(clock.now())
    german.get(page)
    mails.append(jobs.change_mail(order, "refunded", amount=made.amount, refunds=[made.pk]))
    documents = list(Document.objects.all())
    mails += map(document_mail, documents)
    assert len(mails) == 9
    assert [left_in_mail(mail) for mail in mails] == [[]] * 9
    papers = "\n".join("\n".join(texts_of(pdf_of([document.record]))) for document in documents)
    assert "Rechnung" in papers
    assert left_in(papers.splitlines()) == []
    assert german.found == {}


def test_other_mails(shop):
    teapot = Product.objects.get(sku="TEAPOT")
    card = GiftCard(shop=shop, language="de", currency="EUR", value=25, balance=25, message="", expires_at=clock.now())
    with speaking(shop, "de"):
        link = "https://localhost/de/account/link"
        kinds = ("register", "known", "reset", "unknown", "change_email", "taken")
        mails = [account_mail(shop, "ada@example.com", kind, link=link) for kind in kinds]
        mails += [notice(shop, "ada@example.com", kind) for kind in SUBJECTS]
        kinds = ("stock_alert", "stock_alert_confirmation")
        mails += [alert_mail(kind, shop, teapot, None, "ada@example.com", link=link) for kind in kinds]
    mails.append(gift_card_mail(card, "ABCDEFGHIJKLMNOP"))
    assert [left_in_mail(mail) for mail in mails] == [[]] * len(mails)
