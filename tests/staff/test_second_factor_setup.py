"""Setting up a second factor, and looking after it on the page Security."""

import base64
from unittest.mock import patch

import pytest
from django.core.management import call_command
from django.test import Client

from storefront.kit import sealing
from storefront.kit.refusals import InvalidFields
from storefront.shops.models import Authenticator, RecoveryCode, User
from storefront.staff import second_factor
from storefront.staff.second_factor import Factors, factors_of, new_recovery_codes, use_code
from tests.shops.factories import NOW
from tests.staff import make_staff, open_desk
from tests.staff.authenticators import code_of
from tests.staff.signing_in import KEY, give_app, is_in, sign_in


class TestEnrolling:
    @pytest.fixture
    def browser(self, anna, clock, settings):
        settings.STAFF_SECOND_FACTOR = "owners"
        browser = Client()
        sign_in(browser, QUERY_STRING="next=/admin/orders/order/")
        return browser

    def enrol(self, browser, **given):
        key = browser.get("/admin/login/enrol/").context_data["key"]
        return browser.post("/admin/login/enrol/", {"code": code_of(key), "name": "My phone", **given})

    def test_the_key_is_shown_as_text_and_as_a_picture(self, browser):
        page = browser.get("/admin/login/enrol/")
        text = page.content.decode()
        assert page.context_data["key"] in text
        assert "<svg" in text
        assert "style=" not in page.context_data["picture"]
        assert "no-store" in page["Cache-Control"]
        # A mistyped code does not ask for another scan.
        assert browser.get("/admin/login/enrol/").context_data["key"] == page.context_data["key"]

    def test_the_picture_contains_the_url_that_authenticator_apps_read(self, anna):
        with patch("storefront.staff.second_factor.segno.make") as made:
            made.return_value.save = lambda to, **_given: to.write(b"")
            second_factor.key_as_picture(KEY, anna)
        assert made.call_args[0][0] == (
            "otpauth://totp/Storefront%3Aanna?secret=OR3WK3TUPEQGE6LUMVZSA33GEBVWK6JB&issuer=Storefront"
        )

    def test_a_code_completes_the_setup_and_signs_in(self, browser, anna):
        answer = self.enrol(browser)
        (app,) = Authenticator.objects.filter(user=anna)
        assert app.name == "My phone"
        codes = answer.context_data["codes"]
        assert all(code in answer.content.decode() for code in codes)
        assert answer.context_data["then"] == "/admin/orders/order/"
        assert "no-store" in answer["Cache-Control"]
        assert len(set(codes)) == 10
        assert is_in(browser)

    def test_the_code_of_the_setup_cannot_be_used_again(self, browser, anna):
        self.enrol(browser)
        (app,) = Authenticator.objects.filter(user=anna)
        assert use_code(user=anna, code=code_of(browser_key(app)), now=NOW) is None

    @pytest.mark.parametrize("code", ["000000", ""])
    def test_a_wrong_code_does_not_complete_the_setup(self, browser, code):
        assert self.enrol(browser, code=code).status_code == 200
        assert not Authenticator.objects.exists()
        assert not RecoveryCode.objects.exists()
        assert not is_in(browser)

    def test_the_key_is_encrypted_in_table_and_session(self, browser, anna):
        key = base64.b32decode(browser.get("/admin/login/enrol/").context_data["key"].replace(" ", ""))
        kept = str(dict(browser.session))
        assert base64.b32encode(key).decode() not in kept
        self.enrol(browser)
        assert key not in bytes(Authenticator.objects.get(user=anna).sealed_key)

    def test_each_setup_has_its_own_key(self, browser, shop, clock):
        make_staff(shop, "bert")
        first = browser.get("/admin/login/enrol/").context_data["key"]
        sign_in(browser, "bert")
        assert browser.get("/admin/login/enrol/").context_data["key"] != first

    def test_the_setup_ends_sessions_without_a_second_factor(self, anna, settings, clock):
        settings.STAFF_SECOND_FACTOR = "none"
        phone = open_desk(anna, has_second_factor=False)
        laptop = open_desk(anna, has_second_factor=False)
        key = laptop.get("/admin/security/add/").context_data["key"]
        laptop.post("/admin/security/add/", {"code": code_of(key)})
        assert is_in(laptop)
        assert not is_in(phone)


