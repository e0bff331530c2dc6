"""Many shoppers at once, before an app that keeps failing (decisions: circuit breaker)."""

from datetime import timedelta

import pytest
from aiohttp import web

from storefront.apps import actions, rendering
from storefront.apps.extensions import delete_extension, register_extension
from storefront.apps.models import Extension, ExtensionCall
from storefront.kit import clock
from tests.factories.apps import install
from tests.races import at_once
from tests.receiver import receiving

pytestmark = pytest.mark.django_db(transaction=True)
NOW = clock.now()


@pytest.fixture
def places():
    """Enough of them, so that nobody is sent away."""
    rendering.reserve(32)
    yield
    rendering.reserve(8)


@pytest.fixture
def app(shop):
    return install(shop)


@pytest.fixture
def broken(app, shop, places):
    async def answer(_):
        return web.Response(status=500)

    with receiving(answer) as receiver:
        extend(app, receiver.url)
        yield receiver


def extend(app, url: str) -> Extension:
    given = {"type": "checkout_block", "callback_url": url, "timeout_ms": 10_000, "now": NOW}
    return register_extension(shop=app.installation.shop, installation_id=app.installation.pk, **given)


def ask(shop, now=NOW):
    return rendering.blocks(shop, "checkout_block", payload={}, now=now)


def test_every_failure_counts(shop, broken):
    assert at_once(*[lambda: ask(shop)] * 4) == [[]] * 4
    assert Extension.objects.get().failures_in_a_row == 4
    assert ExtensionCall.objects.count() == 4


def test_of_many_that_would_ask_again_one_does(shop, broken):
    Extension.objects.update(failures_in_a_row=5, asked_again_at=NOW)
    assert at_once(*[lambda: ask(shop, NOW + timedelta(seconds=1))] * 8) == [[]] * 8
    assert broken.received.qsize() == 1


def test_a_call_that_meets_its_extensions_end_does_no_harm(shop, app, places):
    async def answer(_):
        return web.json_response({"html": "last"})

    with receiving(answer) as receiver:
        for _ in range(5):
            extension = extend(app, receiver.url)
            end = {"shop": shop, "installation_id": app.installation.pk, "extension_id": extension.pk}
            shown, gone = at_once(lambda: ask(shop), lambda end=end: delete_extension(**end))
            assert [block.html for block in shown] in (["last"], [])
            assert gone is None
    assert not ExtensionCall.objects.exists()


def test_a_call_that_meets_the_uninstall_does_no_harm(shop, places):
    async def answer(_):
        return web.json_response({"html": "last"})

    with receiving(answer) as receiver:
        for _ in range(10):
            app = install(shop)
            extend(app, receiver.url)
            shown, gone = at_once(
                lambda: ask(shop),
                lambda app=app: actions.uninstall_app(shop=shop, installation=app.installation, now=NOW),
            )
            assert [block.html for block in shown] in (["last"], [])
            assert gone is None
    assert not Extension.objects.exists()
    assert not ExtensionCall.objects.exists()
