"""Cookies of browsers that signed in before: bound to one account, made by us alone."""

import pytest
import time_machine
from django.core import signing
from django.http import HttpResponse

from storefront.staff.known_browsers import MAX_ACCOUNTS, MAX_AGE, known_browser, remember_browser
from tests.shops.factories import NOW


@pytest.fixture
def browser(rf):
    """A request of one browser, which sends back the cookies that it was given."""
    return rf.get("/")


def remember(browser, account, **given) -> HttpResponse:
    response = HttpResponse()
    remember_browser(browser, response, account, **given)
    for name, cookie in response.cookies.items():
        if cookie.value:
            browser.COOKIES[name] = cookie.value
        else:
            browser.COOKIES.pop(name)
    return response


def test_a_browser_is_known_to_the_account_that_it_signed_in_to(browser, rf):
    assert known_browser(browser, "anna") is None
    remember(browser, "anna")
    assert known_browser(browser, "anna")
    assert known_browser(browser, "bert") is None
    assert known_browser(rf.get("/"), "anna") is None


def test_signing_in_again_keeps_the_browsers_identity(browser):
    remember(browser, "anna")
    before = known_browser(browser, "anna")
    remember(browser, "anna")
    assert known_browser(browser, "anna") == before


def test_the_cookie_of_one_account_is_invalid_for_another(browser, rf):
    (own,) = remember(browser, "mallory").cookies.values()
    (name,) = remember(rf.get("/"), "anna").cookies
    forger = rf.get("/")
    forger.COOKIES[name] = own.value
    assert known_browser(forger, "anna") is None
    forger.COOKIES[name] = signing.dumps({"account": "anna", "browser": "x", "mark": ""}, salt="another")
    assert known_browser(forger, "anna") is None
    forger.COOKIES[name] = "nonsense"
    assert known_browser(forger, "anna") is None


def test_a_new_mark_makes_the_browser_unknown_to_that_account_only(browser):
    remember(browser, "anna", mark="old")
    assert known_browser(browser, "anna", mark="old")
    assert known_browser(browser, "anna", mark="new") is None
    assert known_browser(browser, "anna")


def test_the_cookie_expires_after_a_year(browser):
    with time_machine.travel(NOW, tick=False) as clock:
        remember(browser, "anna")
        clock.shift(MAX_AGE + 1)
        assert known_browser(browser, "anna") is None


@pytest.mark.parametrize("https", [False, True])
def test_the_cookie_is_httponly_and_bound_to_its_host(browser, settings, https):
    settings.HTTPS = https
    ((name, cookie),) = remember(browser, "anna@example.com").cookies.items()
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/")
    assert bool(cookie["secure"]) == https == name.startswith("__Host-")
    assert "anna" not in name + cookie.value


def test_a_browser_remembers_a_limited_number_of_accounts(browser):
    for number in range(MAX_ACCOUNTS + 5):
        remember(browser, f"person-{number}")
    assert len(browser.COOKIES) == MAX_ACCOUNTS
    assert known_browser(browser, f"person-{MAX_ACCOUNTS + 4}")
