"""Admin pages of apps' blocks, for merchants."""

import asyncio
from datetime import timedelta

import pytest
from aiohttp import web
from django.urls import reverse

from storefront.apps.call_statistics import percentile
from storefront.apps.extensions import register_extension
from storefront.apps.models import Extension, ExtensionCall
from storefront.kit import clock
from tests.factories.apps import install, make_app
from tests.receiver import receiving
from tests.staff import admin_url

pytestmark = pytest.mark.slow


@pytest.fixture
def extension(shop):
    return make(shop)


def make(shop, url: str = "https://app.example.com/blocks") -> Extension:
    installation = install(shop, app=make_app(name="Gift notes")).installation
    given = {"type": "checkout_block", "callback_url": url, "timeout_ms": 1000, "now": clock.now()}
    return register_extension(shop=shop, installation_id=installation.pk, **given)[0]


def called(extension: Extension, outcome: str, duration_ms: int, **given) -> None:
    ExtensionCall.objects.create(
        shop=extension.shop,
        extension=extension,
        called_at=clock.now(),
        duration_ms=duration_ms,
        outcome=outcome,
        **{"request": "{}"} | given,
    )


def preview(extension: Extension) -> str:
    return reverse("admin:apps_extension_preview", args=[extension.pk])


def text(answer) -> str:
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_page_shows_a_blocks_statistics(desk, extension):
    for duration in range(1, 101):
        called(extension, "shown", duration)
    for duration in (2000, 3000):
        called(extension, "timed_out", duration, reason="No whole answer within 0.3 s.")
    called(extension, "failed", 4000, status=500, request='{"id": "call_1"}', answer="<b>Traceback</b>")
    page = text(desk.page(extension))
    assert "Gift notes" in page
    assert "Checkout block" in page
    for shown in ("103", "52 ms", "98 ms", "Failed after 4000 ms"):
        assert shown in page
    assert "{&quot;id&quot;: &quot;call_1&quot;}" in page
    assert "&lt;b&gt;Traceback&lt;/b&gt;" in page


def test_a_block_without_calls(desk, extension):
    assert "Not called yet" in text(desk.page(extension))


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({}, "Healthy"),
        ({"failures_in_a_row": 3}, "Failed 3 times in a row"),
        (
            {"failures_in_a_row": 5, "asked_again_at": clock.now() + timedelta(days=1)},
            "Failed repeatedly: not called until",
        ),
        ({"is_active": False}, "Off"),
    ],
)
def test_the_list_shows_the_state_of_each_block(desk, extension, state, words):
    Extension.objects.update(**state)
    assert words in text(desk.get(admin_url(Extension, "changelist")))
    assert words in text(desk.page(extension))


def test_turning_a_block_off_changes_nothing_else(desk, extension):
    answer = desk.fill(extension, is_active="", callback_url="https://evil.example/", timeout_ms="10000")
    assert answer.status_code == 302
    row = Extension.objects.get()
    assert not row.is_active
    assert (row.callback_url, row.timeout_ms) == (extension.callback_url, 1000)
    assert row.updated_at > extension.updated_at


class TestPreview:
    def test_calls_once_and_shows_the_block(self, desk, shop):
        async def answer(_):
            return web.json_response({"html": "<p>Wrap it?</p><script>alert(1)</script>"})

        with receiving(answer) as receiver:
            extension = make(shop, receiver.url)
            assert "Call the app" in text(desk.get(preview(extension)))
            assert receiver.received.empty(), "looking is not asking"
            page = text(desk.post(preview(extension)))
            assert b'"Sample mug"' in receiver.next().body
            assert receiver.received.empty()
        assert "<p>Wrap it?</p>" in page
        assert "alert(1)" not in page
        assert ExtensionCall.objects.count() == 1

    def test_shows_why_there_is_no_block(self, desk, shop):
        async def never(_):
            await asyncio.Event().wait()

        with receiving(never) as receiver:
            extension = make(shop, receiver.url)
            assert "No complete response within 1 seconds." in text(desk.post(preview(extension)))

    def test_a_successful_preview_ends_a_suspension(self, desk, shop):
        async def answer(_):
            return web.json_response({"html": "back"})

        with receiving(answer) as receiver:
            extension = make(shop, receiver.url)
            Extension.objects.update(failures_in_a_row=5, asked_again_at=clock.now() + timedelta(minutes=1))
            desk.post(preview(extension))
        row = Extension.objects.get()
        assert (row.failures_in_a_row, row.asked_again_at) == (0, None)


def test_percentiles():
    assert percentile([], 50) is None
    assert percentile([7], 95) == 7
    assert percentile([1, 2, 3, 4], 50) == 2
    assert percentile(list(range(1, 101)), 95) == 95
