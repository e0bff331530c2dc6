"""Two pods on PostgreSQL servers of their own, between which shops can be moved, and runs of `storefront moveshop`."""

import json
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.test import override_settings

from storefront.pods.deployment import read_pods
from storefront.server.moving.moving import Moved, opened_move
from storefront.server.moving.tables import OWN
from tests.pods.deployments import POD, ROOT, SECRET_KEY, make_shop, output
from tests.server.clusters import cluster, programs
from tests.server.programs import PATIENCE, STOREFRONT, clean_environment, free_port, storefront

SHOPS = """
import json
from tests.catalogue.factories import make_product
from tests.shops.factories import make_shop, make_token
made = []
for domain in {domains}:
    shop = make_shop(domain)
    mug = make_product(shop, name="Mug", slug="mug", stock_qty=100)
    made.append({{"domain": domain, "shop": shop.pk, "mug": mug.pk, "token": make_token(shop)}})
print(json.dumps(made))
"""
SETTINGS = {
    "wal_level": "logical",
    "max_replication_slots": "20",
    "max_wal_senders": "20",
    # For several moves at once.
    "max_logical_replication_workers": "12",
    "max_worker_processes": "16",
}


class Pods:
    """`environments` and `urls` of the databases, by the pods' numbers; `listed` is the pods file."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.listed = directory, directory / "pods.toml"
        self.environments: dict[int, dict[str, str]] = {}
        self.urls: dict[int, str] = {}
        self.ports = {0: free_port(), POD: free_port()}

    def add(self, number: int, url: str, migrated: dict[str, str]) -> None:
        folder = self.directory / f"pod{number}"
        folder.mkdir()
        shutil.copytree(Path(migrated["STOREFRONT_DATA_DIR"]) / "static", folder / "static")
        self.urls[number] = url
        self.environments[number] = {
            "STOREFRONT_DATA_DIR": str(folder),
            "DATABASE_URL": url,
            "STOREFRONT_POD": str(number),
            "PYTHONPATH": str(ROOT),
            "SECRET_KEY": SECRET_KEY,
        }
        output("migrate", "--verbosity=0", **self.environments[number])
        with self.listed.open("a") as file:
            file.write(
                f'[[pod]]\nnumber = {number}\nupstream = ["127.0.0.1:{self.ports[number]}"]\ndatabase = "{url}"\n'
            )

    def make_shop(self, number: int, domain: str, **given: str) -> dict[str, Any]:
        return make_shop(self.environments[number], domain, **given)

    def make_shops(self, number: int, domains: list[str]) -> list[dict[str, Any]]:
        """Make several shops by one program, each with a product and a token."""
        script = SHOPS.format(domains=domains)
        return json.loads(output("shell", "--no-imports", "-c", script, **self.environments[number]))

    def shell(self, number: int, script: str, **changed: str) -> str:
        """What the script prints that is run in this pod, with these changed variables."""
        return output("shell", "--no-imports", "-c", script, **self.environments[number] | changed).strip()

    def ask(self, number: int, statement: str, parameters: list[Any] | None = None) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.urls[number], autocommit=True) as connection:
            found = connection.execute(statement, parameters)
            return found.fetchall() if found.description else []

    def value(self, number: int, statement: str, parameters: list[Any] | None = None) -> Any:
        return self.ask(number, statement, parameters)[0][0]

    def move(self, domain: str, to: int, *arguments: str) -> subprocess.CompletedProcess[str]:
        return storefront(*self._command(domain, to, *arguments), **self.environments[0])

    def move_here(self, domain: str, to: int, at: Mapping[str, Callable[[], Any]]) -> tuple[Moved, list[str]]:
        """Move the shop in this process, and call `at`'s functions as soon as a line begins so. Returns all lines, too.
        A function that raises interrupts the move."""
        lines: list[str] = []

        def progress(line: str) -> None:
            lines.append(line)
            for beginning, call in at.items():
                if line.startswith(beginning):
                    call()

        # Sessions are signed with it.
        with (
            override_settings(SECRET_KEY=SECRET_KEY),
            opened_move(read_pods(self.listed), domain, to, progress) as move,
        ):
            return move.forward(), lines

    def finish(self) -> None:
        output("moveshop", "--pods", str(self.listed), "--finish", **self.environments[0])

    def move_killed_at(self, step: str, domain: str, to: int, *arguments: str) -> bool:
        """Run the command, and kill it as soon as it writes that it begins this step. Returns False if it never does,
        which is so for a step that an earlier run has ended."""
        process = subprocess.Popen(
            [STOREFRONT, *self._command(domain, to, *arguments)],
            env=clean_environment(**self.environments[0]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr
        try:
            return any(line.startswith(f"step {step}:") for line in process.stderr)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(PATIENCE)
            process.stderr.close()

    def _command(self, domain: str, to: int, *arguments: str) -> list[str]:
        return ["moveshop", "--pods", str(self.listed), "--shop", domain, "--to", str(to), *arguments]

    def leftovers(self) -> dict[str, int]:
        """What a move needs while it runs, in both pods: there must be none of it afterwards."""
        counts = {
            "slots": "pg_replication_slots",
            "publications": "pg_publication",
            "subscriptions": "pg_subscription",
            "identities": "pg_class WHERE relreplident = 'f'",
            "triggers": "pg_trigger WHERE tgname LIKE 'aa_moving_%'",
            "moves": "pods_shopmove",
            "held tasks": "django_tasks_database_dbtaskresult WHERE status = 'MOVING'",
        }
        return {
            what: count
            for what, rows in counts.items()
            if (count := sum(self.value(number, f"SELECT count(*) FROM {rows}") for number in self.urls))
        }

    def rows_of(self, number: int, shop: int) -> dict[str, int]:
        """The number of the shop's rows in each table of the pod that has some, but for what is the pod's own."""
        own = [table._meta.db_table for table in OWN]
        tables = self.ask(
            number,
            "SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid WHERE attname = 'shop_id'"
            " AND relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition"
            " AND relname <> ALL (%s) ORDER BY 1",
            [own],
        )
        counts = {
            table: self.value(number, f"SELECT count(*) FROM {table} WHERE shop_id = %s", [shop]) for (table,) in tables
        }
        return {table: count for table, count in counts.items() if count}


@contextmanager
def movable_pods(directory: Path, migrated: dict[str, str]) -> Iterator[Pods]:
    found = programs()
    if found is None:
        pytest.skip("PostgreSQL's programs are not installed")
    pods = Pods(directory)
    with ExitStack() as stack:
        for number in (0, POD):
            server = stack.enter_context(cluster(found, migrated["DATABASE_URL"], **SETTINGS))
            pods.add(number, server.url, migrated)
        yield pods
