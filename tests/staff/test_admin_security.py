"""The policy of the admin's pages, and that they live by it."""

import re

import pytest
from django.test import Client

from storefront.staff.admin_security import POLICY
from tests.staff import make_staff, open_desk
from tests.staff.signing_in import admin_urls

pytestmark = [pytest.mark.any_database, pytest.mark.slow]

# Scripts with no source, but for data, which browsers do not run; and attributes that they run.
INLINE = re.compile(
    r'<script(?![^>]*\s(?:src=|type="application/json"))[^>]*>|<style|\son[a-z]+=|javascript:', re.IGNORECASE
)


def policy(answer) -> dict[str, str]:
    return dict(part.split(" ", 1) for part in answer.headers["Content-Security-Policy"].split("; "))


@pytest.mark.parametrize("path", ["/admin/", "/admin/login/", "/admin/no/such/page/", "/admin", "/admin/jsi18n/"])
def test_every_admin_response_has_the_policy(shop, client, path):
    for browser in (client, open_desk(make_staff(shop))):
        assert policy(browser.get(path)) == POLICY


def test_a_refused_form_has_the_policy(shop):
    answer = Client(enforce_csrf_checks=True).post("/admin/login/", {})
    assert (answer.status_code, policy(answer)) == (403, POLICY)


def test_the_policy_allows_no_inline_scripts(shop):
    scripts = POLICY["script-src"].split()
    assert "'unsafe-inline'" not in scripts
    assert not any(word.startswith(("http", "*", "data:", "blob:")) for word in scripts)
    assert POLICY["default-src"] == POLICY["object-src"] == POLICY["base-uri"] == POLICY["frame-ancestors"] == "'none'"
    assert POLICY["form-action"] == "'self'"


def test_no_page_has_inline_scripts_or_styles(shop, client):
    desk = open_desk(make_staff(shop))
    seen = 0
    for browser in (desk, client):
        for name, url in admin_urls():
            answer = browser.get(url)
            if answer.status_code == 200 and answer["Content-Type"].startswith("text/html"):
                assert not INLINE.findall(answer.content.decode()), name
                seen += 1
        browser.get("/admin/")
    assert seen > 50


def test_other_pages_do_not_have_the_admins_policy(shop, client):
    answer = client.get("/", headers={"host": shop.domain})
    assert "unsafe-eval" not in answer.headers["Content-Security-Policy"]
    answer = client.get("/administration", headers={"host": shop.domain})
    assert "unsafe-eval" not in answer.headers["Content-Security-Policy"]
