"""Staff who forget their password get a link by mail, which tells nobody else whether they are there."""

import re
from datetime import timedelta

import time_machine
from django.core import mail
from django.test import Client
from django_tasks_db.models import DBTaskResult

from storefront.kit import clock
from storefront.staff import jobs
from tests.staff import make_staff, open_desk

ASK = "/admin/password_reset/"
NEW = {"new_password1": "harbour-lane-7", "new_password2": "harbour-lane-7"}


def mailed_link(email: str = "anna@example.com") -> str:
    jobs.send_password_reset.func(None, email)
    return re.search(r"https://shop\.example\.com(/admin/\S+)", mail.outbox[-1].body)[1]


def follow(link: str, browser: Client | None = None) -> tuple[Client, str]:
    browser = browser or Client()
    return browser, browser.get(link)["Location"]


def test_somebody_chooses_a_new_password_with_a_mailed_link(anna):
    assert ASK in Client().get("/admin/login/").content.decode()
    link = mailed_link()
    assert mail.outbox[-1].to == ["anna@example.com"]
    browser, page = follow(link)
    assert "token" not in page
    assert browser.post(page, NEW)["Location"] == "/admin/login/"
    anna.refresh_from_db()
    assert anna.check_password("harbour-lane-7")
    # It lets nobody in by itself.
    assert browser.get("/admin/").status_code == 302


def test_a_new_password_ends_all_sessions(anna, shop):
    desk = open_desk(anna)
    berts = open_desk(make_staff(shop, "bert"))
    browser, page = follow(mailed_link())
    browser.post(page, NEW)
    assert desk.get("/admin/").status_code == 302
    # Not only by the password that Django's session was made under.
    assert not anna.staff_sessions.exists()
    assert berts.get("/admin/").status_code == 200


def test_the_page_does_not_reveal_whether_an_account_exists(anna):
    answers = [Client().post(ASK, {"email": email}) for email in ("anna@example.com", "nobody@example.com")]
    assert {(answer.status_code, answer["Location"]) for answer in answers} == {(303, "/admin/password_reset/mailed/")}
    assert DBTaskResult.objects.count() == 2
    jobs.send_password_reset.func(None, "nobody@example.com")
    assert not mail.outbox


def test_no_link_is_sent_to_accounts_that_cannot_sign_in(anna):
    anna.is_active = False
    anna.save()
    jobs.send_password_reset.func(None, "anna@example.com")
    assert not mail.outbox


def test_a_link_works_once_within_an_hour_and_unaltered(anna):
    link = mailed_link()
    browser, page = follow(link)
    browser.post(page, NEW)
    browser, page = follow(link)
    assert "does not work" in browser.get(page).content.decode()
    link = mailed_link()
    with time_machine.travel(clock.now() + timedelta(hours=1, seconds=5)):
        browser, page = follow(link)
        assert "does not work" in browser.get(page).content.decode()
    browser, page = follow(link[:-1] + ("a" if link[-1] != "a" else "b"))
    browser.post(page, {"new_password1": "taken-over-1", "new_password2": "taken-over-1"})
    anna.refresh_from_db()
    assert not anna.check_password("taken-over-1")


def test_the_mail_does_not_use_the_requests_host(anna):
    Client().post(ASK, {"email": "anna@example.com"}, headers={"host": "evil.example.com"})
    assert mailed_link().startswith("/admin/")


def test_the_link_is_neither_stored_nor_logged(anna, capfd):
    link = mailed_link()
    answer = Client().get(link)
    assert (answer["Cache-Control"], answer["Referrer-Policy"]) == ("no-store", "no-referrer")
    assert link.partition("token=")[2] not in "".join(capfd.readouterr())


def test_limits_mails_to_one_address(anna):
    statuses = [Client().post(ASK, {"email": "anna@example.com"}).status_code for _ in range(4)]
    assert statuses == [303, 303, 429, 429]
    assert Client().post(ASK, {"email": "bo@example.com"}).status_code == 303
