"""Where somebody is signed in to the admin, and how that ends."""

from datetime import timedelta

import pytest
from django.conf import settings as django_settings
from django.test import Client

from storefront.server.worker.sweeps import SWEEPS
from storefront.shops.models import AuditEntry, StaffMember, StaffSession
from tests.customers.factories import PASSWORD as CUSTOMERS_PASSWORD
from tests.customers.factories import make_customer
from tests.shops.factories import NOW
from tests.staff import admin_url, make_staff, open_desk

pytestmark = pytest.mark.slow

PASSWORD = "lighthouse-1"


@pytest.fixture
def anna(shop, clock):
    return make_staff(shop)


def sign_in(name="anna", agent="Firefox on a laptop", place="192.0.2.7") -> Client:
    browser = Client(headers={"user-agent": agent}, REMOTE_ADDR=place)
    assert browser.post("/admin/login/", {"username": name, "password": PASSWORD}).status_code == 302
    return browser


def is_in(browser) -> bool:
    return browser.get("/admin/").status_code == 200


def end(browser, which) -> int:
    return browser.post("/admin/security/sessions/", {"id": which}).status_code


def test_each_browser_is_listed(anna):
    laptop = sign_in()
    sign_in(agent="Safari on a phone", place="2001:db8:1:2::9")
    page = laptop.get("/admin/security/").content.decode()
    assert "Firefox on a laptop <strong>(this browser)</strong>" in page
    assert "Safari on a phone" in page
    assert "From 2001:db8:1:2::/64" in page
    assert "signed in 21 Nov 2026, 08:30" in page


def test_the_name_of_a_browser_is_escaped(anna):
    browser = sign_in(agent="<script>alert(1)</script>" + "x" * 1000)
    assert "&lt;script&gt;" in browser.get("/admin/security/").content.decode()
    assert len(StaffSession.objects.get().browser) == 300


def test_only_the_users_own_sessions_are_listed(anna, shop):
    make_staff(shop, "bert")
    sign_in("bert", agent="Bert's own")
    assert "Bert" not in sign_in().get("/admin/security/").content.decode()


def test_ending_a_session_signs_it_out_at_once(anna):
    laptop, phone = sign_in(), sign_in()
    row = StaffSession.objects.order_by("pk").last()
    assert end(laptop, row.pk) == 302
    assert is_in(laptop)
    assert not is_in(phone)


def test_ending_all_others_keeps_this_session(anna):
    laptop, phone, tablet = sign_in(), sign_in(), sign_in()
    assert end(phone, "others") == 302
    assert [is_in(each) for each in (laptop, phone, tablet)] == [False, True, False]


def test_ending_all_sessions_includes_this_one(anna, shop):
    make_staff(shop, "bert")
    laptop, phone, bert = sign_in(), sign_in(), sign_in("bert")
    assert end(laptop, "all") == 302
    assert [is_in(each) for each in (laptop, phone, bert)] == [False, False, True]


@pytest.mark.parametrize("which", ["other", "0", "x", "", "9" * 30])
def test_refuses_to_end_somebody_elses_session(anna, shop, which):
    make_staff(shop, "bert")
    bert = sign_in("bert")
    chosen = StaffSession.objects.get().pk if which == "other" else which
    assert end(sign_in(), chosen) == 404
    assert is_in(bert)


def test_a_get_ends_no_session(anna):
    assert sign_in().get("/admin/security/sessions/?id=all").status_code == 405
    assert StaffSession.objects.count() == 1


def test_signing_in_again_does_not_restore_an_ended_session(anna):
    laptop = sign_in()
    key = laptop.cookies["storefront_session"].value
    end(laptop, "all")
    thief = Client()
    thief.cookies["storefront_session"] = key
    assert not is_in(thief)
    assert laptop.post("/admin/login/", {"username": "anna", "password": PASSWORD}).status_code == 302
    assert is_in(laptop)
    assert not is_in(thief)


def test_signing_out_ends_the_sessions_row(anna):
    laptop = sign_in()
    laptop.post("/admin/logout/")
    assert not is_in(laptop)
    assert not StaffSession.objects.exists()


def test_a_django_session_without_a_row_is_refused(anna):
    browser = Client()
    browser.force_login(anna)
    assert browser.get("/admin/").status_code == 302
    assert browser.get("/admin/orders/order/")["Location"].startswith("/admin/login/")


def test_the_row_of_one_session_does_not_open_another(anna, shop):
    bert = make_staff(shop, "bert")
    open_desk(bert)
    browser = Client()
    browser.force_login(anna)
    assert not is_in(browser)


def test_each_sign_in_makes_an_audit_entry(anna, shop):
    laptop = sign_in()
    assert is_in(laptop)
    assert is_in(laptop)
    # Signed out from elsewhere: the browser keeps Django's session, with all that is in it.
    StaffSession.objects.all().delete()
    assert laptop.post("/admin/login/", {"username": "anna", "password": PASSWORD}).status_code == 302
    assert is_in(laptop)
    assert AuditEntry.objects.filter(shop=shop, action="staff.signed_in").count() == 2


