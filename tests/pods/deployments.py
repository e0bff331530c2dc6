"""Two pods of one deployment, each with a PostgreSQL database and a web process, and nginx in front of them."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from deploy.local.files import nginx_site
from tests.databases import database
from tests.server.programs import clean_environment, free_port, is_listening, running, storefront, wait_until

ROOT = Path(__file__).parents[2]
NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
POD = 5
HOSTS = {"STOREFRONT_ADMIN_HOST": "admin{}.test", "STOREFRONT_SECURE_HOST": "secure.test"}
SECRET_KEY = "the one key of all pods of a deployment"
SHOP = """
import json
from tests.catalogue.factories import make_product
from tests.shops.factories import make_shop, make_token
shop = make_shop("DOMAIN", name="DOMAIN", base_url="BASE")
mug = make_product(shop, name="Mug of DOMAIN", slug="mug", stock_qty=100)
print(json.dumps({"shop": shop.pk, "mug": mug.pk, "token": make_token(shop)}))
"""


def output(*arguments: str, **environment: str) -> str:
    done = storefront(*arguments, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def make_shop(environment: dict[str, str], domain: str, base_url: str = "") -> dict[str, Any]:
    script = SHOP.replace("DOMAIN", domain).replace("BASE", base_url or f"http://{domain}")
    return json.loads(output("shell", "--no-imports", "-c", script, **environment))


@contextmanager
def new_pod(directory: Path, number: int, migrated: dict[str, str]) -> Iterator[dict[str, str]]:
    """Environment variables of a database that was migrated as this pod's."""
    directory.mkdir()
    shutil.copytree(Path(migrated["STOREFRONT_DATA_DIR"]) / "static", directory / "static")
    with database(directory) as environment:
        environment |= {"STOREFRONT_POD": str(number), "PYTHONPATH": str(ROOT), "SECRET_KEY": SECRET_KEY}
        output("migrate", "--verbosity=0", **environment)
        yield environment


class Deployment:
    """`first` and `second` are the shops of pods 0 and 5, `pods` the environments of the pods by number."""

    def __init__(self, directory: Path, pods: dict[int, dict[str, str]], ports: dict[int, int]) -> None:
        self.directory, self.pods, self.ports, self.port = directory, pods, ports, free_port()
        self.map, self.listed, self.log = (directory / name for name in ("pods.map", "pods.toml", "access.log"))
        self.site = directory / "nginx.conf"
        self.first = make_shop(pods[0], "first.test")
        self.second = make_shop(pods[POD], "second.test")
        self.listed.write_text("".join(self._listed(number) for number in pods))

    def _listed(self, number: int) -> str:
        return (
            f'[[pod]]\nnumber = {number}\nupstream = ["127.0.0.1:{self.ports[number]}"]\n'
            f'database = "{self.pods[number]["DATABASE_URL"]}"\nadmin_host = "admin{number}.test"\n'
        )

    def podmap(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        given = ("podmap", "--pods", str(self.listed), "--format", "nginx", *arguments)
        return storefront(*given, **self.pods[0])

    def publish(self) -> None:
        """Write the map, and have nginx load it."""
        nginx = f"{NGINX} -c {self.site}"
        done = self.podmap("--output", str(self.map), "--test", f"{nginx} -t", "--reload", f"{nginx} -s reload")
        assert done.returncode == 0, done.stderr

    def write_site(self) -> None:
        """The site that we ship, on a port of this machine and without TLS."""
        given = {"port": self.port, "plain_port": free_port(), "podmap": self.map, "access_log": self.log}
        self.site.write_text(nginx_site(self.directory, **given))

    def ask(self, host: str, path: str, method: str = "GET", **given: Any) -> requests.Response:
        headers = {"Host": host, "Accept": "text/html"} | given.pop("headers", {})
        url = f"http://127.0.0.1:{self.port}{path}"
        return requests.request(method, url, headers=headers, timeout=60, allow_redirects=False, **given)

    def asked(self) -> str:
        """The line of the last request in nginx's log."""
        return self.log.read_text().splitlines()[-1]


@contextmanager
def two_pods(directory: Path, migrated: dict[str, str]) -> Iterator[Deployment]:
    if not NGINX:
        pytest.skip("nginx is not installed")
    with ExitStack() as stack:
        pods, ports = {}, {}
        for number in (0, POD):
            environment = stack.enter_context(new_pod(directory / f"pod{number}", number, migrated))
            environment |= {name: value.format(number) for name, value in HOSTS.items()}
            port = ports[number] = free_port()
            serve = ("serve", "--port", str(port), "--workers", "1", "--no-worker")
            log = directory / f"pod{number}.log"
            process = stack.enter_context(running(*serve, log=log, **environment))
            wait_until(lambda port=port: is_listening(port), what=f"pod {number}", process=process)
            pods[number] = environment
        found = Deployment(directory, pods, ports)
        found.write_site()
        found.map.write_text(found.podmap().stdout)
        process = subprocess.Popen([NGINX, "-c", found.site], env=clean_environment(), stdin=subprocess.DEVNULL)
        stack.callback(process.wait)
        stack.callback(process.terminate)
        wait_until(lambda: is_listening(found.port), what="nginx", process=process)
        yield found
