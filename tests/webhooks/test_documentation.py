"""The code in docs/webhooks.md, copied verbatim, does what the page says."""

import re
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest
import requests
from werkzeug.serving import make_server

from storefront.kit import clock
from storefront.server.wsgi import application
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Delivery
from storefront.webhooks.signing import new_secret, sign
from tests.webhooks.factories import delivering, emit, listener, register, wait_until

PAGE = Path(__file__).parents[2] / "docs" / "webhooks.md"
RECEIVER, READER = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.fixture
def serve():
    """A function that serves a WSGI application on loopback and returns its URL."""
    servers = []

    def start(application) -> str:
        server = make_server("127.0.0.1", 0, application, threaded=True)
        servers.append(server)
        Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def app(shop):
    return listener(shop, "read_orders")


@pytest.fixture
def receiver(app, serve, tmp_path, monkeypatch):
    """The page's receiver, running with the app's secret: its URL, and a function that returns its rows."""
    monkeypatch.setenv("FLASK_SECRET", app.secret)
    monkeypatch.setenv("FLASK_DATABASE", str(tmp_path / "events.sqlite3"))
    names: dict = {"__name__": "receiver"}
    exec(RECEIVER, names)

    def rows() -> list[tuple]:
        with closing(names["database"]()) as connection:
            return connection.execute("SELECT id, sequence FROM event ORDER BY sequence").fetchall()

    return f"{serve(names['app'])}/webhooks", rows


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_receiver_stores_a_repeated_event_once(shop, app, receiver):
    url, rows = receiver
    register(app, url)
    events = [str(emit(shop).public_id) for _ in range(3)]
    with delivering():
        wait_until(lambda: Delivery.objects.filter(status="delivered").count() == 3)
        Delivery.objects.update(status="pending", due_at=clock.now(), ended_at=None)
        wait_until(lambda: Delivery.objects.filter(status="delivered", tries=2).count() == 3)
    assert rows() == [(event, place) for place, event in enumerate(events, 1)]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_receiver_rejects_other_signatures(shop, app, receiver):
    url, rows = receiver
    body = b'{"id": "1", "type": "order.placed", "sequence": 1, "data": {}}'
    forged = sign(id="1", body=body, secrets=[new_secret()], now=clock.now())
    for headers in ({}, forged):
        assert requests.post(url, data=body, headers=headers, timeout=60).status_code == 401
    assert rows() == []


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_reader_gets_every_event_once_in_order(shop, app, serve):
    names: dict = {}
    exec(f"import requests\n{READER}", names)
    shop_url = serve(application)
    for _ in range(7):
        emit(shop)
    dispatch(clock.now())
    seen = [event["sequence"] for event in names["catch_up"](shop_url, app.token, 2)]
    assert seen == [3, 4, 5, 6, 7]
    assert list(names["catch_up"](shop_url, app.token, 7)) == []
