"""`storefront migrate`, which makes fewer models again than Django does, makes the same database."""

import subprocess
from pathlib import Path

import pytest

from tests.databases import database
from tests.server.programs import STOREFRONT, clean_environment
from tests.upgrades.databases import Database

pytestmark = [pytest.mark.any_database, pytest.mark.proof]
DJANGOS = """
from django.core.management import call_command
from django.core.management.commands import migrate
from django.db.migrations.executor import MigrationExecutor
from storefront.server.management.commands.migrate import Command
migrate.MigrationExecutor = MigrationExecutor
call_command(Command(), verbosity=0)
"""
SQLITE = "SELECT type, name, sql FROM sqlite_master ORDER BY name"
POSTGRESQL = (
    "SELECT attrelid::regclass::text, attname, attnum, atttypid::regtype::text, atttypmod, attnotnull, attidentity,"
    " pg_get_expr(adbin, adrelid) FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid"
    " LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum"
    " WHERE relnamespace = 'public'::regnamespace ORDER BY 1, 3",
    "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint"
    " WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2",
    "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
    "SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal"
    " ORDER BY 1, 2",
    "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1, 2",
)


def everything(environment: dict[str, str]) -> list:
    made = Database(Path(environment["STOREFRONT_DATA_DIR"]), environment.get("DATABASE_URL", ""))
    return [made.fetch(statement) for statement in (POSTGRESQL if made.url else [SQLITE])]


# Django's own takes its time, on a machine that may do other things meanwhile.
@pytest.mark.timeout(600)
def test_a_new_database_is_to_the_letter_as_django_makes_it(migrated, tmp_path):
    with database(tmp_path) as environment:
        done = subprocess.run(
            [STOREFRONT, "shell", "--no-imports", "-c", DJANGOS],
            env=clean_environment(**environment),
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        expected, found = everything(environment), everything(migrated)
    assert len(found[0]) > 400
    for ours, djangos in zip(found, expected, strict=True):
        assert ours == djangos
