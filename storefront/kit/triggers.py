"""Database triggers: created after `migrate`, and compared with their definitions by a system check.

They are created after all migrations, not by one of them, so that they can use columns that a later migration adds. If
nothing is missing, this costs `migrate` two queries. If a trigger is missing or differs, the whole set is created
again, and the data that it maintains is rebuilt, since rows may have been written without it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.apps import AppConfig
from django.core import checks
from django.db import connections, router, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.models.signals import post_migrate

from storefront.kit.dialect import dialect

_CREATE = re.compile(r"CREATE (TRIGGER|FUNCTION|VIEW|TABLE) (\w+)")


@dataclass(frozen=True)
class TriggerSet:
    """The triggers of one app, with the functions, views and tables that they use.

    `app_label` is the app whose tables they watch; `consequence` is a clause about the harm without them. `statements`
    returns the statements that create them; their names begin with the app's label. `refill` rebuilds the data that
    they maintain, while they are removed. It takes an object with `connection` and `execute`, such as a schema editor.
    """

    app_label: str
    consequence: str
    statements: Callable[[], list[str]]
    refill: Callable[[Any], None] = lambda editor: None

    def missing(self, connection: Any) -> list[str]:
        """Names, such as `trigger a_b`, of those that are missing or differ, in the order of their creation."""
        existing = {name: _normal(sql) for name, sql in dialect.existing_triggers(connection).items()}
        return [name for name, sql in self._expected().items() if existing.get(name) != sql]

    def restore(self, connection: Any) -> None:
        """Create all of them again and rebuild the data that they maintain. Writers wait meanwhile."""
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            editor = _Editor(connection, cursor.execute)
            self.remove(editor)
            self.refill(editor)
            for statement in self.statements():
                editor.execute(statement)

    def remove(self, editor: Any) -> None:
        """Drop them, and those that an earlier release had by other names. `editor` is as for `refill`.

        Tables that they watch, and their rows, stay.
        """
        expected = self._expected()
        for each in sorted(dialect.existing_triggers(editor.connection)):
            kind, _, name = each.partition(" ")
            is_own = each in expected or (kind in ("function", "trigger") and name.startswith(f"{self.app_label}_"))
            if is_own and (statement := dialect.dropping(kind, name)):
                editor.execute(statement)

    def _expected(self) -> dict[str, str]:
        found = {}
        for statement in self.statements():
            match = _CREATE.search(statement)
            assert match, statement
            found[f"{match[1].lower()} {match[2]}"] = _normal(statement[match.start() :])
        return found


@dataclass(frozen=True)
class _Editor:
    connection: Any
    execute: Callable[[str], Any]


def register_triggers(config: AppConfig, triggers: TriggerSet) -> None:
    """Let `migrate` restore these triggers and the database system check report them. Call it in AppConfig.ready."""

    def restore_missing(using: str, **_: Any) -> None:
        if _concerns(using, triggers) and triggers.missing(connections[using]):
            triggers.restore(connections[using])

    def check(app_configs: Any = None, databases: Sequence[str] | None = None, **_: Any) -> list[checks.CheckMessage]:
        return [problem for alias in databases or () for problem in _problems(alias, triggers)]

    post_migrate.connect(restore_missing, sender=config, weak=False, dispatch_uid=f"triggers of {triggers.app_label}")
    checks.register(check, checks.Tags.database)


def _problems(alias: str, triggers: TriggerSet) -> list[checks.CheckMessage]:
    missing = triggers.missing(connections[alias]) if _concerns(alias, triggers) else []
    if not missing:
        return []
    # A warning, since `migrate` runs the checks first and would stop at an error.
    return [
        checks.Warning(
            f"The database {alias} lacks, or has otherwise than it should: {', '.join(missing)}."
            f" Without them, {triggers.consequence}.",
            hint="Run storefront migrate; it creates them and rebuilds the data that they maintain.",
            id=f"{triggers.app_label}.W001",
        )
    ]


def _concerns(alias: str, triggers: TriggerSet) -> bool:
    """Returns True if the app's tables belong in this database and all of its migrations are applied."""
    if not router.allow_migrate(alias, triggers.app_label):
        return False
    loader = MigrationLoader(connections[alias])
    return all(leaf in loader.applied_migrations for leaf in loader.graph.leaf_nodes(triggers.app_label))


def _normal(sql: str) -> str:
    """Normalize a statement, so that PostgreSQL's definition of an object equals the statement that created it.

    Of a function, only the body is compared; of a trigger, all except its condition, which PostgreSQL rewrites.
    """
    parts = re.split(r"\$\w*\$", sql)
    text = parts[1] if len(parts) > 1 else re.sub(r" WHEN \(.*\)\s+EXECUTE", " WHEN EXECUTE", sql, flags=re.DOTALL)
    return " ".join(text.split())
