"""Notifications to an app: of its installation, retried until delivered, of a new token, of other scopes, and of its
uninstall."""

import pytest
from aiohttp import web
from standardwebhooks import Webhook

from storefront.apps import actions
from storefront.installations.app_tokens import TOKEN_GRACE
from storefront.kit import clock
from storefront.kit.clock import timestamp
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Delivery, Event
from tests.client import ApiClient
from tests.factories.apps import install, make_app
from tests.receiver import receiving
from tests.webhooks.factories import delivering, register, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def status(kind: str) -> str:
    return Delivery.objects.get(kind=kind).status


@pytest.mark.rule("R-APP-3")
def test_the_install_notification_has_all_that_the_app_needs(shop):
    with receiving() as receiver, delivering():
        app = make_app("gifts", install_url=f"{receiver.url}/install")
        installed = install(shop, "read_shop", app=app)
        came = receiver.next()
        wait_until(lambda: status("install") == "delivered")
    assert (came.method, came.path) == ("POST", "/install")
    assert Webhook(app.secret).verify(came.body, came.headers) == {
        "type": "app.installed",
        "timestamp": timestamp(installed.installation.installed_at),
        "shop_domain": shop.domain,
        "access_token": installed.token,
        "installation_id": installed.installation.pk,
        "scopes": ["read_shop"],
        "webhook_secret": installed.secret,
    }
    # Confirmed with the token (R-APP-10), which the shop no longer stores.
    assert ApiClient(installed.token, "/api/apps").get("/shop").json()["shop"]["domain"] == shop.domain
    assert Delivery.objects.get().sealed_message is None


@pytest.mark.rule("R-APP-3")
def test_the_install_notification_is_retried_while_the_app_is_installed(shop):
    answers = iter([503, 200])

    async def answering(_request: web.Request) -> web.Response:
        return web.Response(status=next(answers))

    with receiving(answering) as receiver, delivering():
        installed = install(shop, "read_shop", app=make_app("gifts", install_url=receiver.url))
        first = receiver.next()
        assert installed.api.get("/shop").status_code == 200
        wait_until(lambda: Delivery.objects.get().tries == 1)
        Delivery.objects.update(due_at=clock.now())
        assert receiver.next().body == first.body
        wait_until(lambda: status("install") == "delivered")


@pytest.mark.rule("R-APP-8")
def test_the_uninstall_notification_is_signed_and_in_the_feed(shop):
    with receiving() as receiver, delivering():
        installed = install(shop, app=make_app("gifts", install_url=receiver.url))
        receiver.next()
        actions.uninstall_app(shop=shop, installation=installed.installation, now=clock.now())
        came = receiver.next()
        wait_until(lambda: status("uninstall") == "delivered")
    body = Webhook(installed.secret).verify(came.body, came.headers)
    event = Event.objects.get()
    assert (body["id"], body["type"], body["sequence"]) == (str(event.public_id), "app.uninstalled", event.sequence)
    assert body["data"] == {"id": installed.installation.pk, "app": "gifts"}
    assert body["shop_domain"] == shop.domain


@pytest.mark.rule("R-APP-8")
def test_the_uninstall_notification_goes_only_to_its_webhook(shop):
    with receiving() as receiver, receiving() as hook, delivering():
        installed = install(shop, app=make_app("gifts", install_url=receiver.url))
        receiver.next()
        register(installed, hook.url, "app.uninstalled")
        actions.uninstall_app(shop=shop, installation=installed.installation, now=clock.now())
        hook.next()
        wait_until(lambda: status("uninstall") == "delivered")
        assert not Event.objects.filter(sequence=None).exists()
    assert (hook.received.empty(), receiver.received.empty()) == (True, True)


