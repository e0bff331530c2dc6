"""A merchant sets up a payment provider in the admin. Its secrets are sealed and never shown again."""

import pytest

from storefront.payments.accounts import offered_providers, settings_of
from storefront.payments.models import Payment, PaymentEntry, ProviderAccount
from storefront.payments.providers.registry import PROVIDERS
from storefront.shops.models import AuditEntry
from tests.payments.bank import SECRET
from tests.payments.conftest import account_of, press, return_path
from tests.payments.provider import BankRedirect
from tests.staff import admin_url, make_staff, open_desk


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setitem(PROVIDERS, "bank", BankRedirect())


def set_up(desk, **given) -> ProviderAccount:
    desk.post(admin_url(ProviderAccount, "add"), {"provider": "bank"})
    account = ProviderAccount.objects.get()
    settings = {"api": "https://bank.example", "secret": SECRET, "capture": "at_once"} | given
    answer = desk.post(admin_url(account, "change"), settings)
    assert answer.status_code in (200, 302), answer
    return ProviderAccount.objects.get()


def test_settings_are_saved_and_the_secret_is_sealed(desk, shop, other_shop, registered):
    account = set_up(desk)
    assert settings_of(shop, "bank") == {"api": "https://bank.example", "secret": SECRET, "capture": "at_once"}
    assert settings_of(other_shop, "bank") == {}
    assert SECRET not in str(account.values) + bytes(account.sealed).decode()
    assert SECRET not in str(list(AuditEntry.objects.values()))
    page = desk.get(admin_url(account, "change")).content.decode()
    assert SECRET not in page
    assert 'placeholder="unchanged"' in page
    assert "https://shop.example.com/payments/bank/news" in page


def test_they_have_one_name_in_menu_and_pages(desk, shop, registered):
    account = set_up(desk)
    for page in (admin_url(ProviderAccount, "changelist"), admin_url(account, "change")):
        text = desk.get(page).content.decode()
        assert "Payment providers" in text
        assert "rovider account" not in text


def test_a_secret_that_is_left_empty_stays(desk, shop, registered):
    account = set_up(desk)
    desk.post(admin_url(account, "change"), {"api": "https://new.example", "secret": "", "capture": "on_fulfilment"})
    assert settings_of(shop, "bank")["secret"] == SECRET
    assert settings_of(shop, "bank")["api"] == "https://new.example"


def test_a_change_makes_one_entry_with_the_names_of_what_changed(desk, shop, registered):
    account = set_up(desk)
    before = set(AuditEntry.objects.values_list("pk", flat=True))
    changed = {"api": "https://bank.example", "secret": "", "capture": "on_fulfilment"}
    for _ in range(2):
        desk.post(admin_url(account, "change"), changed)
    (entry,) = AuditEntry.objects.exclude(pk__in=before)
    assert (entry.action, entry.after) == ("provider_account.updated", {"changed": ["capture"]})


def test_a_provider_is_offered_once_it_is_set_up(desk, shop, registered):
    shop.payment_methods = ["bank", "manual"]
    shop.save()
    desk.post(admin_url(ProviderAccount, "add"), {"provider": "bank"})
    assert [each.name for each in offered_providers(shop)] == ["manual"]
    set_up(desk)
    assert [each.name for each in offered_providers(shop)] == ["bank", "manual"]


def test_check_the_connection_says_what_is_wrong(desk, shop, registered):
    account = set_up(desk, secret="")
    url = admin_url(account, "change").replace("change/", "check_connection/")
    assert "The secret is missing." in desk.post(url, {"_form_submitted": "on"}, follow=True).content.decode()
    assert ProviderAccount.objects.get().checked_at is None
    set_up(desk)
    assert "The connection works." in desk.post(url, {"_form_submitted": "on"}, follow=True).content.decode()
    assert ProviderAccount.objects.get().checked_at is not None


def test_only_an_owner_of_the_shop_sets_up_providers(shop, registered, desk):
    account = set_up(desk)
    manager = open_desk(make_staff(shop, "mia", "manager"), shop)
    assert manager.get(admin_url(account, "change")).status_code == 403


def test_a_payment_is_shown_with_its_log(desk, bank, shop, shopper, mug):
    press(shopper, mug)
    bank.pay(account_of(bank))
    shopper.get(return_path())
    page = desk.get(admin_url(Payment.objects.get(), "change")).content.decode()
    assert account_of(bank).id in page
    for entry in PaymentEntry.objects.all():
        assert entry.to_state in page


def test_a_changed_secret_makes_one_entry(desk, shop, registered):
    account = set_up(desk)
    before = set(AuditEntry.objects.values_list("pk", flat=True))
    changed = {"api": "https://bank.example", "secret": "another_secret", "capture": "at_once"}
    for _ in range(2):
        desk.post(admin_url(account, "change"), changed)
    (entry,) = AuditEntry.objects.exclude(pk__in=before)
    assert (entry.action, entry.after) == ("provider_account.updated", {"changed": ["secret"]})
