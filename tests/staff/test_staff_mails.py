"""Mails to staff about what somebody else may have done in their name."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.core import mail
from django.test import Client

from storefront.apps import actions as apps
from storefront.apps.actions import AlreadyInstalled
from storefront.kit import clock
from storefront.shops.models import Shop, StaffMember
from storefront.staff import actions, jobs
from storefront.staff.invitations import accept_with_new_account, invite_staff
from tests.factories.apps import install, make_app
from tests.shops.factories import NOW
from tests.staff import make_staff, open_desk
from tests.staff.signing_in import give_app
from tests.worker import run_due_tasks

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "lighthouse-1"


def mails():
    run_due_tasks()
    sent = [(tuple(message.to), message.subject, message.body) for message in mail.outbox]
    mail.outbox.clear()
    return sent


def receivers() -> list[str]:
    """Of mails about something other than changes of the staff (`tests/audit/test_owner_mails.py`)."""
    return sorted(to for (to,), _subject, body in mails() if "Who: " not in body)


def sign_in(browser) -> None:
    given = {"username": "anna", "password": PASSWORD}
    assert browser.post("/admin/login/", given, REMOTE_ADDR="192.0.2.7").status_code == 302


class TestNewSignIns:
    def test_a_sign_in_with_a_new_browser_is_mailed_once(self, anna):
        laptop = Client(headers={"user-agent": "Firefox on a laptop"})
        with time_machine.travel(NOW, tick=False):
            sign_in(laptop)
        ((to, subject, body),) = mails()
        assert to == ("anna@example.com",)
        assert subject == "New sign-in to your Storefront account"
        assert "When: 21 Nov 2026, 07:30 UTC" in body
        assert "From: 192.0.2.7" in body
        assert "Browser: Firefox on a laptop" in body
        assert PASSWORD not in body
        assert "http" not in body
        laptop.post("/admin/logout/")
        sign_in(laptop)
        assert mails() == []
        sign_in(Client())
        assert len(mails()) == 1

    def test_a_wrong_password_sends_no_mail(self, anna):
        Client().post("/admin/login/", {"username": "anna", "password": "wrong"})
        assert mails() == []

    def test_a_password_without_the_second_factor_sends_no_mail(self, anna):
        give_app(anna)
        sign_in(Client())
        assert mails() == []

    def test_after_a_new_password_other_browsers_are_new_again(self, anna):
        laptop, phone = Client(), Client()
        sign_in(laptop)
        sign_in(phone)
        given = {"old_password": PASSWORD, "new_password1": "another-phrase-8", "new_password2": "another-phrase-8"}
        laptop.post("/admin/password_change/", given)
        mails()
        for browser, expected in ((laptop, 0), (phone, 1)):
            browser.post("/admin/logout/")
            browser.post("/admin/login/", {"username": "anna", "password": "another-phrase-8"})
            assert len(mails()) == expected


def join(shop: Shop, email: str, role: str) -> None:
    """Come onto the staff as people do."""
    invitation = invite_staff(shop=shop, email=email, role=role, invited_by=None, now=NOW)
    password = "lighthouse and rain"
    accept_with_new_account(invitation=invitation, name="Dora", password=password, now=NOW)


class TestNewPasswords:
    FIREFOX = "Firefox on a laptop"
    NEW = {"new_password1": "another-phrase-8", "new_password2": "another-phrase-8"}

    def notifications(self):
        return [each for each in mails() if each[1] == "The password of your Storefront account was changed"]

    def test_a_changed_password_is_mailed_once(self, anna):
        laptop = Client(headers={"user-agent": self.FIREFOX}, REMOTE_ADDR="192.0.2.7")
        given = {"old_password": PASSWORD, **self.NEW}
        with time_machine.travel(NOW, tick=False):
            sign_in(laptop)
            for _ in range(2):
                # The second time the old one is wrong.
                laptop.post("/admin/password_change/", given)
        ((to, _subject, body),) = self.notifications()
        assert to == ("anna@example.com",)
        for line in ("When: 21 Nov 2026, 07:30 UTC", "From: 192.0.2.7", f"Browser: {self.FIREFOX}"):
            assert line in body
        assert "another-phrase-8" not in body
        assert "http" not in body

    def test_a_password_reset_is_mailed_once(self, anna):
        jobs.send_password_reset.func(None, "anna@example.com")
        link = re.search(r"https://shop\.example\.com(/admin/\S+)", mail.outbox[-1].body)[1]
        browser = Client(headers={"user-agent": self.FIREFOX}, REMOTE_ADDR="192.0.2.9")
        page = browser.get(link)["Location"]
        assert self.notifications() == []
        for _ in range(2):
            # The second time the link is used up.
            browser.post(page, self.NEW)
        ((to, _subject, body),) = self.notifications()
        assert to == ("anna@example.com",)
        assert "From: 192.0.2.9" in body

    def test_a_refused_password_sends_no_mail(self, anna):
        laptop = Client()
        sign_in(laptop)
        laptop.post("/admin/password_change/", {"old_password": "wrong", **self.NEW})
        laptop.post("/admin/password_change/", {"old_password": PASSWORD, "new_password1": "a", "new_password2": "a"})
        assert self.notifications() == []


class TestOwners:
    @pytest.fixture(autouse=True)
    def staff(self, shop, other_shop, anna):
        make_staff(shop, "bert")
        make_staff(shop, "carl", role="manager")
        make_staff(other_shop, "olga")
        mails()

    def test_get_a_mail_about_a_new_token(self, shop):
        _row, secret = actions.create_api_token(shop=shop, scopes=["read_products"], name="Till", now=NOW)
        sent = mails()
        assert sorted(to for (to,), _subject, _body in sent) == ["anna@example.com", "bert@example.com"]
        assert {subject for _to, subject, _body in sent} == {f"New API token for {shop.name}"}
        assert all("Till" in body and secret not in body for _to, _subject, body in sent)

    def test_get_a_mail_about_a_new_owner(self, shop):
        join(shop, "dora@example.com", "owner")
        sent = mails()
        assert {to for (to,), *_rest in sent} == {"anna@example.com", "bert@example.com", "dora@example.com"}
        owned = [(to, body) for (to,), _subject, body in sent if "new owner: dora@example.com" in body]
        assert sorted(to for to, _body in owned) == ["anna@example.com", "bert@example.com", "dora@example.com"]
        # Who joined is mailed once; that they were invited before is a mail of its own.
        assert {subject for _to, subject, body in sent if "new owner" not in body} == {
            f"Somebody invited to the staff: {shop.name}"
        }

    def test_get_a_mail_if_staff_become_owners_and_not_otherwise(self, shop):
        carl = StaffMember.objects.get(shop=shop, user__username="carl")
        actions.change_role(shop=shop, member=carl, role="owner", now=NOW)
        assert receivers() == ["anna@example.com", "bert@example.com", "carl@example.com"]
        actions.change_role(shop=shop, member=carl, role="owner", now=NOW)
        actions.change_role(shop=shop, member=carl, role="manager", now=NOW)
        join(shop, "dora@example.com", "manager")
        assert receivers() == []

    def test_get_a_mail_about_an_installed_app_and_its_new_token(self, shop):
        app = make_app("gifts", name="Gift notes")
        installation, token = apps.install_app(shop=shop, app=app, scopes=app.scopes, now=NOW)
        sent = [each for each in mails() if each[1].startswith("App installed in")]
        assert {to for (to,), *_rest in sent} == {"anna@example.com", "bert@example.com"}
        assert all("Gift notes" in body and token not in body for *_rest, body in sent)
        token = apps.rotate_token(shop=shop, installation=installation, now=NOW)
        sent = [each for each in mails() if each[1].startswith("New API token for")]
        assert len(sent) == 2
        assert all("of the app Gift notes" in body and token not in body for *_rest, body in sent)

    def test_inactive_owners_get_no_mail(self, shop, anna):
        anna.is_active = False
        anna.save()
        install(shop)
        assert receivers() == ["bert@example.com"]

    def test_names_cannot_inject_headers(self, shop):
        shop.name = "Corner\nBcc: evil@example.com"
        shop.save()
        actions.create_api_token(shop=shop, scopes=["read_products"], name="Till\nBcc: x", now=NOW)
        run_due_tasks()
        assert all("\n" not in message.subject and not message.bcc for message in mail.outbox)
        assert len(mail.outbox) == 2

    def test_refused_changes_send_no_mail(self, shop):
        app = make_app()
        apps.install_app(shop=shop, app=app, scopes=app.scopes, now=NOW)
        mails()
        with pytest.raises(AlreadyInstalled):
            apps.install_app(shop=shop, app=app, scopes=app.scopes, now=NOW)
        assert mails() == []


def test_changes_of_the_second_factor_are_mailed(anna):
    desk = open_desk(anna)
    app = give_app(anna)
    desk.post("/admin/security/codes/")
    desk.post("/admin/security/remove/", {"kind": "app", "id": app.pk})
    sent = mails()
    assert [to for (to,), *_rest in sent] == ["anna@example.com"] * 2
    assert "new recovery codes were created" in sent[0][2]
    assert "an authenticator app was removed" in sent[1][2]


def test_mails_are_sent_again_if_the_mail_server_was_away(anna, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    sign_in(Client())
    assert mails() == []
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    with time_machine.travel(clock.now() + timedelta(minutes=2)):
        assert len(mails()) == 1