@pytest.mark.rule("R-APP-39")
def test_a_replaced_token_is_sent_to_the_app(shop, other_shop):
    with receiving() as receiver, delivering():
        app = make_app("gifts", install_url=f"{receiver.url}/install")
        installed, elsewhere = install(shop, "read_shop", app=app), install(other_shop, "read_shop", app=app)
        before = [receiver.next() for _ in range(2)]
        now = clock.now()
        token = actions.rotate_token(shop=shop, installation=installed.installation, now=now)
        came = receiver.next()
        wait_until(lambda: status("token") == "delivered")
    assert (came.path, receiver.received.empty(), len(before)) == ("/install", True, 2)
    assert Webhook(app.secret).verify(came.body, came.headers) == {
        "type": "app.token_replaced",
        "timestamp": timestamp(now),
        "shop_domain": shop.domain,
        "access_token": token,
        "installation_id": installed.installation.pk,
        "previous_token_expires_at": timestamp(now + TOKEN_GRACE),
    }
    for valid in (token, installed.token, elsewhere.token):
        assert ApiClient(valid, "/api/apps").get("/shop").status_code == 200
    assert Delivery.objects.get(kind="token").sealed_message is None


@pytest.mark.rule("R-APP-39")
def test_a_replaced_token_is_stored_encrypted_until_it_is_delivered_or_the_app_is_gone(shop):
    installed = install(shop)
    token = actions.rotate_token(shop=shop, installation=installed.installation, now=clock.now())
    row = Delivery.objects.get(kind="token")
    assert row.sealed_message
    assert token.encode() not in bytes(row.sealed_message)
    assert installed.token.encode() not in bytes(Delivery.objects.get(kind="install").sealed_message)
    actions.uninstall_app(shop=shop, installation=installed.installation, now=clock.now())
    row.refresh_from_db()
    assert (row.status, row.sealed_message) == ("cancelled", None)


@pytest.mark.rule("R-APP-40")
def test_changed_scopes_are_told_to_the_app_alone(shop, other_shop):
    with receiving() as receiver, receiving() as others, delivering():
        installed = install(shop, "read_shop", "read_orders", app=make_app("gifts", install_url=receiver.url))
        receiver.next()
        for other in (install(shop), install(other_shop)):
            register(other, others.url, "app.scopes_changed")
        actions.change_scopes(
            shop=shop, installation=installed.installation, scopes=["read_products", "read_shop"], now=clock.now()
        )
        came = receiver.next()
        wait_until(lambda: Delivery.objects.filter(topic="app.scopes_changed", status="delivered").exists())
        assert not Event.objects.filter(sequence=None).exists()
    body = Webhook(installed.secret).verify(came.body, came.headers)
    assert body["type"] == "app.scopes_changed"
    assert body["data"] == {
        "id": installed.installation.pk,
        "app": "gifts",
        "scopes": ["read_products", "read_shop"],
        "previous_scopes": ["read_orders", "read_shop"],
    }
    assert others.received.empty()
    assert Delivery.objects.filter(topic="app.scopes_changed").count() == 1


@pytest.mark.rule("R-APP-40")
def test_changed_scopes_go_to_their_webhook_and_can_be_replayed(shop):
    with receiving() as receiver, receiving() as hook, delivering():
        installed = install(shop, "write_webhooks", app=make_app("gifts", install_url=receiver.url))
        receiver.next()
        register(installed, hook.url, "app.scopes_changed")
        given = {"shop": shop, "installation": installed.installation, "scopes": ["read_shop", "write_webhooks"]}
        actions.change_scopes(**given, now=clock.now())
        first = hook.next()
        (row,) = wait_until(
            lambda: installed.api.get("/webhooks/deliveries?status=delivered&topic=app.scopes_changed").json()[
                "deliveries"
            ]
        )
        assert installed.api.post(f"/webhooks/deliveries/{row['id']}/replay").status_code == 200
        assert hook.next().body == first.body
        # What changes nothing is no event.
        actions.change_scopes(**given, now=clock.now())
    assert Event.objects.count() == 1
    assert receiver.received.empty()


@pytest.mark.rule("R-APP-40")
def test_the_feed_tells_other_apps_only_that_scopes_were_changed(shop):
    changed, other = install(shop, "write_webhooks"), install(shop, "write_webhooks")
    given = {"shop": shop, "installation": changed.installation, "scopes": ["read_shop"]}
    actions.change_scopes(**given, now=clock.now())
    dispatch(clock.now())
    (own,), (seen,) = (app.api.get("/events").json()["events"] for app in (changed, other))
    assert own["data"]["scopes"] == ["read_shop"]
    assert seen["data"] == {"id": changed.installation.pk}
    register(other, "https://app.example.com/", "app.scopes_changed")
    assert other.api.post("/webhooks/replay", {}).json()["replayed"] == 0
