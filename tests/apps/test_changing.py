"""Tokens and secrets are rotated without interruption, and scopes changed (R-APP-6, R-APP-7)."""

from datetime import timedelta

import pytest
import time_machine

from storefront.apps import actions
from storefront.installations.models import Installation
from storefront.kit import clock
from storefront.kit.refusals import InvalidFields
from tests.client import ApiClient
from tests.factories.apps import install, make_app
from tests.shops.factories import NOW


@pytest.fixture
def time():
    with time_machine.travel(NOW, tick=False) as time:
        yield time


@pytest.fixture
def installed(shop, time):
    return install(shop, "read_shop", app=make_app(scopes=("read_shop", "read_products")))


@pytest.fixture
def changed(shop, installed):
    """A function that calls an action for the installation, with the current time."""

    def change(action, **given):
        return action(shop=shop, installation=installed.installation, now=clock.now(), **given)

    return change


def status(token: str) -> int:
    return ApiClient(token, prefix="/api/apps").get("/shop").status_code


@pytest.mark.slow
@pytest.mark.rule("R-APP-6")
def test_a_replaced_token_stays_valid_for_24_hours(installed, changed, time):
    token = changed(actions.rotate_token)
    assert (status(installed.token), status(token)) == (200, 200)
    time.shift(timedelta(hours=23, minutes=59))
    assert status(installed.token) == 200
    time.shift(timedelta(minutes=1))
    assert (status(installed.token), status(token)) == (401, 200)


def test_replacing_twice_does_not_extend_the_first_token(installed, changed, time):
    second = changed(actions.rotate_token)
    time.shift(timedelta(hours=20))
    third = changed(actions.rotate_token)
    time.shift(timedelta(hours=4))
    assert [status(token) for token in (installed.token, second, third)] == [401, 200, 200]


@pytest.mark.rule("R-APP-6")
def test_the_merchant_can_revoke_replaced_tokens_early(installed, changed):
    token = changed(actions.rotate_token)
    changed(actions.end_old_tokens)
    assert (status(installed.token), status(token)) == (401, 200)


@pytest.mark.rule("R-LIM-7")
def test_both_tokens_share_one_rate_limit(shop, installed, changed):
    changed(actions.change_rate_limit, requests_per_minute=3)
    token = changed(actions.rotate_token)
    assert [status(each) for each in (installed.token, token, installed.token)] == [200, 200, 200]
    assert (status(installed.token), status(token)) == (429, 429)


def test_a_new_token_has_the_scopes_of_the_old_one(installed, changed):
    changed(actions.change_rate_limit, requests_per_minute=42)
    client = ApiClient(changed(actions.rotate_token), prefix="/api/apps")
    assert client.get("/shop")["X-RateLimit-Limit"] == "42"
    client.prefix = "/api/v1"
    assert client.get("/products").status_code == 403


@pytest.mark.rule("R-APP-7")
def test_two_secrets_sign_for_24_hours(installed, changed, time):
    secret = changed(actions.rotate_secret)
    stored = Installation.objects.get()
    assert stored.signing_secrets(clock.now()) == [secret, installed.secret]
    time.shift(timedelta(hours=24))
    assert stored.signing_secrets(clock.now()) == [secret]


@pytest.mark.rule("R-APP-6")
def test_changed_scopes_apply_from_the_next_request(installed, changed):
    assert status(installed.token) == 200
    changed(actions.change_scopes, scopes=["read_products"])
    assert status(installed.token) == 403
    assert installed.api.get("/shop").json()["granted_scopes"] == ["read_products"]
    assert Installation.objects.get().scopes == ["read_products"]


def test_refuses_scopes_that_the_app_does_not_ask_for(installed, changed):
    with pytest.raises(InvalidFields) as refused:
        changed(actions.change_scopes, scopes=["read_shop", "write_orders"])
    assert "write_orders" in refused.value.errors["scopes"][0]
    assert status(installed.token) == 200


CHANGES = {
    "token": (actions.rotate_token, {}),
    "secret": (actions.rotate_secret, {}),
    "scopes": (actions.change_scopes, {"scopes": ["read_products"]}),
    "limit": (actions.change_rate_limit, {"requests_per_minute": 1}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_another_shop_cannot_change_an_installation(installed, other_shop, change):
    action, given = CHANGES[change]
    with pytest.raises(actions.NotInstalled):
        action(shop=other_shop, installation=installed.installation, now=clock.now(), **given)


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_changes_after_the_uninstall(installed, changed, change):
    changed(actions.uninstall_app)
    action, given = CHANGES[change]
    with pytest.raises(actions.NotInstalled):
        changed(action, **given)
    assert status(installed.token) == 401
