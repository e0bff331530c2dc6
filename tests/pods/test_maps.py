"""The maps for nginx and Caddy lead the same requests to the same pods, asked of the proxies themselves."""

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

from storefront.pods import caddy, nginx
from storefront.pods.deployment import Pod
from storefront.pods.ids import first_id
from storefront.pods.routes import routes
from storefront.pods.survey import Place
from tests.pods.deployments import NGINX
from tests.server.programs import free_port, is_listening, wait_until

pytestmark = [pytest.mark.proof, pytest.mark.any_database]

CADDY = shutil.which("caddy")
MOVED_HERE, MOVED_AWAY = first_id(0) + 1, first_id(5) + 8
PLACES = [
    Place("first.test", first_id(0), 0),
    Place("second.test", first_id(5), 5),
    Place("www.second.test", first_id(5), 5, is_domain=False),
    Place("moved.test", MOVED_HERE, 5),
    Place("back.test", MOVED_AWAY, 0),
    Place(f"{'a-very-long-name.' * 14}test", first_id(5) + 1, 5),
]


def token(shop_id: int | None) -> str:
    return "app_" + ("" if shop_id is None else f"{shop_id:014x}") + "f" * 43


FIRST, SECOND = token(first_id(0)), token(first_id(5))
REQUESTS = [
    # Host, path, X-Shop-Access-Token, Authorization, pod.
    ("first.test", "/", "", "", 0),
    ("second.test", "/", "", "", 5),
    ("second.test:8443", "/products/mug?page=2", "", "", 5),
    ("www.second.test", "/", "", "", 5),
    ("moved.test", "/", "", "", 5),
    ("back.test", "/", "", "", 0),
    (PLACES[-1].host, "/", "", "", 5),
    ("nobody.test", "/", "", "", 0),
    ("admin5.test", "/admin/", "", "", 5),
    ("admin0.test", "/admin/", "", "", 0),
    ("secure.test", "/second.test/checkout?next=/first.test/", "", "", 5),
    ("secure.test", "/first.test/checkout", "", "", 0),
    ("secure.test", "/www.second.test/checkout", "", "", 0),
    ("secure.test", "/second.test", "", "", 0),
    ("secure.test", "/", "", "", 0),
    ("first.test", "/api/v1/cart", "", f"Bearer {SECOND}", 5),
    ("first.test", "/api/v1/cart?x=1", "", f"bEARER  {SECOND}", 5),
    ("second.test", "/api/v1/cart", "", f"Bearer {FIRST}", 0),
    ("second.test", "/api/apps/shop", FIRST, f"Bearer {SECOND}", 0),
    ("first.test", "/api/apps/shop", SECOND, f"Bearer {FIRST}", 5),
    ("first.test", "/api/apps/shop", SECOND, "", 5),
    ("first.test", "/api/v1/cart", "", f"Bearer {token(MOVED_HERE)}", 5),
    ("first.test", "/api/v1/cart", "", f"Bearer {token(MOVED_AWAY)}", 0),
    # A shop that was made after the map.
    ("first.test", "/api/v1/cart", "", f"Bearer {token(first_id(5) + 99)}", 5),
    ("second.test", "/api/v1/cart", "", f"Bearer {token(None)}", 0),
    ("second.test", "/api/v1/cart", "", f"Bearer {token(first_id(7))}", 0),
    ("second.test", "/api/v1/cart", "", "Bearer nonsense", 0),
    ("second.test", "/api/v1/cart", "nonsense", f"Bearer {SECOND}", 0),
    ("second.test", "/api/v1/cart", "", f"Basic {SECOND}", 5),
    ("second.test", "/api", "", "", 5),
    ("secure.test", "/api/v1/cart", "", f"Bearer {SECOND}", 5),
    # Pages have no tokens.
    ("first.test", "/apiary", SECOND, f"Bearer {SECOND}", 0),
]


class Upstream(BaseHTTPRequestHandler):
    """A pod that names itself."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("X-Number", self.server.number)  # type: ignore[attr-defined]
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_given) -> None:
        """Keep quiet."""


@pytest.fixture(scope="module")
def pods() -> Iterator[list[Pod]]:
    servers = []
    for number in (0, 5):
        server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
        server.number = str(number)  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
    yield [Pod(int(s.number), (f"127.0.0.1:{s.server_port}",), "", f"admin{s.number}.test") for s in servers]
    for server in servers:
        server.shutdown()
        server.server_close()


def nginx_command(directory: Path, text: str, port: int) -> list[str]:
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = "".join(f"{kind}_temp_path {directory}/{kind};\n" for kind in kinds)
    (directory / "map").write_text(text)
    (directory / "conf").write_text(
        f"daemon off; pid {directory}/pid; error_log {directory}/log; events {{}}\nhttp {{ access_log off;\n{folders}"
        f"include {directory}/map; server {{ listen 127.0.0.1:{port}; proxy_set_header Host $http_host;\n"
        "location / { proxy_pass http://storefront_pod_$storefront_pod; } } }\n"
    )
    return [str(NGINX), "-c", str(directory / "conf")]


def caddy_command(directory: Path, text: str, port: int) -> list[str]:
    (directory / "map").write_text(text)
    (directory / "conf").write_text(
        "{\n\tadmin off\n\tauto_https off\n\tpersist_config off\n}\n"
        f"import {directory}/map\nhttp://:{port} {{\n\tbind 127.0.0.1\n\timport storefront_pods\n}}\n"
    )
    return [str(CADDY), "run", "--config", str(directory / "conf"), "--adapter", "caddyfile"]


PROXIES = {"nginx": (NGINX, nginx.render, nginx_command), "caddy": (CADDY, caddy.render, caddy_command)}


@pytest.fixture(scope="module", params=PROXIES)
def proxy(request, pods, tmp_path_factory) -> Iterator[int]:
    """The port of a proxy with the map."""
    program, render, command_of = PROXIES[request.param]
    if not program:
        pytest.skip(f"{request.param} is not installed")
    directory, port = tmp_path_factory.mktemp("proxy"), free_port()
    text = render(pods, routes(pods, PLACES), secure_host="secure.test")
    homes = {"XDG_DATA_HOME": str(directory), "XDG_CONFIG_HOME": str(directory)}
    with (directory / "output").open("wb") as output:
        process = subprocess.Popen(
            command_of(directory, text, port), env=os.environ | homes, stdout=output, stderr=output
        )
    try:
        wait_until(lambda: is_listening(port), what=request.param, process=process)
        yield port
    finally:
        process.terminate()
        process.wait()


@pytest.mark.parametrize(("host", "path", "own", "bearer", "pod"), REQUESTS)
def test_finds_the_pod(proxy, host, path, own, bearer, pod):
    given = {"Host": host, "X-Shop-Access-Token": own, "Authorization": bearer}
    headers = {name: value for name, value in given.items() if value}
    answer = requests.get(f"http://127.0.0.1:{proxy}{path}", headers=headers, timeout=60)
    assert answer.headers["X-Number"] == str(pod)
