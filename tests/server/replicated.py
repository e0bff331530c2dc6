"""A primary and a streaming replica, with web processes that read from it."""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.server.clusters import Cluster, programs
from tests.server.programs import free_port, is_listening, running, storefront, wait_until

ROOT = Path(__file__).parents[2]
# Two shops, each with a mug, a token and an app.
SET_UP = """
import json
from storefront.server.readiness import collect_static_files
from tests.catalogue.factories import make_product
from tests.factories.apps import install
from tests.shops.factories import make_shop, make_token
collect_static_files()
found = []
for domain in ("localhost", "other.localhost"):
    shop = make_shop(domain, base_url=f"http://{domain}")
    mug = make_product(shop, "Mug", stock_qty=100)
    app = install(shop, "read_products", "write_products", "read_orders", "write_orders")
    found.append({"id": shop.pk, "mug": mug.pk, "token": make_token(shop), "app": app.token})
print(json.dumps(found))
"""


class Replicated:
    """`shops` are two, with `mug`, `token` and `app`. `environment` is that of programs which read from the replica."""

    primary: Cluster
    replica: Cluster
    shops: list[dict[str, Any]]

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.environment = {"STOREFRONT_DATA_DIR": str(directory / "data"), "PYTHONPATH": str(ROOT)}

    def shell(self, script: str, **environment: str) -> Any:
        done = storefront("shell", "--no-imports", "-c", script, **self.environment | environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def pause(self) -> None:
        """Let the replica receive the log, and not replay it."""
        self.replica.execute("SELECT pg_wal_replay_pause()")
        wait_until(
            lambda: self.replica.execute("SELECT pg_get_wal_replay_pause_state()") == [("paused",)], what="the pause"
        )

    def resume(self) -> None:
        self.replica.execute("SELECT pg_wal_replay_resume()")

    def catch_up(self) -> None:
        """Wait until the replica has all that is written now."""
        ((end,),) = self.primary.execute("SELECT pg_current_wal_insert_lsn()::text")
        wait_until(
            lambda: self.replica.execute(f"SELECT pg_last_wal_replay_lsn() >= '{end}'") == [(True,)], what="the replay"
        )


class Web:
    """A web process with its figures."""

    def __init__(self, port: int, figures: int) -> None:
        self.port, self.figures_port = port, figures

    def call(self, path: str, token: str, data: dict | None = None, method: str | None = None) -> Any:
        """The JSON of the response, which must be a success."""
        body = None if data is None else json.dumps(data).encode()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        asked = Request(f"http://127.0.0.1:{self.port}{path}", body, headers, method=method)
        try:
            with urlopen(asked, timeout=30) as response:
                return json.loads(response.read())
        except HTTPError as error:
            raise AssertionError(f"{error.code} for {path}: {error.read().decode()}") from None

    def name(self, shop: dict[str, Any]) -> str:
        """The mug's name, as the public catalogue has it."""
        return self.call(f"/api/v1/products/{shop['mug']}", shop["token"])["data"]["name"]

    def rename(self, shop: dict[str, Any], name: str) -> None:
        self.call(f"/api/apps/products/{shop['mug']}", shop["app"], {"name": name}, "PATCH")

    def figure(self, name: str) -> float:
        """A figure's sum over its labels."""
        with urlopen(f"http://127.0.0.1:{self.figures_port}/metrics", timeout=30) as response:
            text = response.read().decode()
        found = re.findall(rf"^{name}(?:\{{[^}}]*\}})? (\S+)$", text, re.MULTILINE)
        return sum(map(float, found))

    def reads(self) -> float:
        return self.figure("storefront_replica_reads_total")

    def is_reading(self) -> bool:
        return self.figure("storefront_replicas_well") == 1


@contextmanager
def server_in(directory: Path) -> Iterator[Cluster]:
    """A server that is to be made in this new folder, and is killed at the end."""
    found = programs()
    assert found, "PostgreSQL's programs are not installed"
    directory.mkdir()
    server = Cluster(directory, found)
    if os.geteuid() == 0:
        shutil.chown(directory, server.user)
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def replicated() -> Iterator[Replicated]:
    """Two servers with their database, in a folder that is removed at the end."""
    with ExitStack() as stack:
        directory = Path(tempfile.mkdtemp(prefix="storefront-replicas-"))
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        directory.chmod(0o755)
        shop = Replicated(directory)
        shop.primary = stack.enter_context(server_in(directory / "primary"))
        shop.replica = stack.enter_context(server_in(directory / "replica"))
        shop.primary.make_empty()
        shop.environment["DATABASE_URL"] = shop.primary.url
        done = storefront("migrate", "--verbosity=0", **shop.environment)
        assert done.returncode == 0, done.stderr
        shop.shops = shop.shell(SET_UP)
        shop.replica.make_replica_of(shop.primary)
        shop.catch_up()
        shop.environment["DATABASE_REPLICA_URLS"] = shop.replica.url
        yield shop


@contextmanager
def web_process(shop: Replicated, **environment: str) -> Iterator[Web]:
    """A web process that reads from the replica."""
    web = Web(free_port(), free_port())
    given = shop.environment | {"STOREFRONT_METRICS": str(web.figures_port)} | environment
    log = shop.directory / f"web-{web.port}.log"
    with running("serve", "--port", str(web.port), "--workers", "1", "--no-worker", log=log, **given) as process:
        wait_until(lambda: is_listening(web.port), process=process, what="the web process")
        wait_until(lambda: is_listening(web.figures_port), process=process, what="the figures")
        wait_until(web.is_reading, process=process, what="reading from the replica")
        yield web
