# ruff: noqa: S608, the statements are built from names of this package and of the models only.
"""The triggers of a pod that reads the registry: they exist from `storefront registry join` to `leave`.

One refuses every write of the registry's tables but that of the replication. The others run for the replication alone.
It checks no foreign keys, so they do what deleting an account or an app does in pod 0, in the same transaction:

- a deleted account takes its memberships and sessions along, and is no longer named as the one who invited;
- a deleted app that shops here have installed stays, withdrawn and without its slug, so that no installation is left
  without its app. `apps.actions.uninstall_deleted` then uninstalls it;
- a second factor that was added or removed ends its owner's sessions here.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from django.apps import apps
from django.db import models

from storefront.pods.registry import REFUSED, REFUSING, TABLES

# Begins the slug of an app that pod 0 has deleted. No app is registered with such a slug.
DELETED_SLUG = "deleted--"
FACTORS = {"shops_authenticator": "app", "shops_passkey": "passkey"}
_ACCOUNT, _APP, _FACTOR = "pods_registry_account", "pods_registry_app", "pods_registry_factor"
_FUNCTIONS = (REFUSING, _ACCOUNT, _APP, _FACTOR)
# Triggers have the names of their functions. Those of the replication, with when they run:
_FOR_REPLICATION = {
    ("shops_user", _ACCOUNT): "BEFORE DELETE",
    ("apps_app", _APP): "BEFORE DELETE",
    **{(table, _FACTOR): "AFTER INSERT OR DELETE" for table in FACTORS},
}


def create(cursor: Any, *, sentence: str) -> None:
    """Create them, also where they exist. The tables' owner owns the functions, so that `migrate` can do this, too."""
    drop(cursor)
    cursor.execute(
        "SELECT tableowner FROM pg_tables WHERE schemaname = current_schema() AND tablename = %s", TABLES[:1]
    )
    ((owner,),) = cursor.fetchall()
    for name, body in _bodies(sentence).items():
        # The replication runs without a search path.
        cursor.execute(
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT"
            f" AS $registry${body}$registry$"
        )
        cursor.execute(f'ALTER FUNCTION {name}() OWNER TO "{owner}"')
    for table in TABLES:
        events = "INSERT OR UPDATE OR DELETE OR TRUNCATE"
        cursor.execute(f"CREATE TRIGGER {REFUSING} BEFORE {events} ON {table} EXECUTE FUNCTION {REFUSING}()")
    for (table, name), when in _FOR_REPLICATION.items():
        cursor.execute(f"CREATE TRIGGER {name} {when} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()")
        cursor.execute(f"ALTER TABLE {table} ENABLE REPLICA TRIGGER {name}")


def are_current(cursor: Any, *, sentence: str) -> bool:
    """Returns True if they are as `create` makes them."""
    cursor.execute("SELECT proname, prosrc FROM pg_proc WHERE proname = ANY(%s)", [list(_FUNCTIONS)])
    functions = dict(cursor.fetchall())
    cursor.execute(
        "SELECT relname, tgname, tgenabled::text FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid"
        " WHERE tgname = ANY(%s)",
        [list(_FUNCTIONS)],
    )
    wanted = {(table, REFUSING, "O") for table in TABLES} | {(*each, "R") for each in _FOR_REPLICATION}
    return functions == _bodies(sentence) and set(cursor.fetchall()) == wanted


def drop(cursor: Any) -> None:
    for name in _FUNCTIONS:
        cursor.execute(f"DROP FUNCTION IF EXISTS {name}() CASCADE")


def referring(table: str) -> Iterator[tuple[str, str, Any]]:
    """Table, column and `on_delete` of each foreign key of a pod's own table that leads to this one of the registry."""
    for model in apps.get_models(include_auto_created=True):
        if model._meta.proxy or model._meta.db_table in TABLES:
            continue
        fields: Iterable[Any] = model._meta.concrete_fields
        for field in fields:
            if field.is_relation and field.remote_field.model._meta.db_table == table:
                yield model._meta.db_table, field.column, field.remote_field.on_delete


def _bodies(sentence: str) -> dict[str, str]:
    """The bodies of the functions, by name."""
    quoted = sentence.replace("'", "''")
    gone = []
    for table, column, on_delete in sorted(referring("shops_user"), key=str):
        if on_delete is models.SET_NULL:
            gone.append(f"UPDATE {table} SET {column} = NULL WHERE {column} = OLD.id;")
        else:
            gone.append(f"DELETE FROM {table} WHERE {column} = OLD.id;")
    kinds = " ".join(f"WHEN '{table}' THEN '{kind}'" for table, kind in FACTORS.items())
    return {
        REFUSING: f" BEGIN RAISE EXCEPTION USING ERRCODE = '{REFUSED}', MESSAGE = '{quoted}'; END ",
        _ACCOUNT: f" BEGIN {' '.join(gone)} RETURN OLD; END ",
        _APP: f"""
            BEGIN
              IF EXISTS (SELECT FROM apps_installation WHERE app_id = OLD.id) THEN
                UPDATE apps_app SET is_active = false, slug = '{DELETED_SLUG}' || id WHERE id = OLD.id;
                RETURN NULL;
              END IF;
              RETURN OLD;
            END
        """,
        _FACTOR: f"""
            BEGIN
              IF TG_OP = 'DELETE' THEN
                DELETE FROM shops_factoruse WHERE kind = CASE TG_TABLE_NAME {kinds} END AND factor_id = OLD.id;
                DELETE FROM shops_staffsession WHERE user_id = OLD.user_id;
                RETURN OLD;
              END IF;
              DELETE FROM shops_staffsession WHERE user_id = NEW.user_id;
              RETURN NEW;
            END
        """,
    }
