"""Slow, broken, silent and endless receivers. A worker's real loop calls each over a real socket."""

import asyncio
import socket
import time
from collections import defaultdict
from datetime import timedelta

import pytest
from aiohttp import web
from standardwebhooks import Webhook

from storefront.apps.actions import rotate_secret
from storefront.kit import clock
from storefront.webhooks import delivering as loop
from storefront.webhooks.models import Attempt, Delivery, Registration
from tests.factories.apps import install
from tests.receiver import receiving
from tests.webhooks.factories import delivering, emit, listener, register, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def app(shop):
    return listener(shop)


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
        emit(shop)
        return wait_until(tried)


@pytest.mark.rule("R-HOOK-8")
def test_an_event_arrives_signed_and_is_recorded_as_delivered(shop):
    installed = listener(shop, "read_orders")
    with receiving() as receiver, delivering():
        register(installed, f"{receiver.url}/hook")
        event = emit(shop, total="9.50")
        received = receiver.next()
        row = wait_until(lambda: Delivery.objects.filter(status="delivered").first())
    assert (received.method, received.path, received.headers["Content-Type"]) == ("POST", "/hook", "application/json")
    body = Webhook(installed.secret).verify(received.body, received.headers)
    event.refresh_from_db()
    assert body == {
        "id": str(event.public_id),
        "type": "order.placed",
        "timestamp": event.created_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "shop_domain": shop.domain,
        "sequence": 1,
        "data": {"id": 7, "total": "9.50"},
    }
    assert received.headers["webhook-id"] == body["id"]
    assert (row.tries, row.lease, row.ended_at is not None) == (1, None, True)
    attempt = Attempt.objects.get()
    assert (attempt.number, attempt.status, attempt.error, attempt.answer) == (1, 200, "", "")


def test_a_500_is_recorded_and_retried(shop, app):
    attempt = try_once(shop, app, answers(500))
    assert (attempt.status, attempt.answer) == (500, "so it is")
    row = Delivery.objects.get()
    assert (row.status, row.lease) == ("pending", None)
    assert timedelta(seconds=3) < row.due_at - attempt.started_at < timedelta(seconds=9)


@pytest.mark.rule("R-HOOK-12")
def test_a_410_pauses_the_webhook(shop, app):
    try_once(shop, app, answers(410))
    assert Registration.objects.get().pause_reason == "gone"


@pytest.mark.rule("R-HOOK-10")
@pytest.mark.parametrize("text", ["3600", "later"])
def test_a_429_is_retried_after_its_retry_after(shop, app, text):
    attempt = try_once(shop, app, answers(429, Retry_After=text))
    waits = Delivery.objects.get().due_at - attempt.started_at
    assert waits >= timedelta(hours=1) if text == "3600" else waits < timedelta(seconds=10)


@pytest.mark.rule("R-HOOK-11")
def test_a_redirect_is_not_followed(shop, app):
    with receiving() as elsewhere:
        attempt = try_once(shop, app, answers(307, Location=elsewhere.url))
        assert (attempt.status, elsewhere.received.empty()) == (307, True)


@pytest.mark.rule("R-HOOK-14")
def test_a_retry_sends_the_same_bytes_with_the_same_id(shop, app):
    statuses = iter([500, 200])

    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=next(statuses))

    with receiving(answer) as receiver, delivering():
        register(app, receiver.url)
        emit(shop, total="9.50")
        first = receiver.next()
        wait_until(tried)
        Delivery.objects.update(due_at=clock.now())
        second = receiver.next()
        wait_until(lambda: Delivery.objects.filter(status="delivered").exists())
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    for received in (first, second):
        Webhook(app.secret).verify(received.body, received.headers)


@pytest.mark.rule("R-HOOK-11")
def test_a_call_without_an_answer_times_out(shop, app, monkeypatch):
    monkeypatch.setattr(loop, "TOTAL", 0.5)
    with receiving() as receiver, delivering():
        receiver.hold()
        register(app, receiver.url)
        emit(shop)
        attempt = wait_until(tried)
    assert (attempt.status, attempt.error) == (None, "No complete response within 0.5 seconds.")


def test_a_connection_reset_is_retried(shop, app):
    async def reset(request: web.Request) -> web.Response:
        request.transport.abort()
        return web.Response()

    attempt = try_once(shop, app, reset)
    assert (attempt.status, attempt.error) == (None, "The connection was interrupted.")
    assert Delivery.objects.get().status == "pending"


def test_an_unreachable_receiver_is_retried(shop, app):
    with socket.socket() as nobody, delivering():
        nobody.bind(("127.0.0.1", 0))
        register(app, f"http://127.0.0.1:{nobody.getsockname()[1]}/")
        emit(shop)
        attempt = wait_until(tried)
    assert (attempt.status, attempt.error) == (None, "Could not connect.")


@pytest.mark.rule("R-HOOK-11")
def test_an_answer_of_ten_gigabytes_is_not_read(shop, app):
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


