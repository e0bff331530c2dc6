"""Receivers as they are: slow, broken, silent, endless. Each is called over a real socket by a worker's real loop."""

import asyncio
import socket
from collections import defaultdict
from datetime import timedelta

import pytest
from aiohttp import web
from standardwebhooks import Webhook

from storefront.apps.actions import rotate_secret, uninstall_app
from storefront.kit import clock
from storefront.webhooks import delivering as loop
from storefront.webhooks.models import Attempt, Delivery, Registration
from tests.factories.apps import install, make_app
from tests.receiver import receiving
from tests.webhooks.factories import delivering, happen, register, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def app(shop):
    found = install(shop)
    Delivery.objects.all().delete()
    return found


def tried(number: int = 1) -> Attempt | None:
    return Attempt.objects.filter(number=number).first()


def answers(status: int, **headers: str):
    async def answer(request: web.Request) -> web.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, text="so it is", headers=named)

    return answer


def try_once(shop, app, answering) -> Attempt:
    with receiving(answering) as receiver, delivering():
        register(app, receiver.url)
        happen(shop)
        return wait_until(tried)


def test_a_500_is_written_down_and_tried_again_later(shop, app):
    attempt = try_once(shop, app, answers(500))
    assert (attempt.status, attempt.answer) == (500, "so it is")
    row = Delivery.objects.get()
    assert (row.status, row.lease) == ("pending", None)
    assert timedelta(seconds=3) < row.due_at - attempt.started_at < timedelta(seconds=9)


def test_a_410_switches_the_webhook_off(shop, app):
    try_once(shop, app, answers(410))
    assert Registration.objects.get().pause_reason == "gone"


@pytest.mark.parametrize("text", ["3600", "later"])
def test_a_429_is_asked_again_when_it_says(shop, app, text):
    attempt = try_once(shop, app, answers(429, Retry_After=text))
    waits = Delivery.objects.get().due_at - attempt.started_at
    assert waits >= timedelta(hours=1) if text == "3600" else waits < timedelta(seconds=10)


def test_a_redirect_is_not_followed(shop, app):
    with receiving() as elsewhere:
        attempt = try_once(shop, app, answers(307, Location=elsewhere.url))
        assert (attempt.status, elsewhere.received.empty()) == (307, True)


def test_the_second_try_sends_the_same_bytes_under_the_same_id(shop, app):
    statuses = iter([500, 200])

    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=next(statuses))

    with receiving(answer) as receiver, delivering():
        register(app, receiver.url)
        happen(shop, total="9.50")
        first = receiver.next()
        wait_until(tried)
        Delivery.objects.update(due_at=clock.now())
        second = receiver.next()
        wait_until(lambda: Delivery.objects.filter(status="delivered").exists())
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    for came in (first, second):
        Webhook(app.secret).verify(came.body, came.headers)


def test_a_receiver_that_never_answers_is_given_up_after_its_time(shop, app, monkeypatch):
    monkeypatch.setattr(loop, "TOTAL", 0.5)
    with receiving() as receiver, delivering():
        receiver.hold()
        register(app, receiver.url)
        happen(shop)
        attempt = wait_until(tried)
    assert (attempt.status, attempt.error) == (None, "No whole answer within 0.5 s.")


def test_a_receiver_that_resets_the_connection_is_tried_again(shop, app):
    async def reset(request: web.Request) -> web.Response:
        request.transport.abort()
        return web.Response()

    attempt = try_once(shop, app, reset)
    assert (attempt.status, attempt.error) == (None, "The connection broke off.")
    assert Delivery.objects.get().status == "pending"


def test_a_receiver_that_is_not_there_is_tried_again(shop, app):
    with socket.socket() as nobody, delivering():
        nobody.bind(("127.0.0.1", 0))
        register(app, f"http://127.0.0.1:{nobody.getsockname()[1]}/")
        happen(shop)
        attempt = wait_until(tried)
    assert (attempt.status, attempt.error) == (None, "No connection could be made.")


def test_an_answer_of_ten_gigabytes_counts_by_its_status_and_is_not_read(shop, app):
    sent = []

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": str(10 * 2**30)})
        await response.prepare(request)
        try:
            while True:
                await response.write(b"x" * 65536)
                sent.append(65536)
        except ConnectionError:
            return response

    attempt = try_once(shop, app, endless)
    assert (attempt.status, len(attempt.answer), Delivery.objects.get().status) == (200, 1024, "delivered")
    assert sum(sent) < 50 * 2**20


def test_a_receiver_that_hangs_holds_up_no_other(shop, app):
    other = install(shop)
    with receiving() as hanging, receiving() as quick, delivering():
        hanging.hold()
        register(app, hanging.url)
        register(other, quick.url)
        for _ in range(20):
            happen(shop)
        came = {quick.next().headers["webhook-id"] for _ in range(20)}
        assert len(came) == 20
        assert hanging.received.qsize() == 1


