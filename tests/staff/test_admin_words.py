"""The admin says "Sign in" and "Sign out", as the shop does, where Django and the theme have other words."""

import re

import pytest
from django.test import Client

from tests.staff import make_staff, open_desk
from tests.staff.signing_in import admin_urls

pytestmark = pytest.mark.any_database

LOG = re.compile(r"\b(log|logged)[ -]?(in|out)\b", re.IGNORECASE)


def text_of(answer) -> str:
    """What a person reads on the page: without tags and the names of icons."""
    page = re.sub(r"<(script|style)\b.*?</\1>", "", answer.content.decode(), flags=re.DOTALL)
    page = re.sub(r"<span[^>]*material-symbols[^>]*>.*?</span>", "", page, flags=re.DOTALL)
    return re.sub(r"<[^>]+>", " ", page)


def test_the_sign_in_page_says_sign_in(shop):
    text = text_of(Client().get("/admin/login/"))
    assert "Sign in" in text
    assert not LOG.search(text)


def test_the_menu_says_sign_out(desk):
    text = text_of(desk.get("/admin/"))
    assert "Sign out" in text
    assert "Security" in text
    assert not LOG.search(text)


def test_the_page_after_signing_out_says_sign_in(desk):
    text = text_of(desk.post("/admin/logout/"))
    assert "You have signed out" in text
    assert "Sign in again" in text
    assert not LOG.search(text)


def test_a_refused_password_is_reported(shop):
    make_staff(shop)
    page = Client().post("/admin/login/", {"username": "anna", "password": "wrong"})
    assert page.status_code == 200
    assert page.context_data["form"].non_field_errors()[0] in text_of(page).replace("&#x27;", "'")


@pytest.mark.slow
def test_no_page_of_the_admin_says_log_in_or_log_out(shop, client):
    seen = 0
    for browser in (open_desk(make_staff(shop)), client):
        for name, url in admin_urls():
            if name == "logout":
                continue
            answer = browser.get(url)
            if answer.status_code == 200 and answer["Content-Type"].startswith("text/html"):
                assert not LOG.search(text_of(answer)), name
                seen += 1
    assert seen > 50
