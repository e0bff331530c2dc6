"""The admin speaks the language that the member of staff has chosen, otherwise the browser's."""

import re
from pathlib import Path

import pytest
import unfold
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import translation

from storefront.catalogue.models import Brand, TaxClass
from storefront.shops.models import AuditEntry, User
from storefront.staff import staff_jobs
from tests.catalogue.factories import make_product
from tests.staff import admin_url, make_staff, open_desk

GERMAN, ENGLISH = {"accept-language": "de-AT,de;q=0.9,en;q=0.5"}, {"accept-language": "fr,en;q=0.8,de;q=0.3"}
# Texts of the theme that are the same in German.
THE_SAME = ("Name", "Code", "System", "Link")


@pytest.fixture
def anna(shop) -> User:
    return make_staff(shop)


def choose(user: User, language: str):
    desk = open_desk(user)
    answer = desk.post(reverse("admin:security_language"), {"language": language}, follow=True)
    user.refresh_from_db()
    return desk, answer.content.decode()


def test_a_choice_holds_on_all_pages_and_in_every_browser(anna):
    _, page = choose(anna, "de")
    assert "Sprache gespeichert." in page
    assert anna.language == "de"
    for path in (reverse("admin:index"), admin_url(Brand, "changelist"), reverse("admin:settings")):
        page = open_desk(anna).get(path, headers=ENGLISH).content.decode()
        assert "Einstellungen" in page
        assert '<html lang="de"' in page


def test_without_a_choice_the_browser_decides(anna):
    none = {"accept-language": "de;q=0"}
    pages = [open_desk(anna).get(reverse("admin:settings"), headers=each) for each in (GERMAN, ENGLISH, {}, none)]
    assert ["Einstellungen" in page.content.decode() for page in pages] == [True, False, False, False]


def test_the_choice_of_english_holds_in_a_german_browser(anna):
    desk, page = choose(anna, "en")
    assert "Language saved." in page
    assert "Settings" in desk.get(reverse("admin:settings"), headers=GERMAN).content.decode()


@pytest.mark.parametrize("language", ["fr", "xx", "de-AT"])
def test_a_language_that_the_admin_does_not_have_is_refused(anna, language):
    assert open_desk(anna).post(reverse("admin:security_language"), {"language": language}).status_code == 404
    anna.refresh_from_db()
    assert anna.language == ""


def test_the_sign_in_page_speaks_the_language_of_the_browser(shop):
    assert "Passwort vergessen?" in Client(headers=GERMAN).get("/admin/login/").content.decode()
    assert "Forgot your password?" in Client(headers=ENGLISH).get("/admin/login/").content.decode()


def test_the_pages_of_the_shop_and_the_next_request_keep_their_own_language(shop, anna):
    desk, _ = choose(anna, "de")
    desk.get(reverse("admin:index"))
    assert '<html lang="en"' in Client().get("/", HTTP_HOST=shop.domain).content.decode()


def test_mails_to_staff_are_in_their_language_or_in_that_of_the_shop(shop, anna):
    staff_jobs.send_to_owner.call(shop.pk, anna.email, "new_owner", "Ada")
    User.objects.filter(pk=anna.pk).update(language="de")
    staff_jobs.send_to_owner.call(shop.pk, anna.email, "new_owner", "Ada")
    staff_jobs.send_to_person.call(None, anna.pk, "factors_changed", {"what": "a passkey was removed"})
    User.objects.filter(pk=anna.pk).update(language="")
    type(shop).objects.filter(pk=shop.pk).update(language="de")
    staff_jobs.send_to_owner.call(shop.pk, anna.email, "new_owner", "Ada")
    subjects = [each.subject for each in mail.outbox]
    assert subjects == [
        f"New owner of {shop.name}",
        f"Neuer Inhaber von {shop.name}",
        "Zweite Faktoren Ihres Storefront-Kontos geändert",
        f"Neuer Inhaber von {shop.name}",
    ]
    assert "ein Passkey wurde entfernt" in mail.outbox[2].body
    assert "Guten Tag," in mail.outbox[1].body


def test_the_audit_log_has_the_same_codes_in_each_language(shop, anna):
    desk, _ = choose(anna, "de")
    desk.fill(TaxClass, name="Bücher")
    desk.fill(make_product(shop, "Becher"), name="Tasse")
    entries = AuditEntry.objects.filter(shop=shop)
    assert {"tax_class", "product"} <= set(entries.values_list("object_type", flat=True))


def test_two_people_read_the_same_list_in_their_languages(shop, anna):
    """What is made once for all rows is made once for each language."""
    Brand.objects.create(shop=shop, name="Hafen")
    desk, path = open_desk(anna), admin_url(Brand, "changelist")
    pages = [desk.get(path, headers=each).content.decode() for each in (ENGLISH, GERMAN, ENGLISH)]
    assert ['aria-label="Choose"' in page for page in pages] == [True, False, True]
    assert 'aria-label="Eintrag auswählen"' in pages[1]


def test_the_themes_own_texts_have_translations():
    """Also those of its parts that no page of ours uses yet."""
    folder = Path(unfold.__file__).parent
    left_out = {folder / "contrib" / name for name in ("import_export", "guardian", "simple_history")}
    found = {
        text
        for file in folder.rglob("*.html")
        if not left_out & {*file.parents}
        for _mark, text in re.findall(r"""{% (?:translate|trans) (["'])(.+?)\1""", file.read_text())
    }
    assert len(found) > 50
    with translation.override("de"):
        assert {text for text in found if translation.gettext(text) == text} <= {*THE_SAME}
