"""Pods 0 and 5 on PostgreSQL servers of their own, of which pod 5 can join the registry of pod 0."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import psycopg
from django.test import override_settings

from storefront.installations.models import APP_SECRET
from storefront.kit import sealing
from storefront.pods.registry_source import publish
from tests.pods.deployments import POD, ROOT, SECRET_KEY, output
from tests.server.clusters import Cluster, cluster
from tests.server.programs import storefront, wait_until

HOME = "http://admin0.test"
SETTINGS = {"wal_level": "logical", "wal_retrieve_retry_interval": "200ms", "wal_receiver_timeout": "5s"}


SLOT = f"storefront_registry_{POD}"
KEY = b"twenty bytes of key!"
PERSON = f"""
from storefront.kit import clock
from storefront.shops.models import Authenticator, User
from storefront.staff import second_factor
from tests.staff.authenticators import code_of
user = User.objects.create_user("anna", email="anna@example.com", password="lighthouse-1", is_staff=True)
second_factor.add_authenticator(user=user, key={KEY!r}, code=code_of({KEY!r}), name="Phone", now=clock.now())
Authenticator.objects.update(last_step=-1)
print(user.pk)
"""
# Foreign keys to rows of the registry that are not there, by table and column.
DANGLING = """
from django.apps import apps
from django.db import connection
from storefront.pods.registry import TABLES
found = []
for model in apps.get_models(include_auto_created=True):
    for field in model._meta.concrete_fields:
        if field.is_relation and field.remote_field.model._meta.db_table in TABLES:
            there = field.remote_field.model._meta
            with connection.cursor() as cursor:
                cursor.execute(
                    f'SELECT count(*) FROM "{model._meta.db_table}" a LEFT JOIN "{there.db_table}" b'
                    f' ON a."{field.column}" = b."{there.pk.column}"'
                    f' WHERE a."{field.column}" IS NOT NULL AND b."{there.pk.column}" IS NULL'
                )
                if cursor.fetchone()[0]:
                    found.append(f"{model._meta.db_table}.{field.column}")
print(found)
"""


class Pod:
    """`cluster` is its server, `environment` what its commands need."""

    def __init__(self, number: int, server: Cluster, directory: Path, static: Path) -> None:
        self.number, self.cluster = number, server
        directory.mkdir()
        shutil.copytree(static, directory / "static")
        self.environment = {
            "STOREFRONT_POD": str(number),
            "STOREFRONT_DATA_DIR": str(directory),
            "STOREFRONT_ALLOW_PRIVATE_CALLBACKS": "1",
            "STOREFRONT_STAFF_SECOND_FACTOR": "none",
            "DATABASE_URL": server.url,
            "PYTHONPATH": str(ROOT),
            "SECRET_KEY": SECRET_KEY,
        }
        if number:
            self.environment["STOREFRONT_REGISTRY_URL"] = HOME

    def run(self, *arguments: str, **changed: str) -> CompletedProcess[str]:
        done = storefront(*arguments, **self.environment | changed)
        assert "Traceback" not in done.stderr
        return done

    def output(self, *arguments: str) -> str:
        return output(*arguments, **self.environment)

    def shell(self, script: str) -> str:
        return self.output("shell", "--no-imports", "-c", script).strip()

    def sql(self, query: str, *given: Any) -> list[Any]:
        with psycopg.connect(self.cluster.url, autocommit=True) as database:
            found = database.execute(query, given)
            return found.fetchall() if found.description else []

    def value(self, query: str, *given: Any) -> Any:
        return next((value for (value,) in self.sql(query, *given)), None)

    def wait_for(self, query: str, wanted: Any, *given: Any) -> None:
        """Wait until a query has this value."""
        wait_until(lambda: self.value(query, *given) == wanted, what=f"{query}: {wanted}", seconds=60)

    def doctor(self) -> str:
        """The lines of the doctor about the registry."""
        done = self.run("doctor")
        return "\n".join(line for line in done.stdout.splitlines() if " registry " in line)


class Registry:
    def __init__(self, first: Pod, second: Pod) -> None:
        self.first, self.second = first, second

    def join(self, *options: str, source: str | None = None, **changed: str) -> CompletedProcess[str]:
        given = ("registry", "join", "--from", source or self.first.cluster.url, *options)
        return self.second.run(*given, **changed)

    def reset(self) -> None:
        """Both pods as they were made: without rows, publication, slot and subscription."""
        for pod in (self.second, self.first):
            if pod.value("SELECT count(*) FROM pg_subscription"):
                pod.sql("ALTER SUBSCRIPTION storefront_registry DISABLE")
                pod.sql("ALTER SUBSCRIPTION storefront_registry SET (slot_name = NONE)")
                pod.sql("DROP SUBSCRIPTION storefront_registry")
            for name in ("read", "account", "app", "factor"):
                pod.sql(f"DROP FUNCTION IF EXISTS pods_registry_{name}() CASCADE")
            pod.sql("DROP PUBLICATION IF EXISTS storefront_registry")
            pod.sql("TRUNCATE shops_user, apps_app, shops_shop, pods_registrybeat RESTART IDENTITY CASCADE")
        free = "SELECT count(*) FROM pg_replication_slots WHERE active"
        self.first.wait_for(free, 0)
        self.first.sql("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots")
        with psycopg.connect(self.first.cluster.url) as database:
            publish(database.cursor())


def create_app(registry: "Registry", slug: str = "notes") -> None:
    """Register an app in pod 0, as `createapp` does, in no time."""
    with override_settings(SECRET_KEY=SECRET_KEY):
        secret = sealing.seal(b"whsec_" + slug.encode(), purpose=APP_SECRET)
    registry.first.sql(
        "INSERT INTO apps_app (name, slug, contact, description, install_url, scopes, sealed_secret, is_active,"
        " created_at, updated_at)"
        " VALUES (%s, %s, '', '', 'http://localhost:9/', '[\"read_shop\"]', %s, true, now(), now())",
        slug,
        slug,
        secret,
    )


def create_shop(registry: Registry, domain: str, port: int = 80) -> None:
    registry.second.output("createshop", "--domain", domain, "--name", domain, "--base-url", f"http://{domain}:{port}")


@contextmanager
def two_servers(directory: Path, migrated: dict[str, str], programs: Path) -> Iterator[Registry]:
    static = Path(migrated["STOREFRONT_DATA_DIR"]) / "static"
    with ExitStack() as stack:
        pods = []
        for number in (0, POD):
            server = stack.enter_context(cluster(programs, migrated["DATABASE_URL"], **SETTINGS))
            pods.append(Pod(number, server, directory / f"pod{number}", static))
        # An empty database of pod 0 becomes another one's.
        pods[1].output("migrate", "--verbosity=0")
        yield Registry(*pods)
        with suppress(psycopg.Error):
            pods[1].sql("ALTER SUBSCRIPTION storefront_registry DISABLE")