def browser_key(app) -> bytes:
    return sealing.unseal(bytes(app.sealed_key), purpose=second_factor.PURPOSE)


class TestTheSecurityPage:
    @pytest.fixture
    def desk(self, anna, clock):
        return open_desk(anna)

    def test_lists_the_factors(self, desk, anna):
        give_app(anna)
        new_recovery_codes(user=anna)
        page = desk.get("/admin/security/").content.decode()
        assert "Phone" in page
        assert "10 recovery codes left" in page

    def test_is_linked_in_the_menu(self, desk):
        assert 'href="/admin/security/"' in desk.get("/admin/").content.decode()

    def test_adding_a_second_factor_makes_no_new_codes(self, desk, anna):
        give_app(anna)
        new_recovery_codes(user=anna)
        key = desk.get("/admin/security/add/").context_data["key"]
        assert desk.post("/admin/security/add/", {"code": code_of(key)})["Location"] == "/admin/security/"
        assert len(factors_of(anna).apps) == 2
        assert factors_of(anna).codes_left == 10

    def test_allows_ten_factors_of_a_kind(self, anna, clock):
        for number in range(10):
            give_app(anna, f"key number {number} of anna".encode())
        with pytest.raises(InvalidFields):
            give_app(anna)

    def test_removing_the_last_factor_removes_the_codes(self, desk, anna):
        app = give_app(anna)
        new_recovery_codes(user=anna)
        desk.post("/admin/security/remove/", {"kind": "app", "id": app.pk})
        assert factors_of(anna) == Factors([], [], 0)

    def test_refuses_to_remove_a_required_last_factor(self, desk, anna, settings):
        settings.STAFF_SECOND_FACTOR = "owners"
        app = give_app(anna)
        new_recovery_codes(user=anna)
        answer = desk.post("/admin/security/remove/", {"kind": "app", "id": app.pk}, follow=True)
        assert "Add another one before" in answer.content.decode()
        assert factors_of(anna).apps == [app]
        assert factors_of(anna).codes_left == 10

    @pytest.mark.parametrize("kind", ["app", "passkey", "user", ""])
    def test_does_not_remove_somebody_elses_factor(self, desk, shop, kind):
        app = give_app(make_staff(shop, "bert"))
        assert desk.post("/admin/security/remove/", {"kind": kind, "id": app.pk}).status_code == 404
        assert Authenticator.objects.filter(pk=app.pk).exists()

    def test_shows_new_codes_once(self, desk, anna):
        give_app(anna)
        old = new_recovery_codes(user=anna)
        answer = desk.post("/admin/security/codes/")
        assert len(answer.context_data["codes"]) == 10
        assert "no-store" in answer["Cache-Control"]
        assert use_code(user=anna, code=old[0], now=NOW) is None

    def test_without_a_factor_there_are_no_codes(self, desk):
        assert desk.post("/admin/security/codes/").status_code == 404

    def test_staff_without_a_shop_can_open_it(self, db, clock):
        lost = open_desk(User.objects.create_user("lost", email="lost@example.com", is_staff=True))
        assert lost.get("/admin/security/").status_code == 200


class TestTheCommandForWhoLostEverything:
    def test_removes_all_factors_and_ends_the_sessions(self, anna, clock, capsys, shop):
        give_app(anna)
        new_recovery_codes(user=anna)
        bert = make_staff(shop, "bert")
        give_app(bert, b"another key of bert!")
        desk = open_desk(anna)
        call_command("resetsecondfactor", "--email", "ANNA@example.com")
        assert '{"email":"anna@example.com","removed":1,"signed_out":1}' in capsys.readouterr().out
        assert factors_of(anna) == Factors([], [], 0)
        assert factors_of(bert)
        assert not is_in(desk)

    def test_names_the_field_for_an_unknown_address(self, db):
        with pytest.raises(InvalidFields) as refused:
            call_command("resetsecondfactor", "--email", "nobody@example.com")
        assert "nobody@example.com" in refused.value.errors["email"][0]
