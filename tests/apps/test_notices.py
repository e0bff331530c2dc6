"""Notifications to an app: of its installation, retried until delivered, and of its uninstall."""

import pytest
from aiohttp import web
from standardwebhooks import Webhook

from storefront.apps import actions
from storefront.kit import clock
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
