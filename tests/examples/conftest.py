"""Runs the sample app as a program, with a real server, its worker and two shops."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.server.programs import clean_environment, free_port, is_listening, running, storefront, wait_until

APP = Path(__file__).parents[2] / "examples" / "app"
SCOPES = "read_shop,read_orders,write_extensions,write_script_tags,write_webhooks"
# Two shops with a mug in each, made by one program rather than four.
STOCK = """
from storefront.catalogue.actions import create_product
from storefront.kit import clock
from storefront.staff.actions import create_shop
for domain in ("localhost", "127.0.0.1"):
    url = f"http://{{domain}}:{port}"
    shop = create_shop(domain=domain, name=f"Shop {{domain}}", base_url=url, now=clock.now())
    create_product(shop=shop, name="Mug", price="9.50", status="active", stock_qty=5, now=clock.now())
"""


class Street:
    """A server with two shops and a mug in each, and the registered sample app on its own port."""

    def __init__(self, environment: dict[str, str], directory: Path) -> None:
        self.environment = environment | {"STOREFRONT_ALLOW_PRIVATE_CALLBACKS": "1"}
        self.directory = directory
        self.port, self.app_port = free_port(), free_port()
        self.url, self.app_url = f"http://localhost:{self.port}", f"http://localhost:{self.app_port}"
        self.file = directory / "app.sqlite3"
        self.running = ExitStack()
        self.process: subprocess.Popen | None = None

    def open(self) -> None:
        self.command("shell", "--no-imports", "-c", STOCK.format(port=self.port))
        given = ["--name", "Gift wrapping", "--slug", "gifts", "--install-url", f"{self.app_url}/install"]
        self.secret = json.loads(self.command("createapp", *given, "--scopes", SCOPES))["secret"]
        log = self.directory / "serve.log"
        serve = running("serve", "--port", str(self.port), "--threads", "4", log=log, **self.environment)
        process = self.running.enter_context(serve)
        wait_until(lambda: is_listening(self.port), process=process, what="the server")
        self.start_app()

    def command(self, *arguments: str) -> str:
        done = storefront(*arguments, **self.environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def flask(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "flask", "--app", str(APP / "app.py"), *arguments]

    @property
    def app_environment(self) -> dict[str, str]:
        # Both shops are the same server here, which tells them apart by the host that it is asked for.
        given = {"APP_SECRET": self.secret, "APP_URL": self.app_url, "DATABASE": str(self.file)}
        return clean_environment(**given, SHOP_URL=f"http://{{domain}}:{self.port}")

    def start_app(self) -> None:
        log = self.running.enter_context((self.directory / "app.log").open("ab"))
        command = self.flask("run", "--port", str(self.app_port))
        self.process = subprocess.Popen(command, env=self.app_environment, stdout=log, stderr=log)
        wait_until(lambda: is_listening(self.app_port), process=self.process, what="the app")

    def stop_app(self) -> None:
        if self.process:
            self.process.terminate()
            self.process.wait(10)
            self.process = None

    def catch_up(self) -> str:
        """The app's output when it reads the feed."""
        command = self.flask("catch-up")
        done = subprocess.run(command, env=self.app_environment, capture_output=True, text=True, timeout=30, check=True)
        return done.stderr

    def install(self, shop: str = "localhost") -> str:
        """Install the app, and return its token after the app has registered its webhooks."""
        token = self.command("installapp", "--shop", shop, "--app", "gifts")
        wait_until(lambda: len(self.listed("webhooks", token)) == 3, what="the app's registrations", seconds=60)
        return token

    def uninstall(self, shop: str = "localhost") -> None:
        self.command("uninstallapp", "--shop", shop, "--app", "gifts")

    def listed(self, what: str, token: str) -> list[dict[str, Any]]:
        answer = self.call("GET", f"/{what}", token)
        return answer.json()[what.replace("-", "_")]

    def call(self, method: str, path: str, token: str, body: Any = None) -> requests.Response:
        headers = {"X-Shop-Access-Token": token}
        return requests.request(method, f"{self.url}/api/apps{path}", json=body, headers=headers, timeout=60)

    def kept(self, query: str) -> list[tuple]:
        """Rows of the app's database."""
        with closing(sqlite3.connect(self.file)) as connection:
            return connection.execute(query).fetchall()

    def wait(self, condition: Callable[[], Any], what: str) -> None:
        wait_until(condition, what=what, process=self.process, seconds=60)


@pytest.fixture
def shops(deployment, tmp_path) -> Iterator[Street]:
    yield from _opened(Street(deployment, tmp_path))


@pytest.fixture
def shops_apart(deployment, tmp_path) -> Iterator[Street]:
    """The admin and the shops' secure pages have their own hosts, so that apps' scripts run."""
    street = Street(deployment, tmp_path)
    hosts = {"ADMIN": f"admin.localhost:{street.port}", "SECURE": f"secure.localhost:{street.port}"}
    street.environment |= {f"STOREFRONT_{name}_HOST": host for name, host in hosts.items()}
    yield from _opened(street)


def _opened(street: Street) -> Iterator[Street]:
    with street.running:
        try:
            street.open()
            yield street
        finally:
            street.stop_app()
