"""The shop calls apps for their blocks (R-APP-19 to R-APP-24)."""

import asyncio
import json
import socket
from datetime import timedelta

import pytest
from aiohttp import web
from django.db import connections
from standardwebhooks import Webhook

from storefront.apps import actions, rendering
from storefront.apps.extensions import register_extension
from storefront.apps.models import Extension, ExtensionCall
from storefront.apps.rendering import Block
from storefront.kit import clock
from tests.factories.apps import Installed, install, make_app
from tests.receiver import receiving

NOW = clock.now()
PAYLOAD = {"items": [{"product_id": 7, "qty": 2}], "totals": {"total": "12.50"}}


def extend(app: Installed, url: str, *, type: str = "checkout_block", timeout_ms: int = 5000) -> Extension:
    return register_extension(
        shop=app.installation.shop,
        installation_id=app.installation.pk,
        type=type,
        callback_url=url,
        timeout_ms=timeout_ms,
        now=NOW,
    )[0]


def fetch(shop, type: str = "checkout_block", now=NOW) -> list[Block]:
    return rendering.fetch_blocks(shop, type, payload=PAYLOAD, now=now)


def html(text: str = "<p>Hello</p>"):
    async def answer(_):
        return web.json_response({"html": text})

    return answer


@pytest.fixture
def app(shop) -> Installed:
    return install(shop, app=make_app("gifts", name="Gift notes"))


def test_calls_the_app_and_shows_its_block(shop, app):
    with receiving(html("<p>Wrap it?</p><script>alert(1)</script>")) as receiver:
        extension = extend(app, f"{receiver.url}/blocks?x=1")
        assert fetch(shop) == [Block("<p>Wrap it?</p>", extension.pk, "Gift notes")]
        got = receiver.next()
    assert (got.method, got.path) == ("POST", "/blocks?x=1")
    assert got.headers["Content-Type"] == "application/json"
    asked = json.loads(got.body)
    assert list(asked) == ["id", "type", "shop_domain", "currency", "items", "totals"]
    assert (asked["type"], asked["shop_domain"], asked["currency"]) == ("checkout_block", shop.domain, "EUR")
    assert (asked["items"], asked["totals"]) == (PAYLOAD["items"], PAYLOAD["totals"])


def test_the_call_is_signed_like_a_webhook(shop, app):
    with receiving(html()) as receiver:
        extend(app, receiver.url)
        fetch(shop, now=clock.now())  # Receivers refuse what was signed five minutes ago.
        got = receiver.next()
    verified = Webhook(app.secret).verify(got.body, {name.lower(): value for name, value in got.headers.items()})
    assert verified["id"] == got.headers["webhook-id"]


def test_during_a_rotation_it_is_signed_with_both_secrets(shop, app):
    actions.rotate_secret(shop=shop, installation=app.installation, now=NOW)
    with receiving(html()) as receiver:
        extend(app, receiver.url)
        fetch(shop)
        assert len(receiver.next().headers["webhook-signature"].split()) == 2


def test_each_call_has_its_own_id(shop, app):
    with receiving(html()) as receiver:
        extend(app, receiver.url)
        fetch(shop)
        fetch(shop)
        ids = {json.loads(receiver.next().body)["id"] for _ in range(2)}
    assert len(ids) == 2


def test_blocks_are_in_the_order_of_registration(shop, app):
    async def answer(request):
        # The first app answers last.
        if request.path == "/1":
            await second_is_asked.wait()
        else:
            second_is_asked.set()
        return web.json_response({"html": request.path})

    second_is_asked = asyncio.Event()
    with receiving(answer) as receiver:
        for number in (1, 2):
            extend(app, f"{receiver.url}/{number}")
        # Called one after the other, the first would wait for ever.
        assert [block.html for block in fetch(shop)] == ["/1", "/2"]


def test_only_extensions_of_the_pages_type_are_called(shop, app):
    with receiving(html()) as receiver:
        for type in ("checkout_block", "product_block", "confirmation_block"):
            extend(app, f"{receiver.url}/{type}", type=type)
        fetch(shop, "product_block")
        assert receiver.next().path == "/product_block"
        assert receiver.received.empty()


def test_another_shops_apps_are_not_called(shop, other_shop):
    with receiving(html()) as receiver:
        extend(install(other_shop), receiver.url)
        assert fetch(shop) == []
        assert receiver.received.empty()


def test_an_inactive_extension_is_not_called(shop, app):
    with receiving(html()) as receiver:
        extend(app, receiver.url)
        Extension.objects.update(is_active=False)
        assert fetch(shop) == []
        assert receiver.received.empty()


def test_an_uninstalled_app_is_not_called(shop, app):
    with receiving(html()) as receiver:
        extend(app, receiver.url)
        actions.uninstall_app(shop=shop, installation=app.installation, now=NOW)
        assert fetch(shop) == []
        assert receiver.received.empty()


