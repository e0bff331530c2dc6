from collections.abc import Iterator

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from werkzeug.test import Client

from storefront.server.edge import listening
from storefront.server.edge.edge import Edge
from storefront.server.wsgi import Application, application


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Clear cached responses, and close the listener's connection, before the next test."""
    yield
    listening.stop()
    application.cache.clear()


@pytest.fixture
def wsgi(db) -> Iterator[Client]:
    """The application as the server calls it, without Django's test client, but inside the test's transaction. Closing
    the connection after a request would roll that back. Nothing is committed, so nothing is cached."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield Client(Edge(Application(), capacity=0))
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)
