"""Signing in to the admin with a password: slow to guess, and never a way to lock the owner out."""

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.test import Client

pytestmark = pytest.mark.slow

LOGIN = "/admin/login/"
PASSWORD = "lighthouse-1"


def sign_in(browser, name="anna", password=PASSWORD, place="127.0.0.1", **given):
    return browser.post(LOGIN, {"username": name, "password": password}, REMOTE_ADDR=place, **given)


def is_in(browser) -> bool:
    return browser.get("/admin/").status_code == 200


def test_after_sixty_wrong_passwords_the_right_one_is_refused_too(anna, clock):
    attacker = Client()
    answers = [sign_in(attacker, password=f"wrong-{number}").status_code for number in range(60)]
    assert answers == [200] * 10 + [429] * 50
    right = sign_in(attacker)
    assert right.status_code == 429
    assert int(right["Retry-After"]) == 60
    assert not is_in(attacker)


def test_while_limited_right_and_wrong_passwords_get_the_same_answer(anna, clock):
    attacker = Client()
    for _ in range(10):
        sign_in(attacker, password="wrong")

    def said(answer):
        return answer.context_data["form"].non_field_errors()

    right, wrong = sign_in(attacker), sign_in(attacker, password="wrong")
    assert (right.status_code, said(right)) == (wrong.status_code, said(wrong))
    assert said(right) == ["Too many attempts. Please try again in 1 minute."]


def test_while_limited_no_password_is_hashed(anna, clock):
    attacker = Client()
    for _ in range(10):
        sign_in(attacker, password="wrong")
    with patch.object(MD5PasswordHasher, "encode", side_effect=AssertionError):
        assert sign_in(attacker).status_code == 429
        assert sign_in(attacker, password="wrong").status_code == 429


def test_the_wait_ends_and_grows(anna, clock):
    browser = Client()
    for _ in range(10):
        sign_in(browser, password="wrong")
    clock.shift(timedelta(seconds=61))
    assert sign_in(browser, password="wrong").status_code == 200
    assert int(sign_in(browser)["Retry-After"]) == 120
    clock.shift(timedelta(seconds=121))
    assert sign_in(browser).status_code == 302
    assert is_in(browser)


def test_guessing_does_not_lock_out_a_known_browser(anna, clock):
    laptop = Client()
    assert sign_in(laptop).status_code == 302
    laptop.post("/admin/logout/")
    for number in range(60):
        sign_in(Client(), password="wrong", place=f"203.0.113.{number}")
    for number in range(70):
        sign_in(Client(), name=f"nobody-{number}", password="wrong")
    assert sign_in(Client()).status_code == 429
    assert sign_in(Client(), place="198.51.100.1").status_code == 429
    assert sign_in(laptop).status_code == 302
    assert is_in(laptop)


def test_guessing_with_a_known_browser_is_limited(anna, clock):
    stolen = Client()
    sign_in(stolen)
    stolen.post("/admin/logout/")
    answers = [sign_in(stolen, password="wrong").status_code for _ in range(11)]
    assert answers == [200] * 10 + [429]
    assert sign_in(stolen).status_code == 429


def test_an_unknown_account_gets_the_same_answer(anna, clock):
    def response_to(name, place) -> list:
        answers = [sign_in(Client(), name=name, password="wrong", place=place) for _ in range(12)]
        return [(each.status_code, each.get("Retry-After"), each.context_data["form"].errors) for each in answers]

    assert response_to("anna", "192.0.2.7") == response_to("nobody", "192.0.2.8")


def test_a_password_is_hashed_for_an_unknown_account(anna):
    hashed = []
    encode = MD5PasswordHasher.encode
    with patch.object(MD5PasswordHasher, "encode", lambda self, *given: hashed.append(1) or encode(self, *given)):
        sign_in(Client(), name="anna", password="wrong")
        known = len(hashed)
        sign_in(Client(), name="nobody", password="wrong")
    assert len(hashed) - known == known == 1


def test_somebody_who_is_not_staff_gets_the_same_answer(anna):
    from storefront.shops.models import User

    User.objects.create_user("eve", email="eve@example.com", password=PASSWORD)
    answer, wrong = sign_in(Client(), name="eve"), sign_in(Client(), password="wrong")
    assert answer.context_data["form"].errors == wrong.context_data["form"].errors
    assert "_auth_user_id" not in answer.wsgi_request.session


@pytest.mark.parametrize("next", ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"])
def test_never_redirects_to_another_site(anna, next):
    assert Client().post(LOGIN, {"username": "anna", "password": PASSWORD, "next": next})["Location"] == "/admin/"


def test_signing_in_returns_to_the_requested_page(anna):
    browser = Client()
    wanted = browser.get("/admin/orders/order/?q=a")["Location"]
    answer = browser.post(wanted, {"username": "anna", "password": PASSWORD})
    assert answer["Location"] == "/admin/orders/order/?q=a"


def test_signing_in_changes_the_session_key(anna):
    browser = Client()
    session = browser.session
    session["planted"] = True
    session.save()
    browser.cookies["storefront_session"] = before = session.session_key
    sign_in(browser)
    assert browser.cookies["storefront_session"].value != before
    thief = Client()
    thief.cookies["storefront_session"] = before
    assert not is_in(thief)


def test_refuses_a_form_from_another_site(anna):
    assert sign_in(Client(enforce_csrf_checks=True)).status_code == 403


def test_guessing_the_old_password_at_a_change_is_limited(anna, clock):
    browser = Client()
    sign_in(browser)

    def change(old, new="another-phrase-8"):
        given = {"old_password": old, "new_password1": new, "new_password2": new}
        return browser.post("/admin/password_change/", given)

    # What does not fit is no guess.
    for _ in range(12):
        assert "new_password2" in change(PASSWORD, "short").context_data["form"].errors
    answers = [change("wrong").status_code for _ in range(11)]
    assert answers == [200] * 10 + [429]
    refused = change(PASSWORD)
    assert refused.status_code == 429
    assert "Too many attempts" in refused.content.decode()
    anna.refresh_from_db()
    assert anna.check_password(PASSWORD)
    clock.shift(timedelta(seconds=61))
    assert change(PASSWORD).status_code == 302
    assert is_in(browser)