def test_an_empty_block_is_not_a_failure(shop, app):
    with receiving(html("")) as receiver:
        extend(app, receiver.url)
        assert fetch(shop) == []
    assert ExtensionCall.objects.get().outcome == "shown"
    assert Extension.objects.get().failures_in_a_row == 0


class TestFailures:
    """The block of a failing app is left out, the others are shown, and nobody sees an error."""

    def outcome(self, shop, app, answering, **given) -> ExtensionCall:
        with receiving(answering) as broken, receiving(html("well")) as well:
            extend(app, broken.url, **given)
            extend(app, well.url)
            assert [block.html for block in fetch(shop)] == ["well"]
            broken.next()
            assert broken.received.empty(), "it was tried again"
        return ExtensionCall.objects.order_by("pk").first()

    def test_a_slow_answer_times_out(self, shop, app):
        async def never(_):
            await asyncio.Event().wait()

        call = self.outcome(shop, app, never, timeout_ms=1000)
        assert (call.outcome, call.status, call.reason) == ("timed_out", None, "No complete response within 1 seconds.")
        assert call.duration_ms >= 1000

    @pytest.mark.rule("R-APP-20")
    def test_an_answer_that_arrives_in_small_pieces_times_out(self, shop, app):
        async def drip(request):
            response = web.StreamResponse()
            await response.prepare(request)
            while True:
                await response.write(b" ")
                await asyncio.sleep(0.01)

        assert self.outcome(shop, app, drip, timeout_ms=1000).outcome == "timed_out"

    def test_an_error_of_the_app(self, shop, app):
        async def broken(_):
            return web.Response(status=500, text="Traceback ...")

        call = self.outcome(shop, app, broken)
        assert (call.outcome, call.status, call.reason) == ("failed", 500, "The app answered with status 500.")
        assert call.answer == "Traceback ..."

    @pytest.mark.rule("R-APP-20")
    def test_a_redirect_is_not_followed(self, shop, app):
        async def elsewhere(request):
            return web.Response(status=307, headers={"Location": f"http://{request.host}/elsewhere"})

        assert self.outcome(shop, app, elsewhere).reason == "The app answered with status 307."

    def test_no_json(self, shop, app):
        async def page(_):
            return web.Response(text="<p>Hello</p>", content_type="text/html")

        assert self.outcome(shop, app, page).reason == "The response is not JSON."

    @pytest.mark.rule("R-APP-20")
    def test_too_large(self, shop, app):
        call = self.outcome(shop, app, html("x" * 65536))
        assert (call.outcome, call.reason) == ("failed", "The response is larger than 64 KiB.")
        assert len(call.answer) == 1024

    def test_cut_off(self, shop, app):
        async def hang_up(request):
            request.transport.close()
            return web.Response()

        assert self.outcome(shop, app, hang_up).outcome == "failed"

    def test_nobody_there(self, shop, app):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            extend(app, f"http://127.0.0.1:{unused.getsockname()[1]}/")
            assert fetch(shop) == []
        assert ExtensionCall.objects.get().reason == "Could not connect."

    def test_in_production_a_private_address_is_not_called(self, shop, app, settings):
        with receiving(html()) as receiver:
            extend(app, receiver.url)
            extend(app, receiver.url.replace("http:", "https:"))
            settings.ALLOW_PRIVATE_CALLBACKS = False
            assert fetch(shop) == []
            assert receiver.received.empty()
        reasons = list(ExtensionCall.objects.values_list("reason", flat=True))
        assert [reason.split()[0] for reason in reasons] == ["The", "The"]


class TestRecord:
    def test_records_each_call_with_the_start_of_request_and_answer(self, shop, app):
        async def answer(_):
            return web.Response(body=json.dumps({"html": "\x00ä" + "x" * 5000}, ensure_ascii=False).encode())

        with receiving(answer) as receiver:
            extension = extend(app, receiver.url)
            fetch(shop)
        call = ExtensionCall.objects.get()
        assert (call.shop, call.extension, call.called_at, call.status) == (shop, extension, NOW, 200)
        assert call.request.startswith('{"id":"call_')
        assert call.answer.startswith('{"html": "')
        assert len(call.answer) <= 1024

    def test_records_answers_that_are_not_text(self, shop, app):
        async def answer(_):
            return web.Response(body=b"\x00\xff\xfe")

        with receiving(answer) as receiver:
            extend(app, receiver.url)
            fetch(shop)
        assert ExtensionCall.objects.get().answer == "���"

    def test_records_no_secret(self, shop, app):
        with receiving(html()) as receiver:
            extend(app, receiver.url)
            fetch(shop)
        assert "whsec_" not in str(vars(ExtensionCall.objects.get()))

    @pytest.mark.django_db(transaction=True)
    def test_an_extension_can_be_deleted_during_its_call(self, shop, app):
        def delete() -> None:
            Extension.objects.all().delete()
            connections.close_all()

        async def answer(_):
            await asyncio.to_thread(delete)
            return web.json_response({"html": "late"})

        with receiving(answer) as receiver:
            extend(app, receiver.url)
            assert [block.html for block in fetch(shop)] == ["late"]
        assert not ExtensionCall.objects.exists()

    def test_the_number_of_queries_does_not_grow_with_the_blocks(self, shop, app, django_assert_max_num_queries):
        with receiving(html()) as receiver, socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            for number in range(3):
                extend(app, f"{receiver.url}/{number}")
                extend(app, f"http://127.0.0.1:{unused.getsockname()[1]}/{number}")
            # The extensions; then, in one transaction, those that still exist, the calls, and the failed extensions.
            with django_assert_max_num_queries(6):
                blocks = fetch(shop)
        assert len(blocks) == 3
        assert ExtensionCall.objects.count() == 6

    def test_without_extensions_it_takes_one_query(self, shop, django_assert_num_queries):
        with django_assert_num_queries(1):
            assert fetch(shop) == []


