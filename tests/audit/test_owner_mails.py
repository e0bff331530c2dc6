"""Owners learn by mail of what could send money or data to somebody else: who did it, from where, how to undo it."""

from datetime import timedelta

import pytest
import time_machine
from django.core import mail
from django.urls import reverse

from storefront.audit.known_actions import ACTIONS
from storefront.audit.owner_mails import NOTICES
from storefront.documents.models import InvoiceSettings
from storefront.payments.accounts import delete_replaced, settings_of
from storefront.payments.models import ProviderAccount, ReplacedSettings
from storefront.payments.providers.registry import PROVIDERS
from storefront.shops.models import AuditEntry, ShopDomain, StaffInvitation, StaffMember, User
from tests.payments.bank import SECRET
from tests.payments.provider import BankRedirect
from tests.shops.factories import NOW
from tests.staff import admin_url, make_staff, open_desk
from tests.worker import run_due_tasks

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def clock():
    with time_machine.travel(NOW, tick=False) as clock:
        yield clock


@pytest.fixture
def desk(clock, shop, other_shop):
    """Of the owner whose session somebody else has. There is another owner, a manager, and another shop."""
    make_staff(shop, "bert")
    make_staff(shop, "mia", "manager")
    make_staff(other_shop, "oda")
    desk = open_desk(make_staff(shop))
    desk.get("/admin/")
    return desk


def user(name) -> User:
    return User.objects.get(username=name)


def mailed() -> dict[str, set[str]]:
    """By subject, who got the mail. Each says who did it, from where, and when."""
    run_due_tasks()
    found: dict[str, set[str]] = {}
    for message in mail.outbox:
        if "Who: anna@example.com\nFrom: 127.0.0.1\nWhen: 21 Nov 2026, 07:30 UTC" in message.body:
            assert "If nobody at the shop wanted this" in message.body
            found.setdefault(message.subject.removesuffix(": Lighthouse"), set()).update(message.to)
    mail.outbox.clear()
    return found


def test_all_owners_of_the_shop_get_a_mail(desk, shop):
    mia, bank = StaffMember.objects.get(user=user("mia")), InvoiceSettings.objects.create(shop=shop)
    owners = {"anna@example.com", "bert@example.com"}
    done = [
        ("Further domain asked for", lambda: desk.fill(ShopDomain, domain="www.example.org")),
        ("Address or ways to pay of the shop changed", lambda: desk.fill(shop, email="new@example.com")),
        ("Bank details or seller of invoices changed", lambda: desk.fill(bank, bank="DE00 1234")),
        ("Role of a staff member changed", lambda: desk.fill(mia, role="fulfilment")),
        ("Somebody invited to the staff", lambda: desk.fill(StaffInvitation, email="eve@example.com", role="manager")),
        ("Orders exported", lambda: desk.get(reverse("admin:orders_order_export_csv"))),
        ("Customers exported", lambda: desk.get(reverse("admin:customers_customer_export_csv"))),
        ("Staff member removed", lambda: desk.post(admin_url(mia, "delete"), {"post": "yes"})),
    ]
    for subject, act in done:
        before = AuditEntry.objects.count()
        act()
        assert AuditEntry.objects.count() == before + 1, subject
        assert mailed() == {subject: owners}


def test_an_owner_who_is_one_no_longer_learns_of_it_by_a_mail_of_the_deployment(desk, shop):
    """Also where the shop's own address is proved: whoever changed it could keep mails about it away."""
    desk.fill(shop, email="new@evil.example")
    mailed()
    shop.refresh_from_db()
    shop.proved_sender = shop.email
    shop.save()
    desk.fill(StaffMember.objects.get(user=user("bert")), role="fulfilment")
    run_due_tasks()
    told = {each.to[0]: each for each in mail.outbox if "Role of a staff member changed" in each.subject}
    assert told.keys() == {"anna@example.com", "bert@example.com"}
    assert all("evil.example" not in f"{each.from_email}{each.reply_to}" for each in told.values())


