"""Staff prove who they are twice: with a password, and with a code of theirs."""

from datetime import timedelta

import pytest
from django.test import Client

from storefront.kit import clock as kit_clock
from storefront.shops.models import Authenticator, RecoveryCode, StaffSession, User
from storefront.staff import second_factor, staff_pages
from storefront.staff.second_factor import factors_of, must_have_one, new_recovery_codes, use_code
from tests.races import run_concurrently
from tests.shops.factories import NOW
from tests.staff import make_staff, open_desk
from tests.staff.authenticators import code_of
from tests.staff.signing_in import KEY, PASSWORD, admin_urls, give_app, half_in, is_in, send, sign_in

pytestmark = pytest.mark.slow

# Invitations and forgotten passwords: nobody needs to be signed in for them.
FOR_ANYBODY = {url.name for url in staff_pages.urls()}


class TestSigningIn:
    def test_a_code_signs_in(self, anna, clock):
        give_app(anna)
        browser = half_in(anna)
        page = browser.get("/admin/login/second/")
        assert "Enter the code from your authenticator app" in page.content.decode()
        answer = send(browser, code_of(KEY))
        assert (answer.status_code, answer["Location"]) == (302, "/admin/")
        assert is_in(browser)
        assert StaffSession.objects.get(user=anna).has_second_factor

    def test_signing_in_returns_to_the_requested_page(self, anna, clock):
        give_app(anna)
        browser = Client()
        sign_in(browser, QUERY_STRING="next=/admin/orders/order/")
        assert send(browser, code_of(KEY))["Location"] == "/admin/orders/order/"

    @pytest.mark.parametrize("code", ["", "000000", "abc", "1234567", "٠٠٠٠٠٠", "0" * 41])
    def test_a_wrong_code_does_not_sign_in(self, anna, clock, code):
        give_app(anna)
        browser = half_in(anna)
        assert send(browser, code).status_code == 200
        assert not is_in(browser)

    def test_accepts_codes_one_step_early_or_late(self, anna, clock):
        give_app(anna)
        for steps, opens in [(-2, False), (2, False), (-1, True), (1, True)]:
            browser = half_in(anna)
            send(browser, code_of(KEY, steps))
            assert is_in(browser) == opens

    def test_each_code_is_valid_once(self, anna, clock):
        give_app(anna)
        send(half_in(anna), code_of(KEY))
        browser = half_in(anna)
        assert "has already been used" in send(browser, code_of(KEY)).content.decode()
        assert not is_in(browser)
        send(browser, code_of(KEY, -1))
        assert not is_in(browser)
        clock.shift(timedelta(seconds=30))
        send(browser, code_of(KEY))
        assert is_in(browser)

    def test_somebody_elses_code_does_not_sign_in(self, anna, shop, clock):
        bert = make_staff(shop, "bert")
        give_app(anna)
        give_app(bert, b"another key of bert!")
        browser = half_in(anna)
        send(browser, code_of(b"another key of bert!"))
        assert not is_in(browser)

    def test_after_too_many_wrong_codes_the_right_one_is_refused(self, anna, clock):
        give_app(anna)
        browser = half_in(anna)
        answers = [send(browser, "000000").status_code for _ in range(6)]
        assert answers == [200] * 5 + [429]
        refused = send(browser, code_of(KEY))
        assert (refused.status_code, refused["Retry-After"]) == (429, "60")
        assert "Too many attempts" in refused.content.decode()
        assert not is_in(browser)
        # Nor by giving the password again.
        again = half_in(anna)
        assert send(again, code_of(KEY)).status_code == 429

    def test_guessing_elsewhere_does_not_lock_out_a_known_browser(self, anna, clock):
        give_app(anna)
        laptop = half_in(anna)
        send(laptop, code_of(KEY))
        laptop.post("/admin/logout/")
        for number in range(20):
            thief = half_in(anna)
            send(thief, "000000", REMOTE_ADDR=f"203.0.113.{number}")
        clock.shift(timedelta(seconds=30))
        assert send(half_in(anna), code_of(KEY)).status_code == 429
        sign_in(laptop)
        assert send(laptop, code_of(KEY)).status_code == 302

    def test_the_password_step_expires_after_ten_minutes(self, anna, clock):
        give_app(anna)
        browser = half_in(anna)
        clock.shift(timedelta(minutes=10))
        assert send(browser, code_of(KEY))["Location"] == "/admin/login/"
        assert not is_in(browser)

    def test_a_new_password_ends_sign_ins_begun_with_the_old_one(self, anna, clock):
        give_app(anna)
        browser = half_in(anna)
        anna.set_password("another-phrase-8")
        anna.save()
        assert send(browser, code_of(KEY))["Location"] == "/admin/login/"

    def test_without_the_password_there_is_no_second_step(self, anna, clock):
        give_app(anna)
        for url in ("/admin/login/second/", "/admin/login/enrol/"):
            assert send(Client(), code_of(KEY), url)["Location"] == "/admin/login/"

    def test_each_step_changes_the_session_key(self, anna, clock):
        give_app(anna)
        browser = half_in(anna)
        first = browser.cookies["storefront_session"].value
        send(browser, code_of(KEY))
        thief = Client()
        thief.cookies["storefront_session"] = first
        assert not is_in(thief)
        assert browser.cookies["storefront_session"].value != first


