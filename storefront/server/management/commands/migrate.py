import sys
from typing import Any

from django.core.management.commands import migrate
from django.db import connections

from storefront.kit import clock
from storefront.kit.dialect import IS_POSTGRESQL
from storefront.kit.direct import make_direct
from storefront.pods import own
from storefront.pods.registry import is_joined
from storefront.pods.registry_join import renew_triggers
from storefront.server.baseline import adopt_database
from storefront.server.database_wait import wait_for_database
from storefront.server.migrating import only_migration
from storefront.server.migration_state import Executor
from storefront.server.partitions import add_partitions

# Django's command has no other place to name it.
migrate.MigrationExecutor = Executor  # type: ignore[attr-defined]


class Command(migrate.Command):
    """Django's own command, with its messages on stderr as in all our commands, and for one process at a time."""

    help = "Update the database schema. Run it once at the start and after each update."

    def execute(self, *args: Any, **options: Any) -> str | None:
        options.setdefault("stdout", sys.stderr)
        make_direct(connections[options["database"]])
        # Before Django's checks, which ask the database. A reload only asks if a start would succeed now.
        if not options["check_unapplied"]:
            wait_for_database(connections[options["database"]])
        return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        with only_migration(connection, self._say_waiting):
            adopt_database(connection)
            if IS_POSTGRESQL:
                own.require_free_number(connection)
            super().handle(*args, **options)
            if IS_POSTGRESQL and not (options["plan"] or options["check_unapplied"]):
                own.claim_ids(connection)
                add_partitions(now=clock.now())
                if is_joined(using=connection.alias):
                    renew_triggers()

    def _say_waiting(self) -> None:
        self.stderr.write("Waiting for another process that is migrating this database.")
