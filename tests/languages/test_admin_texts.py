"""Under a pseudo-language, no page of the admin has a text that is not marked; in German, no English one is left."""

import gettext
import re
from collections.abc import Iterable
from zoneinfo import available_timezones

import pytest
from babel.dates import get_month_names
from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from django.utils import translation

from storefront.content.mail_kinds import KINDS
from storefront.content.mail_words import Words
from storefront.content.models import MailText
from storefront.kit import clock
from storefront.kit.countries import countries
from storefront.website.mail_samples import sample_mail
from tests.languages.pseudo import WORD, bare_words, pseudo
from tests.server.admin_rows import ROWS
from tests.staff import admin_url, make_staff, open_desk

# Names of icons stand in the theme's elements of this class.
ICON = re.compile(r'<(\w+)[^>]*class="[^"]*material-symbols[^>]*>.*?</\1>', re.S)
# The ends of tokens, which are random.
ENDING = re.compile(r"\b(api|app)_…[\w-]{4}|\(…[\w-]{4}\)")
# Words that are the same in each language: names, formats, units, abbreviations, months, and parts of addresses.
SAME = {
    *(
        "Storefront",
        "Stripe",
        "EUR",
        "UTC",
        "CSV",
        "JSON",
        "HTML",
        "API",
        "URL",
        "ID",
        "SKU",
        "GTIN",
        "kg",
        "ms",
        "GB",
        "IBAN",
    ),
    *("BIC", "Deutsch", "English", "None", "http", "https", "com", "example", "www", "admin", "esc"),
}
PAGES = ["admin:index", "admin:settings", "admin:security", "admin:choose_shop", "admin:password_change"]
# Pages of these models are read by the operator, all others by the shop's owner.
OPERATORS = ("deployment.deployedshop", "apps.app")


@pytest.fixture
def rows(shop):
    """A row of each kind that has a page in the admin."""
    return {model: make(shop) for model, make in ROWS.items()}


@pytest.fixture
def speaking(shop):
    """Opens a page of the admin as somebody who has chosen German, and returns its HTML."""
    browsers: dict[bool, Client] = {}

    def read(path: str, *, as_operator: bool = False) -> str:
        if as_operator not in browsers:
            user = make_staff(shop, name="ada" if as_operator else "anna")
            user.language, user.is_superuser = "de", as_operator
            user.save()
            browsers[as_operator] = open_desk(user)
        answer = browsers[as_operator].get(path, follow=True)
        assert answer.status_code == 200, path
        return ENDING.sub("", ICON.sub("", answer.content.decode()))

    return read


def test_the_list_of_each_page_has_no_text_that_is_not_marked(shop, rows, speaking):
    found = {}
    with pseudo("de"):
        for model in admin.site._registry:
            as_operator = model._meta.label_lower in OPERATORS
            html = speaking(admin_url(model, "changelist"), as_operator=as_operator)
            found[model._meta.label_lower] = bare(html)
    assert {name: bare for name, bare in found.items() if bare} == {}


def test_the_form_of_each_page_has_no_text_that_is_not_marked(shop, rows, speaking):
    found = {}
    with pseudo("de"):
        for model, row in rows.items():
            html = speaking(admin_url(row, "change"), as_operator=model._meta.label_lower in OPERATORS)
            # Mails are in the shop's language, whatever that of the page.
            found[model._meta.label_lower] = bare(html, texts_of_mails() if model is MailText else ())
    assert {name: bare for name, bare in found.items() if bare} == {}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_person_has_no_text_that_is_not_marked(shop, speaking, name):
    with pseudo("de"):
        assert bare(speaking(reverse(name))) == []


@pytest.mark.parametrize("name", ["login", "admin_password_reset", "password_reset_done", "password_reset_link"])
def test_a_page_before_the_sign_in_has_no_text_that_is_not_marked(shop, name):
    with pseudo("de"):
        html = Client(headers={"accept-language": "de-AT,en;q=0.5"}).get(reverse(f"admin:{name}")).content.decode()
    assert bare(ICON.sub("", html)) == []


def test_no_text_of_the_catalogue_is_shown_in_english(shop, rows, speaking):
    catalogue = gettext.translation("django", settings.LOCALE_PATHS[-1], ["de"])._catalog
    english = {text for text, german in catalogue.items() if isinstance(text, str) and " " in text and text != german}
    assert len(english) > 500
    for model, row in rows.items():
        as_operator = model._meta.label_lower in OPERATORS
        for path in (admin_url(model, "changelist"), admin_url(row, "change")):
            texts = {text.strip() for text in re.findall(r">([^<>]+)<", speaking(path, as_operator=as_operator))}
            assert texts & english == set(), path


def bare(html: str, others: Iterable[str] = ()) -> list[str]:
    """The texts of a page that are neither marked nor data, whose words may be capitalised, nor have words of
    others."""
    words = words_of_data() | {word for text in others for word in WORD.findall(text)}
    return bare_words(html, words | {word.capitalize() for word in words})


def words_of_data() -> set[str]:
    """The words of all rows, of months, of countries, and of names of time zones, which need no marks."""
    with translation.override("de"):
        names = [*countries().values(), *available_timezones(), *get_month_names("abbreviated", locale="de").values()]
    words = SAME | {word for text in names for word in WORD.findall(text)}
    for model in apps.get_models():
        if model.__module__.startswith("storefront."):
            for values in model._base_manager.values_list():
                words |= {word for value in values for word in WORD.findall(str(value))}
    return words


def texts_of_mails() -> list[str]:
    """The standard texts of the mails that a merchant can change."""
    texts: list[str] = []
    for row in MailText.objects.select_related("shop"):
        words = Words()
        sample_mail(row.kind, shop=row.shop, words=words, now=clock.now())
        texts += words.standard.values()
        texts += KINDS[row.kind].meanings
    return texts