class TestHalfSignedIn:
    def test_every_admin_page_redirects_before_the_second_step(self, anna, clock):
        give_app(anna)
        browser = half_in(anna)
        urls = dict(admin_urls())
        assert len(urls) > 150
        for name, url in urls.items():
            if name in ("login", "second_step", "enrol") or name in FOR_ANYBODY:
                continue
            for answer in (browser.get(url), browser.post(url)):
                assert answer.status_code == 302, name
                assert answer["Location"].startswith("/admin/login/") or name == "logout", name
        assert not StaffSession.objects.exists()

    def test_every_admin_page_redirects_before_a_required_setup(self, anna, clock, settings):
        settings.STAFF_SECOND_FACTOR = "owners"
        browser = Client()
        assert sign_in(browser)["Location"] == "/admin/login/enrol/"
        for name, url in admin_urls():
            if name not in ("login", "enrol") and name not in FOR_ANYBODY:
                assert browser.get(url).status_code == 302, name
        assert "_auth_user_id" not in browser.session

    def test_somebody_who_has_become_an_owner_must_set_one_up_first(self, shop, clock, settings):
        settings.STAFF_SECOND_FACTOR = "owners"
        bert = make_staff(shop, "bert", role="manager")
        desk = open_desk(bert, has_second_factor=False)
        assert is_in(desk)
        shop.staff.filter(user=bert).update(role="owner")
        for name, url in admin_urls():
            if name in ("login", "second_step", "enrol", "logout", "confirm") or name in FOR_ANYBODY:
                continue
            assert desk.get(url)["Location"] == "/admin/login/enrol/", name
        page = desk.get("/admin/login/enrol/")
        assert desk.post("/admin/login/enrol/", {"code": code_of(page.context_data["key"])}).status_code == 200
        assert is_in(desk)

    def test_somebody_who_becomes_an_owner_later_confirms_before_the_setup(self, shop, clock, settings):
        settings.STAFF_SECOND_FACTOR = "owners"
        bert = make_staff(shop, "bert", role="manager")
        desk = open_desk(bert, has_second_factor=False)
        shop.staff.filter(user=bert).update(role="owner")
        clock.shift(timedelta(minutes=16))
        asked = desk.get("/admin/login/enrol/")["Location"]
        assert asked == "/admin/confirm/?next=/admin/"
        assert desk.get(asked).status_code == 200
        assert desk.post(asked, {"password": PASSWORD})["Location"] == "/admin/"
        # Confirming opens nothing else.
        assert desk.get("/admin/")["Location"] == "/admin/login/enrol/"
        page = desk.get("/admin/login/enrol/")
        assert desk.post("/admin/login/enrol/", {"code": code_of(page.context_data["key"])}).status_code == 200
        assert is_in(desk)