def test_what_is_harmless_is_not_mailed(desk, shop):
    desk.fill(shop, name="Lamp")
    desk.fill(InvoiceSettings.objects.create(shop=shop), footer="Thank you")
    assert mailed() == {}
    assert NOTICES.keys() <= ACTIONS.keys()


class TestCredentials:
    @pytest.fixture(autouse=True)
    def account(self, desk, monkeypatch):
        monkeypatch.setitem(PROVIDERS, "bank", BankRedirect())
        desk.post(admin_url(ProviderAccount, "add"), {"provider": "bank"})
        self.save(desk, SECRET)
        mailed()

    def save(self, desk, secret, api="https://bank.example"):
        given = {"api": api, "secret": secret, "capture": "at_once"}
        desk.post(admin_url(ProviderAccount.objects.get(), "change"), given)

    def undo(self, user):
        url = reverse("admin:payments_provideraccount_undo", args=[ProviderAccount.objects.get().pk])
        return open_desk(user).post(url, {"_form_submitted": "on"}, follow=True).content.decode()

    def test_new_ones_are_mailed_and_every_owner_can_undo_them(self, desk, shop, clock):
        self.save(desk, "of-somebody-else")
        assert mailed() == {"Settings of a payment provider changed": {"anna@example.com", "bert@example.com"}}
        clock.shift(timedelta(hours=23))
        # A second change does not lose the first, nor does deleting the account.
        desk = open_desk(user("anna"))
        self.save(desk, "of-yet-another")
        desk.post(admin_url(ProviderAccount.objects.get(), "delete"), {"post": "yes"})
        desk.post(admin_url(ProviderAccount, "add"), {"provider": "bank"})
        self.save(desk, "of-a-third", api="https://evil.example")
        run_due_tasks()
        assert "“Undo the new settings”" in mail.outbox[0].body
        assert SECRET not in "".join(message.body for message in mail.outbox)
        clock.shift(timedelta(hours=23, minutes=59))
        page = open_desk(user("bert")).get(admin_url(ProviderAccount.objects.get(), "change")).content.decode()
        assert "Undo the new settings" in page
        assert "The earlier settings are in force again." in self.undo(user("bert"))
        assert settings_of(shop, "bank") == {"api": "https://bank.example", "secret": SECRET, "capture": "at_once"}
        entry = AuditEntry.objects.get(shop=shop, action="provider_account.restored")
        assert entry.actor_name == "bert@example.com"
        # Whoever changed them cannot undo that in turn.
        assert "There are no earlier settings" in self.undo(user("anna"))
        assert settings_of(shop, "bank")["secret"] == SECRET

    def test_after_24_hours_it_is_too_late(self, desk, shop, clock):
        self.save(desk, "of-the-new-account")
        clock.shift(timedelta(hours=24))
        assert "There are no earlier settings" in self.undo(user("bert"))
        assert settings_of(shop, "bank")["secret"] == "of-the-new-account"
        assert delete_replaced(now=NOW + timedelta(hours=23), limit=10) == 0
        assert delete_replaced(now=NOW + timedelta(hours=24), limit=10) == 1
        assert not ReplacedSettings.objects.exists()

    def test_harmless_changes_keep_no_old_ones_for_longer(self, desk, shop, clock):
        self.save(desk, "of-the-new-account")
        clock.shift(timedelta(hours=23))
        self.save(open_desk(user("anna")), "", api="https://other.example")
        clock.shift(timedelta(hours=1))
        assert "There are no earlier settings" in self.undo(user("bert"))

    def test_another_shops_owner_and_a_manager_cannot(self, desk, shop):
        self.save(desk, "of-somebody-else")
        for name in ("oda", "mia"):
            self.undo(user(name))
        assert settings_of(shop, "bank")["secret"] == "of-somebody-else"
