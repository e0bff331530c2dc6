from collections.abc import Iterator

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from werkzeug.test import Client

from storefront.server import listening
from storefront.server.edge import Edge
from storefront.server.wsgi import Application, application


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """No answer that the next test could get, and no connection to a database that is about to go."""
    yield
    listening.stop()
    application.memory.clear()


@pytest.fixture
def wsgi(db) -> Iterator[Client]:
    """The application as the server calls it, without Django's test client, but inside the test's transaction, which
    closing the connection at a request's end would lose. Nothing is committed there, so nothing is remembered."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield Client(Edge(Application(), capacity=0))
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)