class TestWhoMustHaveOne:
    @pytest.mark.parametrize(
        ("setting", "must"),
        [("owners", {"anna", "operator"}), ("all", {"anna", "bert", "operator"}), ("none", set())],
    )
    def test_the_setting_decides_who_must_have_one(self, shop, other_shop, settings, setting, must):
        settings.STAFF_SECOND_FACTOR = setting
        make_staff(shop, "bert", role="manager")
        make_staff(shop, "anna", role="manager")
        make_staff(other_shop, "anna", role="owner")
        User.objects.create_superuser("operator", email="op@example.com")
        assert {user.username for user in User.objects.all() if must_have_one(user)} == must

    def test_others_sign_in_with_the_password_alone(self, shop, settings):
        settings.STAFF_SECOND_FACTOR = "owners"
        make_staff(shop, "bert", role="manager")
        browser = Client()
        assert sign_in(browser, "bert")["Location"] == "/admin/"
        assert is_in(browser)

    def test_somebody_with_a_factor_is_always_asked_for_it(self, shop, settings, clock):
        settings.STAFF_SECOND_FACTOR = "none"
        bert = make_staff(shop, "bert", role="manager")
        give_app(bert)
        half_in(bert)


class TestRecoveryCodes:
    def test_each_recovery_code_signs_in_once(self, anna, clock):
        give_app(anna)
        codes = new_recovery_codes(user=anna)
        browser = half_in(anna)
        assert send(browser, codes[0].upper().replace("-", " ")).status_code == 302
        assert is_in(browser)
        assert factors_of(anna).codes_left == 9
        again = half_in(anna)
        send(again, codes[0])
        assert not is_in(again)

    def test_only_digests_of_recovery_codes_are_stored(self, anna):
        codes = new_recovery_codes(user=anna)
        kept = " ".join(RecoveryCode.objects.values_list("digest", flat=True))
        assert not any(code in kept or code.replace("-", "") in kept for code in codes)

    def test_new_recovery_codes_replace_the_old_ones(self, anna):
        old = new_recovery_codes(user=anna)
        new_recovery_codes(user=anna)
        assert use_code(user=anna, code=old[0], now=NOW) is None
        assert RecoveryCode.objects.count() == 10

    def test_refuses_somebody_elses_recovery_code(self, anna, shop):
        bert = make_staff(shop, "bert")
        assert use_code(user=anna, code=new_recovery_codes(user=bert)[0], now=NOW) is None

    def test_guessing_recovery_codes_is_limited(self, anna, clock):
        give_app(anna)
        codes = new_recovery_codes(user=anna)
        browser = half_in(anna)
        for _ in range(5):
            send(browser, "aaaa-aaaa-aaaa-aaaa")
        assert send(browser, codes[0]).status_code == 429
        assert factors_of(anna).codes_left == 10


@pytest.mark.django_db(transaction=True)
class TestRaces:
    def test_of_two_concurrent_sign_ins_with_one_code_one_succeeds(self, shop):
        anna = make_staff(shop)
        give_app(anna)
        now = kit_clock.now()
        code = code_of(KEY)
        results = run_concurrently(*[lambda: use_code(user=anna, code=code, now=now)] * 6)
        assert sorted(map(str, results)) == ["None"] * 5 + ["app"]

    def test_of_two_concurrent_sign_ins_with_one_recovery_code_one_succeeds(self, shop):
        anna = make_staff(shop)
        code = new_recovery_codes(user=anna)[0]
        results = run_concurrently(*[lambda: use_code(user=anna, code=code, now=NOW)] * 6)
        assert sorted(map(str, results)) == ["None"] * 5 + ["recovery"]

    def test_concurrent_removals_leave_a_required_factor(self, shop, settings):
        settings.STAFF_SECOND_FACTOR = "owners"
        anna = make_staff(shop)
        apps = [give_app(anna), give_app(anna, b"the key of a tablet!")]
        results = run_concurrently(
            *[lambda app=app: second_factor.remove_factor(user=anna, kind="app", factor_id=app.pk) for app in apps],
            refusal=second_factor.LastFactor,
        )
        assert sorted(type(result).__name__ for result in results) == ["LastFactor", "NoneType"]
        assert Authenticator.objects.filter(user=anna).count() == 1
