"""Passkeys as second factors: good for one host, one person and one question."""

import pytest
from django.test import Client

from storefront.shops.models import Passkey
from storefront.staff.second_factor import factors_of
from tests.staff import make_staff, open_desk
from tests.staff.authenticators import SoftKey, options_of

pytestmark = [pytest.mark.any_database, pytest.mark.slow]

SECOND, ENROL, ADD = "/admin/login/second/", "/admin/login/enrol/", "/admin/security/add/"


def add_passkey(user, key) -> None:
    desk = open_desk(user)
    desk.post(ADD, {"passkey": key.make(options_of(desk.get(ADD))), "name": "Laptop"})


def half_in(name="anna", **given) -> Client:
    browser = Client(**given)
    assert browser.post("/admin/login/", {"username": name, "password": "lighthouse-1"})["Location"] == SECOND
    return browser


def is_in(browser) -> bool:
    return browser.get("/admin/").status_code == 200


@pytest.fixture
def key(anna):
    key = SoftKey()
    add_passkey(anna, key)
    return key


def test_only_the_public_key_of_a_passkey_is_stored(anna, key):
    (row,) = factors_of(anna).passkeys
    assert (row.name, row.host) == ("Laptop", "testserver")
    assert "Laptop" in open_desk(anna).get("/admin/security/").content.decode()


def test_a_passkey_signs_in_after_the_password(anna, key):
    browser = half_in()
    answer = browser.post(SECOND, {"passkey": key.sign(options_of(browser.get(SECOND)))})
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    assert is_in(browser)
    assert Passkey.objects.get().last_used_at


def test_a_passkey_can_be_the_first_factor_set_up(anna, settings):
    settings.STAFF_SECOND_FACTOR = "owners"
    browser, key = Client(), SoftKey()
    browser.post("/admin/login/", {"username": "anna", "password": "lighthouse-1"})
    answer = browser.post(ENROL, {"passkey": key.make(options_of(browser.get(ENROL)))})
    assert len(answer.context_data["codes"]) == 10
    assert is_in(browser)


def refused(browser, answer) -> None:
    page = browser.post(SECOND, {"passkey": answer})
    assert page.status_code == 200
    assert "could not be verified" in page.content.decode()
    assert not is_in(browser)


def test_refuses_an_answer_made_for_another_site(anna, key):
    browser = half_in()
    for origin in ("https://evil.example", "http://sub.testserver", "https://testserver", "http://testserver:8000"):
        key.origin = origin
        refused(browser, key.sign(options_of(browser.get(SECOND))))


def test_refuses_an_answer_of_another_key(anna, key):
    browser = half_in()
    refused(browser, SoftKey().sign(options_of(browser.get(SECOND))))


def test_refuses_somebody_elses_passkey(anna, key, shop):
    bert, own = make_staff(shop, "bert"), SoftKey(name=b"of bert")
    add_passkey(bert, own)
    browser = half_in()
    refused(browser, own.sign(options_of(browser.get(SECOND))))


def test_an_answer_is_valid_once_and_for_its_own_challenge(anna, key):
    browser = half_in()
    first = options_of(browser.get(SECOND))
    browser.get(SECOND)
    refused(browser, key.sign(first))
    answer = key.sign(options_of(browser.get(SECOND)))
    browser.post(SECOND, {"passkey": answer})
    assert is_in(browser)
    again = half_in()
    refused(again, answer)


def test_refuses_a_copied_passkey_by_its_counter(anna, key):
    for count, opens in [(5, True), (5, False), (4, False), (0, False), (6, True)]:
        browser = half_in()
        browser.post(SECOND, {"passkey": key.sign(options_of(browser.get(SECOND)), count=count)})
        assert is_in(browser) == opens, count


@pytest.mark.parametrize("answer", ["{}", "[]", "nonsense", '{"rawId": "x"}', '{"rawId": 1}', "x" * 30_000])
def test_refuses_a_malformed_answer(anna, key, answer):
    browser = half_in()
    browser.get(SECOND)
    assert browser.post(SECOND, {"passkey": answer}).status_code == 200
    assert not is_in(browser)


@pytest.mark.parametrize("answer", ["{}", "nonsense", '{"rawId": "x"}'])
def test_does_not_store_a_malformed_passkey(anna, answer):
    desk = open_desk(anna)
    desk.get(ADD)
    page = desk.post(ADD, {"passkey": answer})
    assert "could not be verified" in page.content.decode()
    assert not Passkey.objects.exists()


def test_does_not_store_a_passkey_made_for_another_site(anna):
    desk = open_desk(anna)
    answer = SoftKey("https://evil.example").make(options_of(desk.get(ADD)))
    desk.post(ADD, {"passkey": answer})
    assert not Passkey.objects.exists()


def test_one_passkey_belongs_to_one_person(anna, key, shop):
    bert = make_staff(shop, "bert")
    desk = open_desk(bert)
    page = desk.post(ADD, {"passkey": key.make(options_of(desk.get(ADD)))})
    assert "already in use" in page.content.decode()
    assert Passkey.objects.get().user == anna


def test_passkeys_are_not_offered_on_another_host(anna, key):
    browser = half_in(headers={"host": "other.example.com"})
    assert browser.get(SECOND).context_data["passkey_options"] is None


def test_guessing_with_passkeys_is_limited(anna, key):
    browser = half_in()
    answers = [browser.post(SECOND, {"passkey": "{}"}).status_code for _ in range(6)]
    assert answers == [200] * 5 + [429]