def test_a_receiver_may_answer_out_of_turn_and_gets_each_event_once(shop, app):
    """Those that answer late do not make those after them come twice."""
    delays = iter([0.3, 0.0] * 20)

    async def answer(request: web.Request) -> web.Response:
        await asyncio.sleep(next(delays))
        return web.Response()

    with receiving(answer) as receiver, delivering():
        register(app, receiver.url)
        for _ in range(30):
            happen(shop)
        wait_until(lambda: Delivery.objects.filter(status="delivered").count() == 30)
        counts: dict[str, int] = defaultdict(int)
        for _ in range(30):
            counts[receiver.next().headers["webhook-id"]] += 1
    assert set(counts.values()) == {1}
    assert receiver.received.empty()


def test_connections_are_used_again(shop, app):
    peers = set()

    async def answer(request: web.Request) -> web.Response:
        peers.add(request.transport.get_extra_info("peername"))
        return web.Response()

    with receiving(answer) as receiver, delivering():
        register(app, receiver.url)
        for _ in range(60):
            happen(shop)
        wait_until(lambda: Delivery.objects.filter(status="delivered").count() == 60)
    assert len(peers) < 60


def test_two_secrets_are_signed_with_while_one_replaces_the_other(shop, app):
    new = rotate_secret(shop=shop, installation=app.installation, now=clock.now())
    with receiving() as receiver, delivering():
        register(app, receiver.url)
        happen(shop)
        came = receiver.next()
        wait_until(lambda: Delivery.objects.filter(status="delivered").exists())
    assert len(came.headers["webhook-signature"].split(" ")) == 2
    for secret in (new, app.secret):
        Webhook(secret).verify(came.body, came.headers)


def test_data_needs_the_scope_at_the_time_of_the_delivery(shop, app):
    with receiving() as receiver, delivering():
        register(app, receiver.url)
        happen(shop, total="9.50")
        came = receiver.next()
        wait_until(lambda: Delivery.objects.filter(status="delivered").exists())
        assert Webhook(app.secret).verify(came.body, came.headers)["data"] == {"id": 7}
        type(app.installation).objects.update(scopes=["read_orders"])
        happen(shop, total="9.50")
        came = receiver.next()
        wait_until(lambda: Delivery.objects.filter(status="delivered").count() == 2)
    assert Webhook(app.secret).verify(came.body, came.headers)["data"] == {"id": 7, "total": "9.50"}


def test_an_install_notice_is_signed_with_the_apps_secret_and_kept_no_longer_than_needed(shop):
    with receiving() as receiver:
        app = make_app(install_url=f"{receiver.url}/install")
        installed = install(shop, "read_shop", app=app)
        assert installed.token.encode() not in bytes(Delivery.objects.get().sealed_message)
        with delivering():
            came = receiver.next()
            wait_until(lambda: Delivery.objects.filter(status="delivered").exists())
    body = Webhook(app.secret).verify(came.body, came.headers)
    assert (body["shop_domain"], body["access_token"]) == (shop.domain, installed.token)
    assert Delivery.objects.get().sealed_message is None


def test_an_uninstall_is_the_last_word_signed_with_the_installations_secret(shop, app):
    with receiving() as receiver:
        register(app, receiver.url)
        register(app, f"{receiver.url}/bye", "app.uninstalled")
        happen(shop)
        uninstall_app(shop=shop, installation=app.installation, now=clock.now())
        with delivering():
            came = receiver.next()
            wait_until(lambda: Delivery.objects.filter(status="delivered").exists())
    assert (came.path, receiver.received.empty()) == ("/bye", True)
    body = Webhook(app.secret).verify(came.body, came.headers)
    assert (body["type"], body["sequence"], body["shop_domain"]) == ("app.uninstalled", 2, shop.domain)
    assert body["id"] == came.headers["webhook-id"]


def test_what_is_in_flight_ends_before_the_loop_stops(shop, app):
    with receiving() as receiver, delivering() as deliverer:
        receiver.hold()
        register(app, receiver.url)
        happen(shop)
        receiver.next()
        deliverer.stop()
        receiver.let_go()
    assert (Delivery.objects.get().status, Attempt.objects.get().status) == ("delivered", 200)


def test_what_does_not_end_in_time_is_given_back(shop, app, monkeypatch):
    monkeypatch.setattr(loop, "GRACE", 0.2)
    with receiving() as receiver:
        receiver.hold()
        with delivering():
            register(app, receiver.url)
            happen(shop)
            receiver.next()
        row = Delivery.objects.get()
    assert (row.status, row.lease, row.tries, row.due_at <= clock.now()) == ("pending", None, 0, True)
