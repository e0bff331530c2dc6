"""Buying in each language in a browser: pages, mails and the invoice speak the language of the page on which it began,
in the words of its catalogue."""

import re
from collections.abc import Callable

import pytest
from django.utils import translation
from playwright.sync_api import Page, expect

from storefront.content.mail_subjects import SUBJECTS
from storefront.documents.models import Document
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.pricing.eu_rates import load_eu_rates
from tests.browser import steps
from tests.catalogue.factories import make_option, make_product
from tests.documents.factories import make_settings, texts_of, work
from tests.mailbox import Mailbox, open_mailbox
from tests.shops.factories import NOW
from tests.worker import run_due_tasks

pytestmark = pytest.mark.browser

LANGUAGES = ["en", "fr", "es", "it", "nl", "pl"]
# The product's name in each language.
MUG = {"en": "Mug", "de": "Becher", "fr": "Tasse", "es": "Taza", "it": "Tazza", "nl": "Mok", "pl": "Kubek"}
# The amount of the order, as it is written in the language.
TOTALS = {"en": "€1,244.40", "nl": "€ 1.244,40", "fr": "1 244,40 €", "pl": "1 244,40 €"}


@pytest.fixture
def shop(street):
    street.further_languages = ["de", *LANGUAGES[1:]]
    street.email = "shop@example.com"
    street.save()
    make_settings(street)
    load_eu_rates(shop=street, now=NOW)
    mug = make_product(street, "Mug", price="1234.50", stock_qty=9)
    mug.translations = {code: {"name": name, "slug": name.lower()} for code, name in MUG.items() if code != "en"}
    mug.save()
    make_option(mug, "Engraving", {"Gold": "5.00"}, type="radio")
    return street


@pytest.fixture
def mailbox(settings):
    with open_mailbox() as mailbox:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", mailbox.port
        yield mailbox


def plain(text: str) -> str:
    """The text with all its spaces alike."""
    return " ".join(text.split())


@pytest.mark.parametrize("code", [pytest.param("de", marks=pytest.mark.walk), *LANGUAGES])
def test_a_purchase_is_in_the_language_to_the_end(shop, visit, mailbox, code):
    def say(text: str, **given: str) -> str:
        with translation.override(code):
            return translation.gettext(text).format(**given)

    place = "" if code == "en" else f"/{code}"
    shopper = visit(locale=code)
    page = shopper.open(f"{place}/products/{MUG[code].lower()}")
    buy(page, say, checking(page, code, place), MUG[code])
    order = Order.objects.get()
    assert order.language == code
    total = TOTALS.get(code, "1.244,40 €")
    bought = plain(page.locator("main").inner_text())
    assert total in bought
    assert MUG[code] in bought
    work(clock.now())
    run_due_tasks()
    check_mails(mailbox, say, code, f"{shop.base_url}{place}/orders/{order.public_id}", total)
    paper = page.request.get(f"{page.url}/documents/{Document.objects.get().pk}")
    (text,) = map(plain, texts_of(paper.body()))
    for words in (MUG[code], say("Invoice"), say("Unit price"), say("Order date"), total):
        assert words in text
    assert page.request.get(page.url).headers["content-language"] == code


def checking(page: Page, code: str, place: str) -> Callable[[str], None]:
    """`check(heading)`: the page is in the language, and has this heading."""

    def check(heading: str) -> None:
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        assert page.locator("html").get_attribute("lang") == code
        assert re.match(rf"https?://[^/]+{place}/", page.url), page.url

    return check


def buy(page: Page, say: Callable[..., str], check: Callable[[str], None], mug: str) -> None:
    check(mug)
    page.get_by_role("radio", name="Gold").check()
    page.get_by_role("button", name=say("Add to basket")).click()
    steps.click_through(page, "link", say("View basket"))
    check(say("Your basket"))
    steps.click_through(page, "link", say("Go to checkout"))
    check(say("Checkout"))
    page.get_by_label(say("Email address")).fill("ada@example.com")
    address = page.get_by_role("region", name=say("Delivery address"))
    for label, text in (
        ("Name", "Ada Lovelace"),
        ("Street and number", "Hafenstraße 1"),
        ("Postal code", "24103"),
        ("Town or city", "Kiel"),
    ):
        address.get_by_label(say(label), exact=True).fill(text)
    address.get_by_label(say("Country"), exact=True).select_option("DE")
    steps.click_through(page, "button", say("Continue to delivery"))
    page.get_by_label("Parcel").check()
    steps.click_through(page, "button", say("Continue to payment"))
    check(say("Checkout"))
    page.get_by_role("radio", name=say("Card (demo)")).check()
    page.get_by_label(say("Card number")).fill(steps.PAYS)
    page.get_by_label(say("Expiry date")).fill("12/34")
    page.get_by_label(say("Security code")).fill("123")
    page.get_by_role("button", name=say("Place order and pay")).click()
    page.wait_for_url("**/orders/*")
    check(say("Thank you for your order"))


def check_mails(mailbox: Mailbox, say: Callable[..., str], code: str, url: str, total: str) -> None:
    mails = [mail for mail in mailbox.messages if mail["To"] == "ada@example.com"]
    values = {"order_number": str(Order.objects.get().number), "document_number": Document.objects.get().number}
    wanted = [say(SUBJECTS[kind], shop_name="Lighthouse", **values) for kind in ("order_confirmation", "invoice")]
    assert sorted(plain(mail["Subject"]) for mail in mails) == sorted(wanted)
    for mail in mails:
        text, html = (mail.get_body((kind,)).get_content() for kind in ("plain", "html"))
        assert f'<html lang="{code}"' in html
        assert total in plain(text)
        links = re.findall(r"http[^\s<>\"]+", text)
        assert links
        assert all(link.startswith(url) for link in links), links
