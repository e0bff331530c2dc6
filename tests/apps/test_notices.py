"""What an app itself is told: of its installation, until it has heard, and once of its end."""

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


def test_the_install_notification_carries_all_that_the_app_needs_to_begin(shop):
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
    # Confirmed as the contract has it, and the token is kept here no longer.
    assert ApiClient(installed.token, "/api/apps").get("/shop").json()["shop"]["domain"] == shop.domain
    assert Delivery.objects.get().sealed_message is None


def test_it_is_tried_again_while_the_installation_stands(shop):
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


def test_the_last_word_is_signed_with_the_old_secret_and_has_its_place_in_the_feed(shop):
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


def test_the_last_word_goes_to_the_webhook_for_it_and_nowhere_else(shop):
    with receiving() as receiver, receiving() as hook, delivering():
        installed = install(shop, app=make_app("gifts", install_url=receiver.url))
        receiver.next()
        register(installed, hook.url, "app.uninstalled")
        actions.uninstall_app(shop=shop, installation=installed.installation, now=clock.now())
        hook.next()
        wait_until(lambda: status("uninstall") == "delivered")
        assert not Event.objects.filter(sequence=None).exists()
    assert (hook.received.empty(), receiver.received.empty()) == (True, True)
