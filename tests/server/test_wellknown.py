"""Well-known paths on every host."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.staticfiles import finders
from django.templatetags.static import static

from storefront.kit import clock
from tests.walker import ADMIN, SECURE

HOSTS = ["shop.example.com", "other.example.com", "nobody.example.com"]


@pytest.mark.parametrize("host", HOSTS)
def test_security_txt_names_a_contact_and_expires_within_a_year(client, shop, other_shop, settings, host):
    settings.SECURITY_CONTACT = ["mailto:safe@example.com", "https://example.com/safe"]
    answer = client.get("/.well-known/security.txt", headers={"host": host})
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/plain; charset=utf-8")
    lines = answer.content.decode().splitlines()
    assert lines[:2] == ["Contact: mailto:safe@example.com", "Contact: https://example.com/safe"]
    (expires,) = [line.removeprefix("Expires: ") for line in lines if line.startswith("Expires: ")]
    left = datetime.strptime(expires, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC) - clock.now()
    assert timedelta(days=100) < left < timedelta(days=365)


def test_without_a_contact_there_is_no_security_txt(client, shop, settings):
    settings.SECURITY_CONTACT = []
    assert client.get("/.well-known/security.txt").status_code == 404
    assert client.get("/.well-known/other").status_code == 404


def test_a_password_manager_finds_the_shopper_s_page(client, shop):
    answer = client.get("/.well-known/change-password")
    assert (answer.status_code, answer["Location"]) == (302, "/account/details")
    # Whoever is not signed in is asked to first.
    assert client.get(answer["Location"], follow=True).status_code == 200


def test_at_the_admins_host_a_password_manager_finds_the_staffs_page(client, shop, settings):
    settings.ROOT_URLCONF = "tests.server.admin_alone"
    answer = client.get("/.well-known/change-password")
    assert (answer.status_code, answer["Location"]) == (302, "/admin/password_change/")


@pytest.mark.parametrize("host", HOSTS)
def test_the_icon_that_browsers_ask_for_leads_to_ours(client, shop, other_shop, host):
    is_found(client, host)


@pytest.mark.usefixtures("apart")
@pytest.mark.parametrize("host", [ADMIN, SECURE, "shop.example.com"])
def test_the_icon_is_found_at_every_place(client, shop, host):
    is_found(client, host)


def is_found(client, host: str) -> None:
    answer = client.get("/favicon.ico", headers={"host": host, "sec-fetch-site": "same-origin"})
    assert answer.status_code == 302
    assert "storefront" not in "".join(answer.cookies)
    # Static files are served before Django is asked.
    assert answer["Location"] == static("website/icon.svg")
    assert finders.find("website/icon.svg")


@pytest.mark.parametrize("path", ["/.well-known/security.txt", "/.well-known/change-password", "/favicon.ico"])
def test_well_known_paths_refuse_other_methods(client, shop, path):
    assert client.post(path).status_code == 405
