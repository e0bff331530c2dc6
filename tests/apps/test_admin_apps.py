"""Admin pages of apps: the operator registers them, merchants consent to install them."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.urls import reverse

from storefront.installations.models import App, Installation
from storefront.kit import clock
from storefront.shops.models import User
from tests.client import ApiClient
from tests.factories.apps import install, make_app
from tests.staff import admin_url, open_desk

pytestmark = pytest.mark.slow


@pytest.fixture
def operator(shop):
    return open_desk(User.objects.create_superuser("op", "op@example.com", "lighthouse-1"), shop)


@pytest.fixture
def gifts(db):
    scopes = ("read_shop", "read_orders", "write_extensions")
    return make_app("gifts", name="Gift notes", scopes=scopes, description="A card in each parcel.")


def action_url(app: App, name: str) -> str:
    return reverse(f"admin:apps_app_{name}", args=[app.pk])


GIFTS = {
    "name": "Gift notes",
    "slug": "gifts",
    "contact": "dev@example.com",
    "description": "A card in each parcel.",
    "install_url": "https://gifts.example.com/install",
    "scopes": ["read_shop", "write_extensions"],
}


def test_the_operator_registers_an_app_and_its_secret_is_shown_once(operator):
    page = operator.fill(App, **GIFTS)
    app = App.objects.get()
    assert (app.name, app.scopes, app.is_active) == ("Gift notes", ["read_shop", "write_extensions"], True)
    assert app.secret in page.content.decode()
    assert "no-store" in page["Cache-Control"]
    for url in (admin_url(App, "changelist"), admin_url(app, "change"), admin_url(app, "history")):
        assert app.secret not in operator.get(url).content.decode()
    assert app.secret not in "".join(session.session_data for session in Session.objects.all())
    assert app.secret not in "".join(entry.change_message for entry in LogEntry.objects.all())


def test_the_operator_changes_an_app(operator, gifts):
    secret = gifts.secret
    operator.fill(gifts, name="Gift cards", scopes=["read_shop"], is_active="")
    gifts.refresh_from_db()
    assert (gifts.name, gifts.scopes, gifts.is_active, gifts.secret) == ("Gift cards", ["read_shop"], False, secret)


@pytest.mark.parametrize("url", ["gifts", "ftp://gifts.example.com/", "https://a:b@gifts.example.com/"])
def test_refuses_an_invalid_install_url(operator, gifts, url):
    page = operator.fill(gifts, install_url=url)
    assert list(page.context_data["adminform"].form.errors) == ["install_url"]
    page = operator.fill(App, **GIFTS | {"slug": "other", "install_url": url})
    assert list(page.context_data["adminform"].form.errors) == ["install_url"]


def test_refuses_a_slug_of_another_app(operator, gifts):
    page = operator.fill(App, **GIFTS)
    assert list(page.context_data["adminform"].form.errors) == ["slug"]
    assert App.objects.count() == 1


def test_the_operator_replaces_an_apps_secret(operator, gifts):
    before = gifts.secret
    assert "new secret" in operator.get(action_url(gifts, "rotate_secret")).content.decode()
    gifts.refresh_from_db()
    assert gifts.secret == before
    page = operator.post(action_url(gifts, "rotate_secret"))
    gifts.refresh_from_db()
    assert gifts.secret != before
    assert gifts.secret in page.content.decode()


def test_a_merchant_cannot_change_apps(desk, gifts):
    assert "A card in each parcel." in desk.page(gifts).content.decode()
    assert desk.get(admin_url(App, "add")).status_code == 403
    assert desk.page(gifts, "delete").status_code == 403
    assert desk.post(action_url(gifts, "rotate_secret")).status_code == 403
    desk.post(admin_url(gifts, "change"), GIFTS | {"name": "Mine now"})
    gifts.refresh_from_db()
    assert gifts.name == "Gift notes"


def test_the_consent_page_has_a_ticked_box_for_each_scope(desk, gifts):
    page = desk.get(action_url(gifts, "install")).content.decode()
    for words in ("Read orders", "Add blocks to the shop&#x27;s pages", "Read the shop&#x27;s name"):
        assert words in page
    assert page.count('type="checkbox" name="scopes"') == len(re.findall(r'name="scopes"[^>]* checked', page)) == 3
    assert "Change stock levels" not in page
    assert "Scripts from app.example.com" in page
    assert "They cannot see the admin, the checkout or accounts, or anything that is typed there." in page
    assert "STOREFRONT_ADMIN_HOST and STOREFRONT_SECURE_HOST" in page


def test_grants_the_ticked_scopes_and_shows_the_token_once(desk, shop, gifts):
    page = desk.post(action_url(gifts, "install"), {"scopes": ["read_shop", "write_extensions"]})
    installation = Installation.objects.get()
    assert (installation.shop, installation.app) == (shop, gifts)
    assert installation.scopes == ["read_shop", "write_extensions"]
    token = page.context_data["secret"]
    assert token in page.content.decode()
    assert "no-store" in page["Cache-Control"]
    assert ApiClient(token, prefix="/api/apps").get("/shop").status_code == 200
    for url in (admin_url(Installation, "changelist"), admin_url(installation, "change"), admin_url(gifts, "history")):
        assert token not in desk.get(url).content.decode()
    assert token not in "".join(session.session_data for session in Session.objects.all())


def test_without_ticked_scopes_none_is_granted(desk, gifts):
    desk.post(action_url(gifts, "install"))
    assert Installation.objects.get().scopes == []


def test_refuses_a_scope_that_was_not_offered(desk, gifts):
    page = desk.post(action_url(gifts, "install"), {"scopes": ["read_shop", "write_orders"]})
    assert page.status_code == 200
    assert "write_orders is not one of the available choices" in page.content.decode()
    assert not Installation.objects.exists()


def test_the_page_of_an_installed_app_says_so(desk, shop, gifts):
    install(shop, app=gifts)
    assert "Installed" in desk.get(admin_url(App, "changelist")).content.decode()
    assert action_url(gifts, "install") not in desk.page(gifts).content.decode()
    said = desk.post(action_url(gifts, "install"), {"scopes": []}, follow=True).content.decode()
    assert "This app is already installed in this shop." in said
    assert Installation.objects.count() == 1


def test_installations_of_other_shops_are_not_shown(desk, shop, other_shop, gifts):
    install(other_shop, app=gifts)
    page = desk.get(admin_url(App, "changelist")).content.decode()
    assert "Available" in page
    assert "Installed<" not in page
    assert "Shops" not in page.replace("Shops of", "")


def test_a_withdrawn_app_is_not_offered(desk, gifts):
    App.objects.update(is_active=False)
    assert "Gift notes" not in desk.get(admin_url(App, "changelist")).content.decode()
    assert desk.get(action_url(gifts, "install")).status_code == 404


def test_the_operator_sees_in_how_many_shops_an_app_is_installed(operator, shop, other_shop, gifts):
    for each in (shop, other_shop):
        install(each, app=gifts)
    install(other_shop, app=make_app("other"))
    page = operator.get(admin_url(App, "changelist"))
    assert {app.slug: (app.shops, app.is_here) for app in page.context_data["cl"].result_list} == {
        "gifts": (2, True),
        "other": (1, False),
    }
    Installation.objects.filter(shop=shop).update(uninstalled_at=clock.now())
    page = operator.get(admin_url(App, "changelist"))
    assert {app.slug: (app.shops, app.is_here) for app in page.context_data["cl"].result_list} == {
        "gifts": (1, False),
        "other": (1, False),
    }
