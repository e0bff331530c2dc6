"""Joins a pod to the registry of pod 0, and leaves it.

What must never happen: the pod has half a registry, a row twice, or misses a change; a pod's own accounts are lost; a
slot that nobody reads keeps pod 0's log for ever. So a replication slot is made first, and the rows are copied as they
were at that very moment; they, the triggers and the subscription come in one transaction here. If it fails, the slot is
removed. After a kill in between, the slot is left: `doctor` names it in pod 0, and `join --again` takes it over.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from psycopg import sql

from storefront.kit.dialect import IS_POSTGRESQL
from storefront.pods import own, registry_triggers
from storefront.pods.ids import first_id
from storefront.pods.registry import PUBLICATION, SUBSCRIPTION, TABLES, where
from storefront.pods.registry_source import NotJoined, check, columns, connected, copy_rows, short

# Key of the advisory lock that keeps two from joining or leaving at once.
_LOCK = 0x7265_6769
# For the tables of accounts, which every sign-in reads.
_LOCK_TIMEOUT = "SET LOCAL lock_timeout = '30s'"
# Seconds in which pod 0 notices that a slot is no longer read.
MAX_RELEASE_SECONDS = 30.0
_SUBSCRIPTION = """
    SELECT subslotname, subenabled FROM pg_subscription WHERE subname = %s
    AND subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


def join(*, source: str, again: bool, check_keys: Callable[[], None]) -> bool:
    """Read the registry from pod 0's database at the URL `source`, which PostgreSQL stores. Returns False if this pod
    does already; then only the URL, the triggers and the list of tables are renewed.

    With `again`, all rows are copied again, such as after one of both was restored from a backup. `check_keys` is
    called with the copied rows in the transaction, and raises what ends it. Raises NotJoined, and then no row has
    changed; with `again`, the reading may have ended already, which `doctor` reports.
    """
    _require_pod()
    with _alone(), connected(source) as there:
        check(there, migrations=_migrations())
        if (present := _subscription()) and not again:
            _renew(source)
            return False
        _require_no_rows_of_its_own()
        if present:
            _drop_subscription()
        with connected(source, replication="database") as walsender, _slot(there, walsender, again=again):
            _take_over(walsender, source, check_keys)
    return True


def leave(*, source: str | None, keep_slot: bool) -> str:
    """Stop reading the registry. The rows stay, and can be changed here. Returns a sentence about a slot that remains
    in pod 0, empty if none does. `source` is the URL of pod 0's database, if not that which is stored."""
    _require_pod()
    with _alone():
        slot = _slot_name()
        url = source or _stored_url()
        _drop_subscription()
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_LOCK_TIMEOUT)
            registry_triggers.drop(cursor)
        if keep_slot or not url:
            return f"The slot {slot} in pod 0 stays."
        try:
            with connected(url) as there:
                _drop_slot(there)
        except (NotJoined, psycopg.Error) as error:
            drop = f"SELECT pg_drop_replication_slot('{slot}')"
            return f"The slot stays in pod 0, where it keeps the log. Run there: {drop}. {short(error)}."
    return ""


def renew_triggers() -> None:
    """Make the triggers of a pod that has joined those of this release, such as after `migrate`."""
    with transaction.atomic(), connection.cursor() as cursor:
        if not registry_triggers.are_current(cursor, sentence=where()):
            cursor.execute(_LOCK_TIMEOUT)
            registry_triggers.create(cursor, sentence=where())


def _require_pod() -> None:
    if not IS_POSTGRESQL or settings.POD == 0:
        raise NotJoined("This is pod 0, which has the registry. STOREFRONT_POD names the pod that joins.")
    own.require_own_pod(connection)
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        if not cursor.fetchone()[0]:
            raise NotJoined(
                "Only a superuser of PostgreSQL can subscribe. Run this once with a DATABASE_URL of one, such as"
                " postgres://postgres@host/name."
            )


@contextmanager
def _alone() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [_LOCK])
        if not cursor.fetchone()[0]:
            raise NotJoined("Another storefront registry command runs in this pod. Nothing was changed.")
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])


def _migrations() -> set[tuple[str, str]]:
    return set(MigrationRecorder(connection).applied_migrations())


def _require_no_rows_of_its_own() -> None:
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"SELECT count(*) FROM {table} WHERE id >= %s", [first_id(1)])  # noqa: S608, a constant
            if count := cursor.fetchone()[0]:
                raise NotJoined(
                    f"This pod has a registry of its own: {count} rows of {table} were made here, and would be lost."
                    " Join before the first account and app, right after storefront migrate."
                )


def _subscription() -> tuple[str | None, bool] | None:
    with connection.cursor() as cursor:
        cursor.execute(_SUBSCRIPTION, [SUBSCRIPTION])
        return cursor.fetchone()


