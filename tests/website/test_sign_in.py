"""Signing in and out: known and unknown addresses look alike, attempts are limited, and sessions are per shop."""

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.hashers import make_password

from storefront.customers import actions
from storefront.customers.models import Customer
from tests.checkout.shopper import Shopper
from tests.customers.factories import PASSWORD, make_customer

FIELDS = {"email": "ada@example.com", "password": PASSWORD}


@pytest.fixture
def shopper(shop, ada) -> Shopper:
    return Shopper(shop)


def is_signed_in(shopper: Shopper, shop=None) -> bool:
    given = {"headers": {"host": shop.domain}} if shop else {}
    return shopper.get("/account", **given).status_code == 200


def test_signs_in_with_the_password(shopper):
    answer = shopper.post("/account/sign-in", FIELDS | {"email": "ADA@Example.com"})
    assert (answer.status_code, answer["Location"]) == (303, "/account")
    assert is_signed_in(shopper)


def test_a_visitor_signs_in_and_returns_to_the_page(shopper):
    answer = shopper.get("/account/orders")
    assert (answer.status_code, answer["Location"]) == (303, "/account/sign-in?next=%2Faccount%2Forders")
    page = shopper.get(answer["Location"]).content.decode()
    assert 'name="next" value="/account/orders"' in page
    answer = shopper.post("/account/sign-in", FIELDS | {"next": "/account/orders"})
    assert answer["Location"] == "/account/orders"


@pytest.mark.parametrize(
    "next", ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)", "account"]
)
def test_does_not_redirect_to_other_sites(shopper, next):
    assert shopper.post("/account/sign-in", FIELDS | {"next": next})["Location"] == "/account"


def test_a_wrong_password_and_an_unknown_address_get_the_same_response(shopper):
    wrong = shopper.post("/account/sign-in", FIELDS | {"password": "wrong"})
    unknown = shopper.post("/account/sign-in", FIELDS | {"email": "bob@example.com", "password": "wrong"})

    def words(answer) -> str:
        page = answer.content.decode()
        return page[page.index("notice--bad") : page.index("</p>", page.index("notice--bad"))]

    assert (wrong.status_code, unknown.status_code) == (422, 422)
    assert words(wrong) == words(unknown)
    assert "wrong" not in wrong.content.decode().replace("wrong-", "")
    assert not is_signed_in(shopper)


def test_a_password_is_hashed_for_an_unknown_address_too(shop, ada, monkeypatch):
    hashed = []
    hasher = "django.contrib.auth.hashers.MD5PasswordHasher.encode"
    from django.contrib.auth.hashers import MD5PasswordHasher

    encode = MD5PasswordHasher.encode
    monkeypatch.setattr(hasher, lambda self, *given: hashed.append(1) or encode(self, *given))
    for email in ("ada@example.com", "nobody@example.com"):
        hashed.clear()
        actions.authenticate(shop=shop, email=email, password="wrong")
        assert len(hashed) == 1


def test_passwords_are_hashed_with_argon2():
    from storefront.server import settings

    assert settings.PASSWORD_HASHERS[0].endswith("Argon2PasswordHasher")


def test_signing_in_upgrades_an_old_hash_and_keeps_sessions(shop, shopper, settings):
    shopper.sign_in()
    settings.PASSWORD_HASHERS = [
        "django.contrib.auth.hashers.Argon2PasswordHasher",
        *django_settings.PASSWORD_HASHERS,
    ]
    assert actions.authenticate(shop=shop, email="ada@example.com", password=PASSWORD)
    assert Customer.objects.get().password.startswith("argon2")
    assert is_signed_in(shopper)


def test_a_customer_without_a_password_cannot_sign_in(shop, shopper):
    make_customer(shop, "bob@example.com", password="")
    for password in ("", "x", "!"):
        answer = shopper.post("/account/sign-in", {"email": "bob@example.com", "password": password})
        assert answer.status_code == 422


def test_limits_attempts_per_account(shop, shopper):
    wrong = FIELDS | {"password": "wrong"}
    answers = [shopper.post("/account/sign-in", wrong).status_code for _ in range(11)]
    assert answers == [422] * 10 + [429]
    blocked = Shopper(shop).post("/account/sign-in", FIELDS)
    assert blocked.status_code == 429
    assert int(blocked["Retry-After"]) > 0
    # An unknown address is blocked in the same way.
    answers = [shopper.post("/account/sign-in", wrong | {"email": "bob@example.com"}).status_code for _ in range(11)]
    assert answers == [422] * 10 + [429]


@pytest.mark.slow
def test_failed_attempts_elsewhere_do_not_lock_a_known_browser_out(shop, other_shop, shopper):
    shopper.sign_in()
    shopper.post("/account/sign-out", {})
    for number in range(11):
        Shopper(shop).post("/account/sign-in", FIELDS | {"password": "wrong"})
        place = f"203.0.113.{number}"
        for _ in range(5):
            Shopper(shop).browser.post("/account/sign-in", FIELDS | {"password": "wrong"}, REMOTE_ADDR=place)
    assert Shopper(shop).post("/account/sign-in", FIELDS).status_code == 429
    assert Shopper(shop).browser.post("/account/sign-in", FIELDS, REMOTE_ADDR="192.0.2.7").status_code == 429
    assert shopper.post("/account/sign-in", FIELDS).status_code == 303
    assert is_signed_in(shopper)


