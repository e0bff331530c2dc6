"""Large downloads by the server itself: parts of a file go out without a copy, and a slow reader holds no thread."""

import socket
import time
from collections.abc import Iterator

import pytest

from tests.server.test_kills import shell
from tests.server.test_serve import Served, serving

pytestmark = pytest.mark.slow

SIZE = 40 * 1024 * 1024
SET_UP = f"""
import json
from django.core.files.base import ContentFile
from storefront.kit import clock
from storefront.payments import actions
from storefront.orders.download_links import download_token
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line
from tests.orders.files import add_file
from tests.shops.factories import make_shop
shop = make_shop("127.0.0.1", base_url="http://127.0.0.1")
product = make_product(shop, "Film")
add_file(product, "film.mp4", bytes(range(256)) * {SIZE // 256})
order = make_order(shop, sale_line(product), now=clock.now())
actions.mark_paid(shop=shop, order=order, now=clock.now())
print(json.dumps([download_token(order.downloads.get())]))
"""


@pytest.fixture
def film(deployment) -> Iterator[tuple[Served, str]]:
    from pathlib import Path

    environment = {
        "DATABASE_URL": f"sqlite:///{deployment['STOREFRONT_DATA_DIR']}/storefront.sqlite3",
        **deployment,
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    ((token,),) = shell(SET_UP, **environment)
    with serving(environment, "--no-worker") as served:
        yield served, f"/downloads/{token}"


def test_parts_of_a_large_file_are_sent_and_add_up(film):
    served, path = film
    status, headers, whole = served.ask(path)
    assert (status, len(whole), headers["Content-Length"]) == (200, SIZE, str(SIZE))
    middle = SIZE // 2 + 3
    status, headers, rest = served.ask(path, Range=f"bytes={middle}-")
    assert (status, headers["Content-Range"]) == (206, f"bytes {middle}-{SIZE - 1}/{SIZE}")
    assert headers["Content-Length"] == str(len(rest))
    assert rest == whole[middle:]
    status, headers, few = served.ask(path, Range="bytes=5-9")
    assert (status, few, headers["Content-Type"]) == (206, bytes([5, 6, 7, 8, 9]), "video/mp4")
    status, headers, nothing = served.ask(path, method="HEAD")
    assert (status, headers["Content-Length"], nothing) == (200, str(SIZE), b"")
    assert served.ask(path, Range=f"bytes={SIZE}-")[0] == 416


def test_slow_readers_hold_no_thread(film):
    served, path = film
    slow = []
    for _ in range(10):
        connection = socket.create_connection(("127.0.0.1", served.port))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        assert connection.recv(12) == b"HTTP/1.1 200"
        slow.append(connection)
    # The server has two threads. An order's page needs one.
    began = time.monotonic()
    assert served.ask("/")[0] == 200
    assert time.monotonic() - began < 10
    for connection in slow:
        connection.close()