def _renew(source: str) -> None:
    """Also after a new release, which may have tables that the registry did not have before."""
    renew_triggers()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            sql.SQL("ALTER SUBSCRIPTION {} CONNECTION {}").format(sql.Identifier(SUBSCRIPTION), sql.Literal(source))
        )
        cursor.execute(f"ALTER SUBSCRIPTION {SUBSCRIPTION} ENABLE")
    with connection.cursor() as cursor:
        # Copies tables that are new; cannot be undone, so it stands outside of the transaction.
        cursor.execute(f"ALTER SUBSCRIPTION {SUBSCRIPTION} REFRESH PUBLICATION")


def _slot_name() -> str:
    return f"{SUBSCRIPTION}_{settings.POD}"


@contextmanager
def _slot(there: Any, walsender: Any, *, again: bool) -> Iterator[None]:
    """Make the slot in pod 0, and begin a transaction of `walsender` that sees the rows as they are where it begins.
    Made before a transaction begins here: it waits for all that run on its server, which may be this one."""
    name = _slot_name()
    found = there.execute("SELECT active FROM pg_replication_slots WHERE slot_name = %s", [name]).fetchone()
    if found and not again:
        raise NotJoined(
            f"Pod 0 has the slot {name} already: a join was interrupted, or another database reads the registry as pod"
            f" {settings.POD}. If none does, run this with --again."
        )
    if found:
        _drop_slot(there)
    try:
        walsender.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        walsender.execute(f"CREATE_REPLICATION_SLOT {name} LOGICAL pgoutput (SNAPSHOT 'use')")
    except psycopg.Error as error:
        raise NotJoined(f"Pod 0 makes no slot: {short(error)}.") from None
    try:
        yield
    except BaseException:
        walsender.close()
        _drop_slot(there)
        raise


def _drop_slot(there: Any) -> None:
    """Remove the slot, once nobody reads it. Raises NotJoined if somebody goes on to."""
    name, deadline = _slot_name(), time.monotonic() + MAX_RELEASE_SECONDS
    while found := there.execute("SELECT active FROM pg_replication_slots WHERE slot_name = %s", [name]).fetchone():
        if not found[0]:
            there.execute("SELECT pg_drop_replication_slot(%s)", [name])
            return
        if time.monotonic() > deadline:
            raise NotJoined(f"Another database reads the slot {name} of pod 0.")
        time.sleep(0.1)


def _take_over(walsender: Any, source: str, check_keys: Callable[[], None]) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        _replace_rows(walsender, cursor)
        check_keys()
        registry_triggers.create(cursor, sentence=where())
        _subscribe(cursor, source)


def _replace_rows(walsender: Any, cursor: Any) -> None:
    """Make the registry's rows those of pod 0. Nobody sees half of them: who reads while they are exchanged waits."""
    cursor.execute(_LOCK_TIMEOUT)
    for table in TABLES:
        copy_rows(walsender, cursor, table)
    # As the replication writes: no foreign key and none of the ordinary triggers runs.
    cursor.execute("SET LOCAL session_replication_role = replica")
    # Rows that pod 0 no longer has go as they go by replication.
    registry_triggers.create(cursor, sentence=where())
    for table in reversed(TABLES):
        cursor.execute(f"DELETE FROM {table} WHERE id NOT IN (SELECT id FROM new_{table})")  # noqa: S608, constants
    registry_triggers.drop(cursor)
    for table in registry_triggers.FACTORS:
        # As for a factor that comes by replication.
        cursor.execute(
            f"DELETE FROM shops_staffsession WHERE user_id IN (SELECT user_id FROM new_{table}"  # noqa: S608, constants
            f" WHERE id NOT IN (SELECT id FROM {table}))"
        )
    for table in TABLES:
        names = ", ".join(f'"{name}"' for name in columns(cursor, table))
        cursor.execute(f"DELETE FROM {table} WHERE id IN (SELECT id FROM new_{table})")  # noqa: S608, constants
        cursor.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM new_{table}")  # noqa: S608, names of columns
    cursor.execute("SET LOCAL session_replication_role = origin")


def _subscribe(cursor: Any, source: str) -> None:
    options = f"create_slot = false, slot_name = '{_slot_name()}', copy_data = false"
    cursor.execute(
        sql.SQL("CREATE SUBSCRIPTION {} CONNECTION {} PUBLICATION {} WITH ({})").format(
            sql.Identifier(SUBSCRIPTION), sql.Literal(source), sql.Identifier(PUBLICATION), sql.SQL(options)
        )
    )


def _drop_subscription() -> None:
    """Remove the subscription, and leave its slot: pod 0 may be away."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_SUBSCRIPTION, [SUBSCRIPTION])
        if cursor.fetchone():
            cursor.execute(f"ALTER SUBSCRIPTION {SUBSCRIPTION} DISABLE")
            cursor.execute(f"ALTER SUBSCRIPTION {SUBSCRIPTION} SET (slot_name = NONE)")
            cursor.execute(f"DROP SUBSCRIPTION {SUBSCRIPTION}")


def _stored_url() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT subconninfo FROM pg_subscription WHERE subname = %s", [SUBSCRIPTION])
        return next((url for (url,) in cursor.fetchall()), "")