def test_a_browser_is_known_per_account(shop, shopper):
    make_customer(shop, "mallory@example.com")
    shopper.post("/account/sign-in", FIELDS | {"email": "mallory@example.com"})
    shopper.post("/account/sign-out", {})
    answers = [shopper.post("/account/sign-in", FIELDS | {"password": "wrong"}).status_code for _ in range(11)]
    assert answers == [422] * 10 + [429]
    assert shopper.post("/account/sign-in", FIELDS).status_code == 429


def test_checks_no_password_while_attempts_are_blocked(shop, shopper, monkeypatch):
    for _ in range(10):
        shopper.post("/account/sign-in", FIELDS | {"password": "wrong"})
    monkeypatch.setattr(actions, "authenticate", None)
    assert shopper.post("/account/sign-in", FIELDS).status_code == 429


@pytest.mark.slow
def test_limits_attempts_per_network_for_any_address(shop, shopper):
    for number in range(60):
        last = shopper.post("/account/sign-in", {"email": f"{number}@example.com", "password": "x"})
    assert last.status_code == 422
    assert shopper.post("/account/sign-in", FIELDS).status_code == 429
    elsewhere = shopper.browser.post("/account/sign-in", FIELDS, REMOTE_ADDR="192.0.2.7")
    assert elsewhere.status_code == 303


def test_signing_in_changes_the_session_key(shopper):
    shopper.get("/account/sign-in")
    session = shopper.browser.session
    session["planted"] = True
    session.save()
    shopper.browser.cookies["storefront_session"] = before = session.session_key
    shopper.sign_in()
    assert shopper.browser.cookies["storefront_session"].value != before
    shopper.browser.cookies["storefront_session"] = before
    assert not is_signed_in(shopper)


def test_an_account_of_one_shop_opens_nothing_at_another(shop, other_shop, shopper):
    assert shopper.post("/account/sign-in", FIELDS, headers={"host": other_shop.domain}).status_code == 422
    shopper.sign_in()
    assert not is_signed_in(shopper, other_shop)
    assert is_signed_in(shopper)


def test_one_browser_can_be_signed_in_to_two_shops_as_two_customers(shop, other_shop, shopper):
    make_customer(other_shop, "ada@example.com", name="Other Ada", password="another phrase 8")
    shopper.sign_in()
    shopper.post("/account/sign-in", FIELDS | {"password": "another phrase 8"}, headers={"host": other_shop.domain})
    assert "Hello, Other Ada" in shopper.get("/account", headers={"host": other_shop.domain}).content.decode()
    assert "Hello, Ada Lovelace" in shopper.get("/account").content.decode()
    shopper.post("/account/sign-out", {})
    assert not is_signed_in(shopper)
    assert is_signed_in(shopper, other_shop)


def test_signing_out_ends_the_session(shopper):
    shopper.sign_in()
    before = shopper.browser.cookies["storefront_session"].value
    answer = shopper.post("/account/sign-out", {})
    assert (answer.status_code, answer["Location"]) == (303, "/")
    assert not is_signed_in(shopper)
    shopper.browser.cookies["storefront_session"] = before
    assert not is_signed_in(shopper)


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("sign-out", ""),
        ("details/e-mail", "/details"),
        ("details/e-mail/pending", "/details"),
        ("details/password", "/details"),
        ("addresses/1/delete", "/addresses"),
        ("addresses/1/default", "/addresses"),
        ("payment-methods/1/delete", ""),
    ],
)
def test_the_address_of_a_form_leads_to_its_page(shop, shopper, ada, path, page):
    shopper.sign_in()
    answer = shopper.get(f"/account/{path}")
    assert (answer.status_code, answer["Location"]) == (303, f"/account{page}")
    assert is_signed_in(shopper)
    assert shopper.browser.put(f"/account/{path}").status_code == 405


def test_deleting_a_customer_or_a_new_password_ends_the_session(shop, shopper, ada):
    shopper.sign_in()
    ada.password = make_password("x")
    actions.change_password(shop=shop, customer=ada, password="another phrase 8", now=ada.created_at)
    assert not is_signed_in(shopper)
    shopper.sign_in(password="another phrase 8")
    Customer.objects.all().delete()
    assert not is_signed_in(shopper)


def test_the_header_links_to_the_account(shopper):
    assert 'href="/account/sign-in"' in shopper.get("/").content.decode()
    shopper.sign_in()
    for path in ("/", "/products", "/basket", "/account"):
        assert 'class="masthead__account" href="/account"' in shopper.get(path).content.decode()


def test_account_pages_are_not_cached_or_indexed(shopper):
    shopper.sign_in()
    answer = shopper.get("/account")
    assert "no-store" in answer["Cache-Control"]
    assert b'<meta name="robots" content="noindex">' in answer.content
    assert b"Disallow: /account" in shopper.get("/robots.txt").content


def test_changes_require_the_csrf_token(shop, ada):
    from django.test import Client

    strict = Client(enforce_csrf_checks=True, headers={"host": shop.domain})
    for path in ("sign-in", "sign-out", "register", "forgot"):
        assert strict.post(f"/account/{path}", FIELDS).status_code == 403
