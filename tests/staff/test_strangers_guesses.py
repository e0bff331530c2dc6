"""Strangers' guesses from many places keep nobody out of a new browser: a mailed link and a second factor lead in."""

import re

import pytest
from django.core import mail
from django.test import Client

from storefront.staff import jobs, second_factor
from tests.staff import make_staff
from tests.staff.authenticators import code_of
from tests.staff.signing_in import KEY, PASSWORD, give_app, is_in

LOGIN, OWN_PLACE = "/admin/login/", "198.51.100.1"


@pytest.fixture
def attacked(anna, clock):
    """Anna, whose password strangers have guessed at from eleven places."""
    for number in range(11):
        for _ in range(5):
            Client().post(LOGIN, {"username": "anna", "password": "wrong"}, REMOTE_ADDR=f"203.0.113.{number}")
    return anna


def enter(browser, code="", password=PASSWORD, name="anna", place=OWN_PLACE):
    return browser.post(LOGIN, {"username": name, "password": password, "code": code}, REMOTE_ADDR=place)


def errors(answer):
    return list(answer.context_data["form"].non_field_errors())


@pytest.mark.slow
def test_a_mailed_link_leads_in_at_once(attacked, clock):
    browser = Client()
    assert enter(browser).status_code == 429
    jobs.send_password_reset.func(None, "anna@example.com")
    where = browser.get(re.search(r"https?://[^/]+(/\S+)", mail.outbox[-1].body)[1])["Location"]
    # The link alone makes no browser known: mail scanners and people who were tricked follow links, too.
    assert enter(browser).status_code == 429
    browser.post(where, {"new_password1": "another-phrase-8", "new_password2": "another-phrase-8"})
    assert enter(Client(), password="another-phrase-8").status_code == 429
    assert enter(browser, password="another-phrase-8").status_code == 302
    assert is_in(browser)


@pytest.mark.slow
def test_who_uses_up_the_links_of_an_address_leaves_its_owner_one_that_works(anna, clock):
    """A link is valid for an hour, so whenever none is sent, one of the last hour is in the mailbox."""
    sent = 0
    for minutes in range(0, 30 * 60, 7):
        place = f"192.0.2.{minutes // 7 % 250}"
        answer = Client().post("/admin/password_reset/", {"email": "anna@example.com"}, REMOTE_ADDR=place)
        sent = minutes if answer.status_code == 303 else sent
        assert minutes - sent < 60
        clock.shift(7 * 60)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["app", "recovery"])
def test_a_second_factor_beside_the_password_leads_in_at_once(attacked, clock, kind):
    give_app(attacked)
    code = code_of(KEY) if kind == "app" else second_factor.new_recovery_codes(user=attacked)[0]
    browser = Client()
    assert 'name="code"' not in browser.get(LOGIN).content.decode()
    assert 'name="code"' in enter(browser).content.decode()
    assert enter(browser, code)["Location"] == "/admin/"
    assert is_in(browser)
    # Now the browser is known.
    browser.post("/admin/logout/")
    assert enter(browser)["Location"] == "/admin/login/second/"


@pytest.mark.slow
def test_a_code_does_not_replace_the_password_nor_say_that_it_was_right(attacked, clock):
    give_app(attacked)
    browser = Client()
    wrong_password, wrong_code = enter(browser, code_of(KEY), "wrong"), enter(browser, "000000")
    nobody = enter(browser, "000000", name="nobody")
    assert wrong_password.status_code == wrong_code.status_code == 200
    assert errors(wrong_password) == errors(wrong_code) != errors(nobody)
    assert not is_in(browser)
    # Of an account that nobody tried, a code is not asked for, and the password counts as ever.
    assert nobody.status_code == 200


@pytest.mark.slow
def test_guesses_with_codes_are_limited_by_place_and_close_no_other(attacked, clock):
    give_app(attacked)
    for number in range(30):
        answers = [enter(Client(), "000000", "wrong", place=f"192.0.2.{number}").status_code for _ in range(6)]
        assert answers == [200] * 5 + [429]
    assert enter(Client(), code_of(KEY))["Location"] == "/admin/"


@pytest.mark.slow
def test_a_right_password_with_wrong_codes_uses_up_the_accounts_codes_unseen(attacked, clock):
    give_app(attacked)
    for number in range(20):
        assert errors(enter(Client(), "000000", place=f"192.0.2.{number}")) == errors(
            enter(Client(), "000000", "wrong", place=f"192.0.2.{number}")
        )
    # All tries of this account's codes are used up, which the answer does not show.
    refused = enter(Client(), code_of(KEY))
    assert (refused.status_code, errors(refused)) == (200, errors(enter(Client(), "000000", "wrong")))


@pytest.mark.slow
@pytest.mark.parametrize("guess", ["wrong", PASSWORD])
def test_no_counter_that_others_share_shows_that_the_password_was_right(attacked, other_shop, clock, guess):
    """Somebody with accounts of their own could read the counter of codes of their place."""
    ends, place = "203.0.113.9", {}
    for number in range(8):
        eve = make_staff(other_shop, f"eve{number}")
        give_app(eve)
        own = Client()
        own.post("/admin/login/", {"username": f"eve{number}", "password": PASSWORD}, REMOTE_ADDR=ends)
        for _ in range(min(4, 29 - place.get("codes", 0))):
            assert own.post("/admin/login/second/", {"code": "000000"}, REMOTE_ADDR=ends).status_code == 200
            place["codes"] = place.get("codes", 0) + 1
    given = {"username": "anna", "password": guess, "code": "000000"}
    Client().post("/admin/login/", given, REMOTE_ADDR=ends)
    assert own.post("/admin/login/second/", {"code": "000000"}, REMOTE_ADDR=ends).status_code == 200
