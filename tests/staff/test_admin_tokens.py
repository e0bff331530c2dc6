"""API tokens: made with scopes in words, shown once, revoked."""

from urllib.parse import urlencode

from django.contrib.sessions.models import Session

from storefront.kit import tokens
from storefront.shops.models import ApiToken, AuditEntry
from tests.client import ApiClient
from tests.shops.factories import make_token
from tests.staff import admin_url


def make_in_admin(desk, **given):
    fields = {"name": "Price feed", "scopes": ["read_products", "read_cart"], **given}
    return desk.fill(ApiToken, **fields)


def test_a_new_token_works(desk, shop):
    page = make_in_admin(desk)
    secret = page.context_data["secret"]
    assert page.status_code == 200
    assert secret in page.content.decode()
    assert ApiClient(secret).get("/products").status_code == 200
    token = ApiToken.objects.get()
    assert (token.shop, token.name, token.scopes) == (shop, "Price feed", ["read_products", "read_cart"])


def test_the_secret_is_shown_once_and_not_stored(desk):
    page = make_in_admin(desk)
    secret = page.context_data["secret"]
    assert "no-store" in page["Cache-Control"]
    token = ApiToken.objects.get()
    for url in ("/admin/", admin_url(ApiToken, "changelist"), admin_url(token, "change"), admin_url(token, "history")):
        shown = desk.get(url).content.decode()
        assert secret not in shown
        assert tokens.digest(secret) not in shown
    assert secret not in "".join(session.session_data for session in Session.objects.all())
    recorded = str(list(AuditEntry.objects.values()))
    assert "token.created" in recorded
    assert secret not in recorded
    assert tokens.digest(secret) not in recorded


def test_the_list_shows_ending_and_permissions_of_a_token(desk):
    make_in_admin(desk)
    listed = desk.get(admin_url(ApiToken, "changelist")).content.decode()
    assert f"api_…{ApiToken.objects.get().ending}" in listed
    assert "Read products and categories, Read carts" in listed


def test_refuses_a_token_without_scopes(desk):
    page = make_in_admin(desk, scopes=[])
    assert page.status_code == 200
    assert "scopes" in page.context_data["adminform"].form.errors
    assert not ApiToken.objects.exists()


def test_refuses_an_unknown_scope(desk):
    make_in_admin(desk, scopes=["read_products", "rule_the_world"])
    assert not ApiToken.objects.exists()


def test_refuses_an_expiry_in_the_past(desk):
    page = make_in_admin(desk, expires_at_0="2020-01-01", expires_at_1="10:00:00")
    assert page.context_data["adminform"].form.errors["expires_at"] == ["Enter a time in the future."]


def test_scopes_cannot_be_changed_later(desk, shop):
    make_token(shop, "read_products")
    desk.fill(ApiToken.objects.get(), name="Renamed", scopes=["read_products", "write_orders"])
    token = ApiToken.objects.get()
    assert (token.name, token.scopes) == ("Renamed", ["read_products"])


def test_a_revoked_token_is_refused(desk, shop):
    secret = make_token(shop, "read_products")
    url = admin_url(ApiToken.objects.get(), "change").replace("change/", "revoke/")
    # Opening the dialog does nothing yet.
    assert "cannot be undone" in desk.get(url).content.decode()
    assert ApiClient(secret).get("/products").status_code == 200
    answer = desk.post(url, urlencode({"_form_submitted": "on"}), content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 302
    assert ApiClient(secret).get("/products").status_code == 401
    assert "Revoked" in desk.get(admin_url(ApiToken, "changelist")).content.decode()