def test_a_shoppers_sign_in_and_out_keeps_staff_signed_in(anna, shop):
    make_customer(shop, "ada@example.com")
    browser = Client(headers={"host": shop.domain})
    assert browser.post("/admin/login/", {"username": "anna", "password": PASSWORD}).status_code == 302
    keys = [browser.cookies["storefront_session"].value]
    for path, given in (
        ("/account/sign-in", {"email": "ada@example.com", "password": CUSTOMERS_PASSWORD}),
        ("/account/sign-out", {}),
    ):
        assert browser.post(path, given).status_code == 303
        keys.append(browser.cookies["storefront_session"].value)
        assert is_in(browser), path
    assert len(set(keys)) == 3
    assert StaffSession.objects.count() == 1


def test_a_session_ends_after_two_weeks_at_the_latest(anna, clock):
    laptop = sign_in()
    for _ in range(27):
        clock.shift(timedelta(hours=12))
        session = laptop.session
        session["used"] = True
        session.save()
        assert is_in(laptop)
    clock.shift(timedelta(hours=12))
    assert not is_in(laptop)
    sweep = next(sweep for sweep in SWEEPS if sweep.name == "sessions of staff")
    clock.shift(1)
    other = sign_in()
    assert sweep.run(now=NOW + timedelta(seconds=django_settings.SESSION_COOKIE_AGE + 1)) == 1
    assert is_in(other)


def test_a_session_ends_after_a_day_without_use(anna, clock):
    laptop, phone = sign_in(), sign_in()
    clock.shift(timedelta(hours=23))
    assert is_in(laptop)
    clock.shift(timedelta(hours=1))
    assert [is_in(laptop), is_in(phone)] == [True, False]
    assert "(this browser)" in (page := laptop.get("/admin/security/").content.decode())
    assert page.count("last seen") == 1
    sweep = next(sweep for sweep in SWEEPS if sweep.name == "sessions of staff")
    assert sweep.run(now=NOW + timedelta(days=1, minutes=1)) == 1
    assert is_in(laptop)


class TestAColleagues:
    def test_an_owner_ends_a_colleagues_sessions_with_an_audit_entry(self, anna, shop):
        bert = make_staff(shop, "bert", "manager")
        laptop, phone, owner = sign_in("bert"), sign_in("bert"), sign_in()
        row = StaffMember.objects.get(user=bert)
        owner.post(admin_url(row, "end_sessions"), {"_form_submitted": "on"})
        assert [is_in(each) for each in (laptop, phone, owner)] == [False, False, True]
        entry = AuditEntry.objects.get(shop=shop, action="staff.sessions_ended")
        assert (entry.actor_id, entry.object_id, entry.after) == (anna.pk, bert.pk, {"sessions": 2})
        assert is_in(sign_in("bert")), "the place in the shop stays"

    def test_nobody_else_can_end_a_colleagues_sessions(self, anna, shop, other_shop):
        make_staff(shop, "bert", "manager")
        make_staff(other_shop, "olga")
        owner = sign_in()
        row = StaffMember.objects.get(user=anna)
        for name, status in (("bert", 403), ("olga", 404)):
            answer = sign_in(name).post(admin_url(row, "end_sessions"), {"_form_submitted": "on"})
            assert answer.status_code == status
        assert is_in(owner)
        assert not AuditEntry.objects.filter(action="staff.sessions_ended").exists()


def test_last_use_is_written_at_most_every_five_minutes(anna, clock, django_assert_num_queries):
    laptop = sign_in()
    clock.shift(timedelta(minutes=4))
    laptop.get("/admin/")
    assert StaffSession.objects.get().seen_at == NOW
    clock.shift(timedelta(minutes=1))
    laptop.get("/admin/")
    assert StaffSession.objects.get().seen_at == NOW + timedelta(minutes=5)


def test_a_new_password_ends_other_sessions_and_forgets_their_browsers(anna):
    laptop, phone = sign_in(), sign_in()
    given = {"old_password": PASSWORD, "new_password1": "another-phrase-8", "new_password2": "another-phrase-8"}
    assert laptop.post("/admin/password_change/", given).status_code == 302
    assert [is_in(laptop), is_in(phone)] == [True, False]
    assert StaffSession.objects.count() == 1


def test_a_refused_new_password_ends_no_session(anna):
    laptop, phone = sign_in(), sign_in()
    given = {"old_password": PASSWORD, "new_password1": "short", "new_password2": "short"}
    assert laptop.post("/admin/password_change/", given).status_code == 200
    assert [is_in(laptop), is_in(phone)] == [True, True]


def test_only_digests_of_session_keys_are_stored(anna):
    laptop = sign_in()
    assert laptop.cookies["storefront_session"].value not in StaffSession.objects.get().digest