class TestBreaker:
    """Five failures in a row suspend an extension for a minute; then one request calls it again."""

    @pytest.fixture
    def broken(self, shop, app):
        answers = {"status": 500}

        async def answer(_):
            return web.json_response({"html": "back"}, status=answers["status"])

        with receiving(answer) as receiver:
            receiver.answers = answers
            extend(app, receiver.url)
            yield receiver

    def asked(self, receiver) -> int:
        count = receiver.received.qsize()
        receiver.received.queue.clear()
        return count

    def fail(self, shop, receiver, times: int) -> None:
        for _ in range(times):
            fetch(shop)
        assert self.asked(receiver) == times

    @pytest.mark.rule("R-APP-24")
    def test_suspends_after_five_failures(self, shop, broken):
        self.fail(shop, broken, 5)
        fetch(shop)
        fetch(shop, now=NOW + timedelta(seconds=59))
        assert self.asked(broken) == 0

    def test_a_success_resets_the_count(self, shop, broken):
        self.fail(shop, broken, 4)
        broken.answers["status"] = 200
        self.fail(shop, broken, 1)
        broken.answers["status"] = 500
        self.fail(shop, broken, 4)
        assert Extension.objects.get().failures_in_a_row == 4
        self.fail(shop, broken, 1)
        fetch(shop)
        assert self.asked(broken) == 0

    @pytest.mark.rule("R-APP-24")
    def test_after_a_minute_one_request_calls_again(self, shop, broken):
        self.fail(shop, broken, 5)
        later = NOW + timedelta(seconds=60)
        for _ in range(3):
            fetch(shop, now=later)
        assert self.asked(broken) == 1

    def test_a_failed_call_after_the_pause_begins_the_next_pause(self, shop, broken):
        self.fail(shop, broken, 5)
        fetch(shop, now=NOW + timedelta(seconds=60))
        assert self.asked(broken) == 1
        fetch(shop, now=NOW + timedelta(seconds=119))
        assert self.asked(broken) == 0
        fetch(shop, now=NOW + timedelta(seconds=120))
        assert self.asked(broken) == 1

    def test_a_successful_call_after_the_pause_ends_the_suspension(self, shop, broken):
        self.fail(shop, broken, 5)
        broken.answers["status"] = 200
        later = NOW + timedelta(seconds=60)
        assert [block.html for block in fetch(shop, now=later)] == ["back"]
        assert [block.html for block in fetch(shop, now=later)] == ["back"]
        extension = Extension.objects.get()
        assert (extension.failures_in_a_row, extension.asked_again_at) == (0, None)

    def test_other_extensions_are_still_called(self, shop, app, broken):
        self.fail(shop, broken, 5)
        with receiving(html("well")) as well:
            extend(app, well.url)
            assert [block.html for block in fetch(shop)] == ["well"]

    @pytest.mark.rule("R-APP-24")
    def test_processes_share_the_suspension(self, shop, broken):
        """Two processes read the same row; only the first to update it may call."""
        self.fail(shop, broken, 5)
        later = NOW + timedelta(seconds=60)
        mine, theirs = Extension.objects.get(), Extension.objects.get()
        assert rendering.claim_call(theirs, later)
        assert not rendering.claim_call(mine, later)


@pytest.mark.rule("R-APP-23")
def test_while_apps_are_slow_half_of_the_threads_stay_free(shop, app):
    rendering.limit_waiting_threads(3)
    try:
        with receiving(html()) as receiver:
            extend(app, receiver.url)
            assert rendering.waiting_slots.acquire(blocking=False)
            assert fetch(shop) == []
            assert receiver.received.empty()
            rendering.waiting_slots.release()
            assert len(fetch(shop)) == 1
    finally:
        rendering.limit_waiting_threads(8)


def test_a_slot_is_released_after_an_exception(shop, app, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError

    extend(app, "http://127.0.0.1:1/")
    monkeypatch.setattr(rendering, "call_extensions", fail)
    for _ in range(10):
        with pytest.raises(RuntimeError):
            fetch(shop)
