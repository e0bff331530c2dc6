import sqlite3
from collections.abc import Iterator

from django.core.checks import Tags, run_checks
from django.db import connection

from storefront.kit.dialect import IS_POSTGRESQL
from storefront.server.doctor.findings import Finding, State
from storefront.server.partitions import DIVIDED
from storefront.server.readiness import count_pending_migrations

CHECK = "database"
# The oldest major version of PostgreSQL that is supported, in the form of `server_version_num`.
MIN_POSTGRESQL = 150_000
NO_PARTITION = "See that a worker runs and that the clock is right; the rows are deleted when they are old."


def look() -> Iterator[Finding]:
    """Whether the database answers, is new enough, is migrated, and has its triggers."""
    connection.ensure_connection()
    if IS_POSTGRESQL:
        name, number = server_version()
        if number < MIN_POSTGRESQL:
            oldest = MIN_POSTGRESQL // 10_000
            yield Finding(CHECK, State.MISSING, f"{name} is too old.", f"Use PostgreSQL {oldest} or newer.")
            return
    else:
        name = f"SQLite {sqlite3.sqlite_version}"
    if pending := count_pending_migrations():
        yield Finding(CHECK, State.MISSING, f"{pending} migrations wait.", "Run storefront migrate.")
        return
    problems = run_checks(tags=[Tags.database], databases=[connection.alias])
    for problem in problems:
        yield Finding(CHECK, State.MISSING, str(problem.msg), str(problem.hint or ""))
    unfitting = [each.default for each in DIVIDED if each.has_unfitting()]
    if unfitting:
        yield Finding(
            CHECK, State.WARNING, f"Rows have no partition of their time: {', '.join(unfitting)}.", NO_PARTITION
        )
    if not problems:
        yield Finding(CHECK, State.OK, f"{name} answers, and all migrations are applied.")


def server_version() -> tuple[str, int]:
    """The version of the PostgreSQL server for people, and as a number such as 150013."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version'), current_setting('server_version_num')::int")
        text, number = cursor.fetchone()
    return f"PostgreSQL {text.partition(' ')[0]}", number
