"""How staff confirm who they are, and what happens to what they had sent. `tests/server/test_admin_moves.py` walks all
that asks for it."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.urls import reverse

from storefront.apps.models import AllowedScriptHost, BlockedScript
from storefront.documents.models import InvoiceSettings
from storefront.installations.models import Installation
from storefront.kit import clock
from storefront.payments import actions as payments
from storefront.payments.models import ProviderAccount, Refund
from storefront.pricing.models import Discount
from storefront.shops.models import ApiToken, AuditEntry, StaffMember, StaffSession
from storefront.staff.second_factor import new_recovery_codes
from tests.catalogue.factories import make_product
from tests.factories.apps import install, make_app
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW
from tests.staff import admin_url, form_values, make_staff, open_desk
from tests.staff.authenticators import SoftKey, code_of, options_of
from tests.staff.signing_in import KEY, give_app

pytestmark = [pytest.mark.any_database, pytest.mark.slow]

PASSWORD = "lighthouse-1"


@pytest.fixture
def anna(shop, clock):
    return make_staff(shop)


@pytest.fixture
def desk(anna):
    return open_desk(anna)


@pytest.fixture
def stale(desk, clock):
    """Signed in a quarter of an hour ago."""
    clock.shift(timedelta(minutes=15))
    return desk


def asks(answer) -> bool:
    return answer.status_code == 302 and answer["Location"].startswith("/admin/confirm/?next=")


class TestConfirming:
    def confirm(self, desk, next="/admin/shops/apitoken/add/", **given):
        return desk.post(f"/admin/confirm/?next={next}", given)

    def test_the_password_confirms_and_returns_to_the_page(self, stale):
        asked = stale.get("/admin/shops/apitoken/add/")
        assert asked["Location"] == "/admin/confirm/?next=%2Fadmin%2Fshops%2Fapitoken%2Fadd%2F"
        assert "You will not be asked again for 15 minutes." in stale.get(asked["Location"]).content.decode()
        answer = stale.post(asked["Location"], {"password": PASSWORD})
        assert (answer.status_code, answer["Location"]) == (302, "/admin/shops/apitoken/add/")
        assert stale.get("/admin/shops/apitoken/add/").status_code == 200

    def test_the_password_does_not_confirm_for_somebody_with_a_second_factor(self, stale, anna):
        give_app(anna)
        page = stale.get("/admin/confirm/").content.decode()
        assert 'name="code"' in page
        assert 'name="password"' not in page
        assert self.confirm(stale, password=PASSWORD).status_code == 200
        assert self.confirm(stale, password=PASSWORD, code="000000").status_code == 200
        assert asks(stale.get("/admin/shops/apitoken/add/"))

    def test_without_a_second_factor_only_the_password_is_asked_for(self, stale):
        page = stale.get("/admin/confirm/").content.decode()
        assert 'name="password"' in page
        assert 'name="code"' not in page
        assert 'name="passkey"' not in page

    def test_with_only_a_passkey_the_passkey_is_asked_for(self, stale, anna, clock):
        key, add = SoftKey(), "/admin/security/add/"
        fresh = open_desk(anna)
        fresh.post(add, {"passkey": key.make(options_of(fresh.get(add))), "name": "Laptop"})
        anna.recovery_codes.all().delete()
        clock.shift(timedelta(minutes=15))
        asked = fresh.get("/admin/confirm/")
        assert 'name="code"' not in asked.content.decode()
        assert 'name="password"' not in asked.content.decode()
        assert self.confirm(fresh, password=PASSWORD).status_code == 200
        assert self.confirm(fresh, passkey=key.sign(options_of(fresh.get("/admin/confirm/")))).status_code == 302
        assert not asks(fresh.get("/admin/shops/apitoken/add/"))

    def test_a_code_confirms(self, stale, anna):
        give_app(anna)
        assert self.confirm(stale, code=code_of(KEY)).status_code == 302
        assert stale.get("/admin/shops/apitoken/add/").status_code == 200

    def test_a_recovery_code_confirms_once(self, stale, anna, clock):
        give_app(anna)
        code = new_recovery_codes(user=anna)[0]
        assert self.confirm(stale, code=code).status_code == 302
        clock.shift(timedelta(minutes=15))
        assert self.confirm(stale, code=code).status_code == 200

    @pytest.mark.parametrize("has_factor", [True, False])
    @pytest.mark.parametrize("given", [{}, {"password": "wrong"}, {"code": "000000"}, {"passkey": "{}"}])
    def test_wrong_or_missing_proof_does_not_confirm(self, stale, anna, given, has_factor):
        if has_factor:
            give_app(anna)
        assert self.confirm(stale, **given).status_code == 200
        assert asks(stale.get("/admin/shops/apitoken/add/"))

    def test_a_confirmation_lasts_15_minutes_in_its_session_only(self, stale, anna, clock):
        phone = open_desk(anna)
        StaffSession.objects.update(confirmed_at=NOW)
        self.confirm(stale, password=PASSWORD)
        assert asks(phone.get("/admin/shops/apitoken/add/"))
        clock.shift(timedelta(minutes=15, seconds=-1))
        assert not asks(stale.get("/admin/shops/apitoken/add/"))
        clock.shift(timedelta(seconds=1))
        assert asks(stale.get("/admin/shops/apitoken/add/"))

    def test_guessing_is_limited(self, stale, anna):
        answers = [self.confirm(stale, password="wrong").status_code for _ in range(11)]
        assert answers == [200] * 10 + [429]
        right = self.confirm(stale, password=PASSWORD)
        assert (right.status_code, right["Retry-After"]) == (429, "60")
        give_app(anna)
        answers = [self.confirm(stale, code="000000").status_code for _ in range(6)]
        assert answers == [200] * 5 + [429]

    @pytest.mark.parametrize("next", ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:1"])
    def test_never_redirects_to_another_site(self, stale, next):
        assert self.confirm(stale, next, password=PASSWORD)["Location"] == "/admin/"

    def test_asks_visitors_to_sign_in(self, client):
        answer = self.confirm(client, password=PASSWORD)
        assert answer["Location"].startswith("/admin/login/")

    def test_staff_without_a_shop_can_confirm(self, stale, shop, clock):
        shop.staff.all().delete()
        assert self.confirm(stale, "/admin/security/add/", password=PASSWORD).status_code == 302
        assert stale.get("/admin/security/add/").status_code == 200


class TestNothingIsHalfDone:
    def test_no_token_is_created(self, stale, anna):
        given = {"name": "Sneaky", "scopes": ["read_products"], "requests_per_minute": ""}
        answer = stale.post("/admin/shops/apitoken/add/", given)
        assert not ApiToken.objects.exists()
        page = stale.post(answer["Location"], {"password": PASSWORD}, follow=True)
        assert "Please repeat the action: it was not carried out." in page.content.decode()
        assert not ApiToken.objects.exists()
        assert stale.post("/admin/shops/apitoken/add/", given).status_code == 200
        assert ApiToken.objects.exists()

    def test_no_staff_is_added(self, stale, shop):
        stale.post("/admin/shops/staffmember/add/", {"email": "eve@example.com", "role": "owner"})
        assert StaffMember.objects.filter(shop=shop).count() == 1

    def test_no_app_is_installed(self, stale, shop):
        app = make_app()
        assert asks(stale.post(reverse("admin:apps_app_install", args=[app.pk]), {"scopes": app.scopes}))
        assert not Installation.objects.exists()

    def test_no_money_is_refunded_and_the_dialog_leads_to_the_confirmation(self, stale, shop):
        order = make_order(shop, sale_line(make_product(shop, "Mug"), 1))
        payments.mark_paid(shop=shop, order=order, now=NOW)
        url = reverse("admin:orders_order_refund", args=[order.pk])
        page = admin_url(order, "change")
        from_dialog = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{page}?_changelist_filters=a"}
        asked = f"/admin/confirm/?next={page.replace('/', '%2F')}%3F_changelist_filters%3Da"
        opened = stale.get(url, headers=from_dialog)
        assert (opened.status_code, opened["HX-Redirect"]) == (204, asked)
        answer = stale.post(url, {"amount": "1"}, headers=from_dialog)
        assert (answer.status_code, answer["HX-Redirect"]) == (204, f"{asked}&again=1")
        assert not Refund.objects.exists()
        back = stale.post(answer["HX-Redirect"], {"password": PASSWORD}, follow=True)
        assert back.redirect_chain[-1][0] == f"{page}?_changelist_filters=a"
        assert "Please repeat the action: it was not carried out." in back.content.decode()
        assert stale.get(url, headers=from_dialog).status_code == 200

    def test_htmx_requests_never_redirect_to_another_site(self, stale, shop):
        order = make_order(shop, sale_line(make_product(shop, "Mug"), 1))
        lying = {"HX-Request": "true", "HX-Current-URL": "https://evil.example//evil.example/"}
        answer = stale.get(reverse("admin:orders_order_refund", args=[order.pk]), headers=lying)
        assert stale.post(answer["HX-Redirect"], {"password": PASSWORD})["Location"] == "/admin/"

    def test_an_unreadable_page_url_leads_to_the_start_page(self, stale, shop):
        order = make_order(shop, sale_line(make_product(shop, "Mug"), 1))
        broken = {"HX-Request": "true", "HX-Current-URL": "http://[x"}
        answer = stale.get(reverse("admin:orders_order_refund", args=[order.pk]), headers=broken)
        assert (answer.status_code, answer["HX-Redirect"]) == (204, "/admin/confirm/?next=%2Fadmin%2F")

    def test_no_script_host_is_allowed(self, stale, shop):
        blocked = BlockedScript.objects.create(
            shop=shop, source="https://evil.example/x.js", directive="script-src", first_at=NOW, last_at=NOW
        )
        url = reverse("admin:apps_blockedscript_allow", args=[blocked.pk])
        assert asks(stale.post(url, {"confirm": "1"}))
        from_dialog = {"HX-Request": "true", "HX-Current-URL": "http://testserver/admin/apps/blockedscript/"}
        asked = "/admin/confirm/?next=%2Fadmin%2Fapps%2Fblockedscript%2F"
        assert stale.get(url, headers=from_dialog)["HX-Redirect"] == asked
        answer = stale.post(url, headers=from_dialog)
        assert answer["HX-Redirect"] == f"{asked}&again=1"
        assert not AllowedScriptHost.objects.exists()
        stale.post(answer["HX-Redirect"], {"password": PASSWORD})
        assert stale.get(url, headers=from_dialog).status_code == 200
        stale.post(url, {"confirm": "1"}, headers=from_dialog)
        assert AllowedScriptHost.objects.get().host == "evil.example"

    def test_no_factor_is_removed_and_confirming_returns_to_the_page(self, stale, anna):
        app = give_app(anna)
        answer = stale.post("/admin/security/remove/", {"kind": "app", "id": app.pk})
        assert answer["Location"] == "/admin/confirm/?next=%2Fadmin%2Fsecurity%2F&again=1"
        assert anna.authenticators.exists()

    def test_no_token_of_an_app_is_shown(self, stale, shop):
        installation = install(shop).installation
        url = reverse("admin:apps_installation_rotate_token", args=[installation.pk])
        assert asks(stale.post(url))
        assert ApiToken.objects.filter(installation_id=installation.pk).count() == 1


class TestFormsComeBack:
    """Filled as they were, and saved only when their button is pressed again."""

    def interrupted(self, desk, url, form):
        """The page after the person was asked for a confirmation, and gave it."""
        asked = desk.post(url, form)
        assert asks(asked)
        return desk.post(asked["Location"], {"password": PASSWORD}, follow=True)

    def test_a_discount_with_its_codes(self, stale, shop):
        url = reverse("admin:pricing_discount_add")
        form = form_values(stale_page(stale, url)) | {
            "name": "All of it",
            "needs_code": "on",
            "kind": "percent",
            "value": "100",
            "is_active": "on",
            "codes-TOTAL_FORMS": "1",
            "codes-0-code": "FREE",
            "codes-0-use_limit": "7",
        }
        page = self.interrupted(stale, url, form)
        assert not Discount.objects.exists()
        assert page.redirect_chain[-1][0] == url
        assert "it was not carried out" in page.content.decode()
        again = form_values(page)
        assert {name: str(again[name]) for name in form} == {name: str(value) for name, value in form.items()}
        # Looking at the page once more shows an empty form, and the one that came back can be saved.
        assert form_values(stale.get(url))["name"] == ""
        stale.post(url, again)
        assert Discount.objects.get().codes.get().use_limit == 7

    def test_bank_details_and_keys_of_a_provider(self, stale, shop):
        bank, account = (
            InvoiceSettings.objects.create(shop=shop),
            ProviderAccount.objects.create(shop=shop, provider="stripe"),
        )
        keys = {"secret_key": "sk_test_of_somebody_else", "publishable_key": "pk_test_1", "webhook_secret": "whsec_1"}
        for row, given in ((bank, {"bank": "DE00 1234"}), (account, keys)):
            url = admin_url(row, "change")
            page = self.interrupted(stale, url, form_values(stale.get(url)) | given)
            shown = form_values(page)
            assert {name: shown[name] for name in given} == given
            row.refresh_from_db()
            assert (bank.bank, account.sealed) == ("", None)
            StaffSession.objects.update(confirmed_at=NOW)
        assert "sk_test" not in repr([session.get_decoded() for session in Session.objects.all()])

    def test_customers_and_orders_are_downloaded_after_the_confirmation(self, stale):
        for name in ("orders_order", "customers_customer"):
            StaffSession.objects.update(confirmed_at=NOW)
            asked = stale.get(reverse(f"admin:{name}_export_csv"))
            assert asks(asked)
            assert AuditEntry.objects.filter(action__endswith=".exported").count() == 0
            answer = stale.post(asked["Location"], {"password": PASSWORD})
            assert answer["Location"] == reverse(f"admin:{name}_export_csv")

    def test_nobody_else_gets_the_form(self, stale, shop, other_shop, clock, anna):
        url = reverse("admin:pricing_discount_add")
        form = form_values(stale_page(stale, url)) | {"name": "All of it"}
        asked = stale.post(url, form)
        # Neither before the confirmation, nor in another shop, nor later.
        assert asks(stale.get(url))
        StaffMember.objects.create(shop=other_shop, user=anna, role="owner")
        stale.post(reverse("admin:switch_shop"), {"shop": other_shop.pk})
        assert form_values(stale.post(asked["Location"], {"password": PASSWORD}, follow=True))["name"] == ""
        clock.shift(timedelta(minutes=15))
        asked = stale.post(url, form)
        clock.shift(timedelta(minutes=15))
        assert form_values(stale.post(asked["Location"], {"password": PASSWORD}, follow=True))["name"] == ""

    def test_a_password_is_not_kept(self, stale):
        given = {"old_password": PASSWORD, "new_password1": "new-lighthouse-2", "new_password2": "new-lighthouse-2"}
        assert asks(stale.post(reverse("admin:password_change"), given))
        assert "_held_form" not in stale.session

    def test_who_confirms_for_something_else_finds_no_form_filled_in(self, stale):
        url = reverse("admin:pricing_discount_add")
        stale.post(url, form_values(stale_page(stale, url)) | {"name": "All of it"})
        stale.post(reverse("admin:confirm"), {"password": PASSWORD}, follow=True)
        assert form_values(stale.get(url))["name"] == ""


def stale_page(desk, url):
    """The page as it was opened before the confirmation became old."""
    confirmed = list(StaffSession.objects.values_list("pk", "confirmed_at"))
    StaffSession.objects.update(confirmed_at=clock.now())
    page = desk.get(url)
    for pk, at in confirmed:
        StaffSession.objects.filter(pk=pk).update(confirmed_at=at)
    return page
