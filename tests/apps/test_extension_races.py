"""Concurrent requests while an app keeps failing (R-APP-24)."""

from datetime import timedelta

import pytest
from aiohttp import web

from storefront.apps import actions, rendering
from storefront.apps.extensions import register_extension
from storefront.apps.models import Extension, ExtensionCall
from storefront.kit import clock
from tests.factories.apps import install
from tests.races import run_concurrently
from tests.receiver import receiving

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
NOW = clock.now()


@pytest.fixture
def waiting_slots():
    """Enough waiting slots for all threads of a test."""
    rendering.limit_waiting_threads(32)
    yield
    rendering.limit_waiting_threads(8)


@pytest.fixture
def app(shop):
    return install(shop)


@pytest.fixture
def broken(app, shop, waiting_slots):
    async def answer(_):
        return web.Response(status=500)

    with receiving(answer) as receiver:
        extend(app, receiver.url)
        yield receiver


def extend(app, url: str) -> Extension:
    given = {"type": "checkout_block", "callback_url": url, "timeout_ms": 10_000, "now": NOW}
    return register_extension(shop=app.installation.shop, installation_id=app.installation.pk, **given)[0]


def fetch(shop, now=NOW):
    return rendering.fetch_blocks(shop, "checkout_block", payload={}, now=now)


def test_concurrent_failures_are_all_counted(shop, broken):
    assert run_concurrently(*[lambda: fetch(shop)] * 4) == [[]] * 4
    assert Extension.objects.get().failures_in_a_row == 4
    assert ExtensionCall.objects.count() == 4


@pytest.mark.rule("R-APP-24")
def test_one_of_many_concurrent_requests_calls_after_the_pause(shop, broken):
    Extension.objects.update(failures_in_a_row=5, asked_again_at=NOW)
    assert run_concurrently(*[lambda: fetch(shop, NOW + timedelta(seconds=1))] * 8) == [[]] * 8
    assert broken.received.qsize() == 1


def test_an_app_can_be_uninstalled_during_a_call(shop, waiting_slots):
    async def answer(_):
        return web.json_response({"html": "last"})

    with receiving(answer) as receiver:
        for _ in range(10):
            app = install(shop)
            extend(app, receiver.url)
            shown, gone = run_concurrently(
                lambda: fetch(shop),
                lambda app=app: actions.uninstall_app(shop=shop, installation=app.installation, now=NOW),
            )
            assert [block.html for block in shown] in (["last"], [])
            assert gone is None
    assert not Extension.objects.exists()
    assert not ExtensionCall.objects.exists()
