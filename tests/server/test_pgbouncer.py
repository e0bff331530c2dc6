"""Behind a PgBouncer that pools transactions, with DATABASE_DIRECT_URL past it."""

import json
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from django.db import connection

from storefront.kit.direct import make_direct
from tests.databases import succeed
from tests.receiver import receiving
from tests.server.bouncers import pooled
from tests.server.merchants import SIGN_IN, Merchant
from tests.server.programs import free_port, running, storefront, wait_until
from tests.server.test_edge_processes import two_servers
from tests.server.test_kills import Buyer

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="PgBouncer is for PostgreSQL"),
]

SET_UP = """
import json, pathlib
from tests.factories.apps import install
from tests.shops.factories import make_token
from storefront.webhooks import actions as webhooks
Shop.objects.update(domain="localhost", base_url="http://localhost:PORT")
shop = Shop.objects.get()
app = install(shop, "read_orders")
given = {"topic": "order.placed", "address": "RECEIVER", "now": clock.now()}
webhooks.register_webhook(shop=shop, installation_id=app.installation.pk, **given)
actions.update_product(shop=shop, product=mug, price="9.50", stock_qty=100, now=clock.now())
SIGN_IN
pathlib.Path("FILE").write_text(json.dumps([make_token(shop), mug.pk, session]))
"""


def variables(deployment: dict[str, str], url: str) -> dict[str, str]:
    return deployment | {
        "DATABASE_URL": url,
        "DATABASE_DIRECT_URL": deployment["DATABASE_URL"],
        "STOREFRONT_PGBOUNCER": "1",
        "STOREFRONT_ALLOW_PRIVATE_CALLBACKS": "1",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }


@pytest.fixture
def environment(deployment, tmp_path) -> Iterator[dict[str, str]]:
    with pooled(deployment["DATABASE_URL"], tmp_path) as url:
        yield variables(deployment, url)


def test_a_shop_works_and_processes_hear_each_other(environment, tmp_path):
    with receiving() as receiver, two_servers(environment) as servers:
        took = []
        for number in range(9):
            for port in servers.ports:
                servers.name(port)
            since = servers.rename(f"Mug {number}")
            took.append(servers.seconds_until(lambda port, number=number: servers.name(port) == f"Mug {number}", since))
        assert statistics.median(took[1:]) < 0.1, took

        port = servers.ports[0]
        file = tmp_path / "set-up.json"
        script = SET_UP.replace("SIGN_IN", SIGN_IN).replace("RECEIVER", receiver.url).replace("FILE", str(file))
        servers.write(f"exec({script.replace('PORT', str(port))!r})")
        token, mug, session = json.loads(file.read_text())
        with running("worker", log=tmp_path / "worker.log", **environment) as worker:
            Buyer(port, token, mug).buy("order-1")
            assert json.loads(receiver.next().body)["type"] == "order.placed"

            cup = {"price": "1.00", "status": "active"}
            lines = [json.dumps(cup | {"name": f"Cup {number}", "sku": f"C{number}"}) for number in range(700)]
            Merchant(port, session).upload_products("\n".join(lines).encode())

            def is_imported() -> bool:
                url = f"http://localhost:{servers.ports[1]}/api/v1/products"
                answer = requests.get(url, headers={"Authorization": f"Bearer {token}"}, timeout=60)
                return answer.json()["total"] == 701

            wait_until(is_imported, what="the import", process=worker)
        logs = "".join(log.read_text() for log in tmp_path.glob("*.log"))
    for sign in ("prepared statement", "Traceback", "changes_unheard", "changes_unsaid", "task_failed"):
        assert sign not in logs


def test_migrations_go_past_the_pooler(deployment):
    """Nothing listens at the pooler's address."""
    given = {"DATABASE_URL": f"postgres://postgres@127.0.0.1:{free_port()}/shop", "STOREFRONT_PGBOUNCER": "1"}
    done = storefront("migrate", **deployment | given, DATABASE_DIRECT_URL=deployment["DATABASE_URL"])
    assert (done.returncode, "No migrations to apply." in done.stderr or done.stderr) == (0, True)


def test_copies_of_shops_go_past_the_pooler(deployment, tmp_path):
    """Their transactions last for minutes, and behind it rows would be read into memory at once."""
    given = variables(deployment, f"postgres://postgres@127.0.0.1:{free_port()}/shop")
    archive = str(tmp_path / "shop.zip")
    new = ("--domain", "shop.example.com", "--name", "Shop", "--base-url", "https://shop.example.com")
    succeed("createshop", *new, environment=deployment)
    for command in (
        ("exportshop", "--shop", "shop.example.com", "--output", archive),
        ("importshop", archive, "--domain", "copy.example.com", "--base-url", "https://copy.example.com"),
    ):
        succeed(*command, environment=given)


def test_past_the_pooler_large_tables_are_read_in_parts(settings):
    behind = connection.copy()
    settings.DATABASE_DIRECT = {name: behind.settings_dict[name] for name in ("HOST", "PORT", "OPTIONS")}
    behind.settings_dict = behind.settings_dict | {"DISABLE_SERVER_SIDE_CURSORS": True}
    make_direct(behind)
    assert behind.settings_dict["DISABLE_SERVER_SIDE_CURSORS"] is False


def test_a_listener_that_is_pooled_hears_nothing_and_says_so(deployment, tmp_path):
    port, log = free_port(), tmp_path / "serve.log"
    with pooled(deployment["DATABASE_URL"], tmp_path, ignore_startup_parameters="options") as url:
        wrong = variables(deployment, url) | {"DATABASE_DIRECT_URL": url}
        line = first_unheard(port, log, wrong)
    assert line["error"] == (
        "no notification arrived within 5 s. DATABASE_DIRECT_URL must lead to PostgreSQL itself, and not to PgBouncer."
    )


def first_unheard(port: int, log: Path, environment: dict[str, str]) -> dict[str, str]:
    """The line that a web process logs when it does not hear of changes."""
    with running("serve", "--port", str(port), "--no-worker", log=log, **environment) as server:

        def answers() -> bool:
            try:
                url, headers = f"http://localhost:{port}/api/v1/products", {"Authorization": "Bearer api_unknown"}
                return requests.get(url, headers=headers, timeout=5).status_code == 401
            except requests.ConnectionError:
                return False

        wait_until(answers, what="the server", process=server)
        wait_until(lambda: "changes_unheard" in log.read_text(), what="the line", process=server)
    return next(json.loads(line) for line in log.read_text().splitlines() if '"changes_unheard"' in line)
