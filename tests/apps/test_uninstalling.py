"""Uninstalling deletes everything of an app in a shop (R-APP-8)."""

import pytest

from storefront.apps import actions
from storefront.apps.models import AllowedScriptHost, Extension, ScriptTag
from storefront.installations.models import Installation
from storefront.kit import clock
from storefront.shops.models import ApiToken
from storefront.webhooks.actions import record_event
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Delivery, Event, Registration
from tests.factories.apps import Installed, install, make_app


def uninstall(installed: Installed) -> None:
    actions.uninstall_app(shop=installed.installation.shop, installation=installed.installation, now=clock.now())


def register_everything(installed: Installed, topic: str = "order.placed") -> None:
    """Create one of everything that an app can have in a shop."""
    now = clock.now()
    own = {"shop": installed.installation.shop, "installation": installed.installation}
    times = {"created_at": now, "updated_at": now}
    Extension.objects.create(**own, **times, type="checkout_block", callback_url="https://app.example.com/block")
    ScriptTag.objects.create(**own, **times, src="https://app.example.com/a.js", location="head")
    AllowedScriptHost.objects.create(**own, host="cdn.example.com")
    Registration.objects.create(**own, **times, topic=topic, address="https://app.example.com/hook", receiver=1)
    record_event(shop=own["shop"], topic=topic, data={"id": 1}, now=now)
    dispatch(now)


FURNITURE = (Extension, ScriptTag, AllowedScriptHost, Registration)


def test_the_token_stops_working(shop):
    installed = install(shop, "read_shop", "read_products")
    assert installed.api.get("/shop").status_code == 200
    uninstall(installed)
    answer = installed.api.get("/shop")
    assert (answer.status_code, answer.json()["code"]) == (401, "token_unknown")


def test_a_replaced_token_stops_working_too(shop):
    installed = install(shop, "read_shop")
    actions.rotate_token(shop=shop, installation=installed.installation, now=clock.now())
    uninstall(installed)
    assert installed.api.get("/shop").status_code == 401
    assert not ApiToken.objects.filter(revoked_at=None).exists()


@pytest.mark.rule("R-APP-8")
def test_everything_of_the_app_is_deleted(shop):
    installed = install(shop)
    register_everything(installed)
    uninstall(installed)
    assert not any(model.objects.exists() for model in FURNITURE)


@pytest.mark.rule("R-APP-8")
def test_nothing_of_other_apps_or_shops_is_deleted(shop, other_shop):
    app = make_app()
    installed, neighbour, elsewhere = install(shop, app=app), install(shop), install(other_shop, "read_shop", app=app)
    for each in (installed, neighbour, elsewhere):
        register_everything(each)
    AllowedScriptHost.objects.create(shop=shop, host="merchants.example.com")
    uninstall(installed)
    # An app allows its own host, and `register_everything` another.
    assert [model.objects.count() for model in FURNITURE] == [2, 2, 5, 2]
    assert Delivery.objects.filter(status="pending").exclude(installation=installed.installation).count() == 4
    assert elsewhere.api.get("/shop").status_code == 200


@pytest.mark.rule("R-APP-8")
def test_pending_deliveries_are_cancelled_and_a_last_one_is_sent(shop):
    installed = install(shop)
    register_everything(installed)
    uninstall(installed)
    kinds = {delivery.kind: delivery.status for delivery in Delivery.objects.all()}
    assert kinds == {"install": "cancelled", "event": "cancelled", "uninstall": "pending"}
    last = Delivery.objects.get(kind="uninstall")
    assert (last.topic, last.address) == ("app.uninstalled", installed.installation.app.install_url)


def test_the_last_delivery_is_signed_with_the_old_secret(shop):
    installed = install(shop)
    uninstall(installed)
    stored = Installation.objects.get()
    assert stored.uninstalled_at is not None
    assert stored.signing_secrets(clock.now()) == [installed.secret]


def test_refuses_a_second_uninstall(shop):
    installed = install(shop)
    uninstall(installed)
    with pytest.raises(actions.NotInstalled):
        uninstall(installed)
    assert Delivery.objects.filter(kind="uninstall").count() == Event.objects.count() == 1


def test_another_shop_cannot_uninstall_it(shop, other_shop):
    installed = install(shop, "read_shop")
    with pytest.raises(actions.NotInstalled):
        actions.uninstall_app(shop=other_shop, installation=installed.installation, now=clock.now())
    assert installed.api.get("/shop").status_code == 200


@pytest.mark.rule("R-APP-9")
def test_installing_again_creates_a_new_installation_and_token(shop):
    app = make_app()
    first = install(shop, "read_shop", app=app)
    uninstall(first)
    second = install(shop, "read_shop", app=app)
    assert second.installation.pk != first.installation.pk
    assert second.secret != first.secret
    assert (first.api.get("/shop").status_code, second.api.get("/shop").status_code) == (401, 200)
