"""A merchant installs an app (R-APP-2, R-APP-3)."""

import pytest

from storefront.apps import actions
from storefront.apps.models import AllowedScriptHost
from storefront.installations.models import App, Installation
from storefront.kit import clock, tokens
from storefront.kit.refusals import InvalidFields
from storefront.shops.models import ApiToken
from storefront.webhooks.models import Delivery
from tests.factories.apps import install, make_app


def test_an_installed_app_can_call_its_shop(shop, other_shop):
    installed = install(shop, "read_shop")
    install(other_shop, "read_shop")
    answer = installed.api.get("/shop")
    assert answer.status_code == 200
    assert answer.json()["shop"]["domain"] == shop.domain


@pytest.mark.rule("R-APP-2")
def test_the_token_has_the_granted_scopes(shop):
    installed = install(shop, "write_extensions", "read_shop")
    assert installed.installation.scopes == ["read_shop", "write_extensions"]
    assert ApiToken.objects.get().scopes == ["read_shop", "write_extensions"]


def test_an_app_can_be_installed_without_any_scope(shop):
    assert install(shop).api.get("/shop").json()["granted_scopes"] == []


@pytest.mark.rule("R-APP-2")
def test_only_the_digest_of_the_token_is_stored(shop):
    token = install(shop, "read_shop").token
    assert tokens.is_well_formed(token, "app")
    row = ApiToken.objects.get()
    assert row.digest == tokens.digest(token)
    stored = [str(vars(each)) for model in (ApiToken, Installation, Delivery) for each in model.objects.all()]
    assert token not in "".join(stored)


def test_the_app_is_notified(shop):
    installed = install(shop, app=make_app(install_url="https://gifts.example.com/install"))
    delivery = Delivery.objects.get()
    assert (delivery.kind, delivery.status) == ("install", "pending")
    assert (delivery.shop, delivery.installation) == (shop, installed.installation)
    assert delivery.address == "https://gifts.example.com/install"


@pytest.mark.parametrize(
    ("install_url", "host"),
    [
        ("https://gifts.example.com/install?x=1", "gifts.example.com"),
        ("https://Gifts.example.com:8443/", "gifts.example.com:8443"),
        ("http://127.0.0.1:9000/install", "127.0.0.1:9000"),
        ("http://gifts.example.com/", "gifts.example.com:80"),
        ("https://[2606:4700::1111]/", "[2606:4700::1111]"),
    ],
)
def test_scripts_of_the_apps_own_host_are_allowed(shop, install_url, host):
    installed = install(shop, app=make_app(install_url=install_url))
    allowed = AllowedScriptHost.objects.get()
    assert (allowed.shop, allowed.installation, allowed.host) == (shop, installed.installation, host)


def test_one_app_in_two_shops_is_two_installations(shop, other_shop):
    app = make_app()
    here, there = install(shop, "read_shop", app=app), install(other_shop, "read_shop", app=app)
    assert here.secret != there.secret
    assert here.api.get("/shop").json()["shop"]["domain"] == shop.domain
    assert there.api.get("/shop").json()["shop"]["domain"] == other_shop.domain


@pytest.mark.rule("R-APP-2")
def test_refuses_to_install_an_installed_app(shop):
    app = make_app()
    install(shop, "read_shop", app=app)
    with pytest.raises(actions.AlreadyInstalled):
        install(shop, "read_shop", app=app)
    assert (Installation.objects.count(), ApiToken.objects.count(), Delivery.objects.count()) == (1, 1, 1)


@pytest.mark.rule("R-APP-2")
def test_refuses_a_scope_that_the_app_does_not_ask_for(shop):
    with pytest.raises(InvalidFields) as refused:
        install(shop, "read_shop", "read_orders", app=make_app("gifts", scopes=("read_shop",)))
    assert refused.value.errors == {"scopes": ["Gifts does not ask for read_orders. It asks for read_shop."]}
    assert not Installation.objects.exists()


def test_refuses_to_install_a_withdrawn_app(shop):
    app = make_app()
    App.objects.update(is_active=False)
    with pytest.raises(actions.AppUnavailable):
        install(shop, app=app)


def test_a_failed_installation_leaves_nothing(shop, monkeypatch):
    def fail(**_given):
        raise RuntimeError

    monkeypatch.setattr(actions.webhooks, "send_message", fail)
    with pytest.raises(RuntimeError):
        actions.install_app(shop=shop, app=make_app(), scopes=[], now=clock.now())
    assert not any(model.objects.exists() for model in (Installation, ApiToken, AllowedScriptHost))
