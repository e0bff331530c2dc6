"""Apps are installed, changed and uninstalled concurrently, in real threads and transactions, on both databases."""

from functools import partial

import pytest

from storefront.apps import actions
from storefront.apps.models import AllowedScriptHost, Extension, ScriptTag
from storefront.installations.models import Installation
from storefront.kit import clock
from storefront.shops.models import ApiToken
from storefront.webhooks.models import Delivery, Event, Registration
from tests.client import ApiClient
from tests.factories.apps import Installed, install, make_app
from tests.races import run_concurrently

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def uninstall(installed: Installed) -> None:
    actions.uninstall_app(shop=installed.installation.shop, installation=installed.installation, now=clock.now())


def client(installed: Installed, prefix: str = "/api/apps") -> ApiClient:
    return ApiClient(installed.token, prefix=prefix)


def test_one_of_concurrent_installations_succeeds(shop):
    app = make_app()

    def try_to_install():
        return actions.install_app(shop=shop, app=app, scopes=["read_shop"], now=clock.now())

    results = run_concurrently(*[try_to_install] * 8, refusal=actions.AlreadyInstalled)
    refused = [result for result in results if isinstance(result, actions.AlreadyInstalled)]
    assert len(refused) == 7, results
    ((_, token),) = [result for result in results if result not in refused]
    assert ApiClient(token, prefix="/api/apps").get("/shop").status_code == 200
    counts = [model.objects.count() for model in (Installation, ApiToken, Delivery, AllowedScriptHost)]
    assert counts == [1, 1, 1, 1]


def test_one_of_concurrent_uninstalls_succeeds(shop):
    installed = install(shop)
    results = run_concurrently(*[lambda: uninstall(installed)] * 6, refusal=actions.NotInstalled)
    assert sorted(str(type(result).__name__) for result in results) == ["NoneType"] + ["NotInstalled"] * 5
    assert Delivery.objects.filter(kind="uninstall").count() == Event.objects.count() == 1


def test_calls_during_the_uninstall_are_answered_and_then_refused(shop):
    installed = install(shop, "read_shop", "read_products")

    def call(prefix: str, path: str) -> list[int]:
        """Call until several calls were refused. Returns all statuses."""
        caller, statuses = client(installed, prefix), []
        while statuses.count(401) < 5 and len(statuses) < 1000:
            statuses.append(caller.get(path).status_code)
        return statuses

    *answered, _ = run_concurrently(
        lambda: call("/api/apps", "/shop"),
        lambda: call("/api/v1", "/products"),
        lambda: call("/api/apps", "/webhooks"),
        lambda: uninstall(installed),
    )
    for statuses in answered:
        assert set(statuses) <= {200, 401}, statuses
        assert statuses == sorted(statuses)
        assert statuses.count(401) == 5


REGISTRATIONS = {
    Extension: ("/extensions", {"type": "checkout_block", "callback_url": "https://app.example.com/block"}),
    ScriptTag: ("/script-tags", {"src": "https://app.example.com/a.js", "location": "head"}),
    Registration: ("/webhooks", {"topic": "order.placed", "address": "https://app.example.com/hook"}),
}


@pytest.mark.parametrize("kind", REGISTRATIONS)
def test_registrations_during_the_uninstall_are_deleted(shop, kind):
    path, body = REGISTRATIONS[kind]
    for _ in range(6):
        installed = install(shop, "write_extensions", "write_script_tags", "write_webhooks")
        callers = [client(installed) for _ in range(3)]
        calls = [lambda caller=caller: caller.post(path, body).status_code for caller in callers]
        *answered, gone = run_concurrently(*calls, lambda installed=installed: uninstall(installed))
        assert gone is None
        assert set(answered) <= {200, 201, 401}, answered
        assert not kind.objects.exists()
        assert client(installed).post(path, body).status_code == 401


CHANGES = {
    "token": (actions.rotate_token, {}),
    "scopes": (actions.change_scopes, {"scopes": ["read_shop", "read_products"]}),
    "limit": (actions.change_rate_limit, {"requests_per_minute": 50}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_no_change_during_the_uninstall_revives_the_app(shop, change):
    action, given = CHANGES[change]
    for _ in range(5):
        installed = install(shop, "read_shop")
        _, gone = run_concurrently(
            partial(action, shop=shop, installation=installed.installation, now=clock.now(), **given),
            lambda installed=installed: uninstall(installed),
            refusal=actions.NotInstalled,
        )
        assert gone is None
        assert not ApiToken.objects.filter(revoked_at=None).exists()


def test_each_of_two_concurrent_rotations_issues_a_token(shop):
    installed = install(shop, "read_shop")
    now = clock.now()
    tokens = run_concurrently(
        *[lambda: actions.rotate_token(shop=shop, installation=installed.installation, now=now) for _ in range(4)]
    )
    assert len(set(tokens)) == 4
    assert ApiToken.objects.filter(expires_at=None).count() == 1
