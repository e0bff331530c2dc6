"""nginx answers for a service that cannot be reached as the service itself would: 503 with Retry-After. A write that
may have been carried out is a 502, so that nobody repeats it unseen."""

import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import requests

from deploy.local.deployment import free_ports
from deploy.local.files import find_programs, nginx_site
from deploy.local.programs import Failed
from storefront.pods.deployment import Pod
from storefront.pods.nginx import render
from storefront.pods.routes import Routes
from tests.server.programs import is_listening, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.any_database]


@pytest.fixture
def breaking() -> Iterator[int]:
    """The port of a server that ends each connection as soon as it has read of it."""

    def serve() -> None:
        with suppress(OSError):
            while True:
                caller, _ = listener.accept()
                caller.recv(1024)
                caller.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("what", "method", "key", "expected"),
    [
        ("breaks", "GET", "", (503, "1")),
        ("breaks", "POST", "k1", (503, "1")),
        ("breaks", "POST", "", (502, None)),
        ("is away", "GET", "", (503, "1")),
        ("is away", "POST", "", (503, "1")),
    ],
)
def test_a_service_that_cannot_be_reached(what, method, key, expected, breaking, tmp_path: Path):
    try:
        nginx = find_programs()["nginx"]
    except Failed as missing:
        pytest.skip(str(missing))
    port, plain_port, closed = free_ports(3)
    pod = Pod(0, (f"127.0.0.1:{breaking if what == 'breaks' else closed}",), "postgres://127.0.0.1/none")
    podmap, site = tmp_path / "pods.map", tmp_path / "nginx.conf"
    podmap.write_text(render([pod], Routes({}, {}, {}, {}), secure_host=""))
    log = tmp_path / "access.log"
    site.write_text(nginx_site(tmp_path, port=port, plain_port=plain_port, podmap=podmap, access_log=log))
    process = subprocess.Popen([nginx, "-c", site], stdin=subprocess.DEVNULL)
    try:
        wait_until(lambda: is_listening(port), what="nginx", process=process)
        headers = {"Idempotency-Key": key} if key else {}
        answer = requests.request(method, f"http://127.0.0.1:{port}/api/v1/cart", data={}, headers=headers, timeout=60)
    finally:
        process.terminate()
        process.wait(30)
    assert (answer.status_code, answer.headers.get("Retry-After")) == expected
    assert ("not known" in answer.text) == (expected[0] == 502)