@pytest.mark.rule("R-HOOK-15")
def test_a_hanging_receiver_does_not_delay_others(shop, app):
    other = install(shop)
    with receiving() as hanging, receiving() as quick, delivering():
        hanging.hold()
        register(app, hanging.url)
        register(other, quick.url)
        for _ in range(20):
            emit(shop)
        received = {quick.next().headers["webhook-id"] for _ in range(20)}
        assert len(received) == 20
        assert hanging.received.qsize() == 1


@pytest.mark.rule("R-HOOK-15")
@pytest.mark.parametrize("of_another_shop", [False, True])
def test_a_hanging_receiver_does_not_delay_others_at_the_same_host_and_port(shop, app, other_shop, of_another_shop):
    """Although it has a hundred deliveries, each of which would last until its time-out."""
    free = asyncio.Event()

    async def answer(request: web.Request) -> web.Response:
        if request.path == "/hangs":
            await free.wait()
        return web.Response()

    its_shop = other_shop if of_another_shop else shop
    other = listener(its_shop)
    with receiving(answer) as receiver, delivering():
        register(app, f"{receiver.url}/hangs")
        for _ in range(100):
            emit(shop)
        assert receiver.next().path == "/hangs"
        register(other, f"{receiver.url}/quick")
        waits = [seconds_to_arrive(its_shop, receiver) for _ in range(10)]
        receiver.loop.call_soon_threadsafe(free.set)
    # A busy machine takes longer now and then, but no call has waited for a hanging one.
    assert sorted(waits)[len(waits) // 2] < 1
    assert max(waits) < loop.TOTAL / 2


def seconds_to_arrive(shop, receiver) -> float:
    event, began = emit(shop), time.monotonic()
    while (received := receiver.next()).path != "/quick" or received.headers["webhook-id"] != str(event.public_id):
        pass
    return time.monotonic() - began


def test_answers_out_of_order_cause_no_duplicates(shop, app):
    """Late answers do not cause later events to be sent twice."""
    delays = iter([0.3, 0.0] * 20)

    async def answer(request: web.Request) -> web.Response:
        await asyncio.sleep(next(delays))
        return web.Response()

    with receiving(answer) as receiver, delivering():
        register(app, receiver.url)
        for _ in range(30):
            emit(shop)
        wait_until(lambda: Delivery.objects.filter(status="delivered").count() == 30)
        counts: dict[str, int] = defaultdict(int)
        for _ in range(30):
            counts[receiver.next().headers["webhook-id"]] += 1
    assert set(counts.values()) == {1}
    assert receiver.received.empty()


def test_connections_are_reused(shop, app):
    peers = set()

    async def answer(request: web.Request) -> web.Response:
        peers.add(request.transport.get_extra_info("peername"))
        return web.Response()

    with receiving(answer) as receiver, delivering():
        register(app, receiver.url)
        for _ in range(60):
            emit(shop)
        wait_until(lambda: Delivery.objects.filter(status="delivered").count() == 60)
    assert len(peers) < 60


def test_during_a_rotation_both_secrets_sign(shop, app):
    new = rotate_secret(shop=shop, installation=app.installation, now=clock.now())
    with receiving() as receiver, delivering():
        register(app, receiver.url)
        emit(shop)
        received = receiver.next()
        wait_until(lambda: Delivery.objects.filter(status="delivered").exists())
    assert len(received.headers["webhook-signature"].split(" ")) == 2
    for secret in (new, app.secret):
        Webhook(secret).verify(received.body, received.headers)


@pytest.mark.rule("R-HOOK-9")
def test_data_needs_the_scope_at_the_time_of_the_delivery(shop, app):
    with receiving() as receiver, delivering():
        register(app, receiver.url)
        emit(shop, total="9.50")
        received = receiver.next()
        wait_until(lambda: Delivery.objects.filter(status="delivered").exists())
        assert Webhook(app.secret).verify(received.body, received.headers)["data"] == {"id": 7}
        type(app.installation).objects.update(scopes=["read_orders"])
        emit(shop, total="9.50")
        received = receiver.next()
        wait_until(lambda: Delivery.objects.filter(status="delivered").count() == 2)
    assert Webhook(app.secret).verify(received.body, received.headers)["data"] == {"id": 7, "total": "9.50"}


def test_calls_in_flight_end_before_the_loop_stops(shop, app):
    with receiving() as receiver, delivering() as deliverer:
        receiver.hold()
        register(app, receiver.url)
        emit(shop)
        receiver.next()
        deliverer.stop()
        receiver.let_go()
    assert (Delivery.objects.get().status, Attempt.objects.get().status) == ("delivered", 200)


def test_leases_of_unfinished_calls_are_released(shop, app, monkeypatch):
    monkeypatch.setattr(loop, "STOP_GRACE_SECONDS", 0.2)
    with receiving() as receiver:
        receiver.hold()
        with delivering():
            register(app, receiver.url)
            emit(shop)
            receiver.next()
        row = Delivery.objects.get()
    assert (row.status, row.lease, row.tries, row.due_at <= clock.now()) == ("pending", None, 0, True)


def test_a_database_that_stalled_is_asked_again_within_a_second():
    assert loop.pause_after(time.monotonic() - 4) == loop.MAX_PAUSE_SECONDS <= 1
    assert loop.pause_after(time.monotonic()) == loop.POLL_SECONDS
