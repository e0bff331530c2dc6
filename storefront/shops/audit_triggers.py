# ruff: noqa: S608, the statements are built from names and conditions of this file only.
"""Triggers that make the audit log append-only, whatever code writes to it.

An entry can be deleted after its own `keep_until`, or if its shop was deleted. It can be changed only by erasing a
person: ids, action and object stay, `erased_at` is set, and a name or a place becomes `[erased]` and nothing else. The
day is stored in the entry and not taken from a setting, so that nobody can shorten the time later.

These are triggers and not Python code, because they protect the log from mistakes in that code, and from somebody's
SQL. A user who may change the database's schema can remove them.

`migrate` creates them after all migrations (`kit/triggers.py`). They are kept when Django rebuilds a table on SQLite
(`server/sqlite3`). A migration that removes a column named here removes the triggers first: `remove(editor)`.
"""

from typing import Any

from storefront.kit.triggers import TriggerSet

TABLE = "shops_auditentry"
ERASED = "[erased]"
# Columns that never change.
FIXED = (
    "id",
    "shop_id",
    "at",
    "keep_until",
    "actor_kind",
    "actor_id",
    "request_id",
    "action",
    "object_type",
    "object_id",
)
ERASABLE_TEXTS = ("actor_name", "place")
CHANGED, KEPT, THERE = (
    "An audit entry cannot be changed, only a person be erased from it.",
    "An audit entry cannot be deleted before its day.",
    "An audit entry cannot be replaced.",
)


def install(editor: Any) -> None:
    """Does nothing. Migration 0005 calls it, when tables still lack columns that the triggers use by now."""


def statements(vendor: str) -> list[str]:
    """The statements that create the triggers on this kind of database."""
    return _sqlite() if vendor == "sqlite" else _postgresql()


def remove(editor: Any) -> None:
    """Drop the triggers and functions."""
    if editor.connection.vendor == "sqlite":
        statements = [f"DROP TRIGGER IF EXISTS shops_audit_{name}" for name in ("changed", "kept", "there")]
    else:
        statements = [f"DROP FUNCTION IF EXISTS shops_audit_{name}() CASCADE" for name in ("changed", "kept")]
    for statement in statements:
        editor.execute(statement)


def _forged(differs: str) -> str:
    """The condition under which an update does more than erase somebody."""
    fixed = f"({_columns('NEW')}) {differs} ({_columns('OLD')})"
    texts = [f"(NEW.{name} <> OLD.{name} AND NEW.{name} <> '{ERASED}')" for name in ERASABLE_TEXTS]
    return " OR ".join(["NEW.erased_at IS NULL", fixed, *texts])


def _columns(row: str) -> str:
    return ", ".join(f"{row}.{name}" for name in FIXED)


def _sqlite() -> list[str]:
    shop_exists = "EXISTS (SELECT 1 FROM shops_shop WHERE id = OLD.shop_id)"
    return [
        f"CREATE TRIGGER shops_audit_changed BEFORE UPDATE ON {TABLE} WHEN {_forged('IS NOT')}"
        f" BEGIN SELECT RAISE(ABORT, '{CHANGED}'); END",
        f"CREATE TRIGGER shops_audit_kept BEFORE DELETE ON {TABLE}"
        f" WHEN OLD.keep_until >= date('now') AND {shop_exists}"
        f" BEGIN SELECT RAISE(ABORT, '{KEPT}'); END",
        # INSERT OR REPLACE deletes the existing row without running the trigger above.
        f"CREATE TRIGGER shops_audit_there BEFORE INSERT ON {TABLE}"
        f" WHEN EXISTS (SELECT 1 FROM {TABLE} WHERE id = NEW.id)"
        f" BEGIN SELECT RAISE(ABORT, '{THERE}'); END",
    ]


def _postgresql() -> list[str]:
    refuse = "RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = '{}'"
    return [
        f"""
        CREATE FUNCTION shops_audit_changed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF {_forged("IS DISTINCT FROM")} THEN {refuse.format(CHANGED)}; END IF;
          RETURN NEW;
        END $$
        """,
        f"""
        CREATE FUNCTION shops_audit_kept() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF TG_OP = 'TRUNCATE' THEN {refuse.format(KEPT)}; END IF;
          IF OLD.keep_until >= (now() AT TIME ZONE 'UTC')::date
              AND EXISTS (SELECT 1 FROM shops_shop WHERE id = OLD.shop_id) THEN {refuse.format(KEPT)}; END IF;
          RETURN OLD;
        END $$
        """,
        f"CREATE TRIGGER shops_audit_changed BEFORE UPDATE ON {TABLE}"
        " FOR EACH ROW EXECUTE FUNCTION shops_audit_changed()",
        f"CREATE TRIGGER shops_audit_kept BEFORE DELETE ON {TABLE} FOR EACH ROW EXECUTE FUNCTION shops_audit_kept()",
        f"CREATE TRIGGER shops_audit_emptied BEFORE TRUNCATE ON {TABLE}"
        " FOR EACH STATEMENT EXECUTE FUNCTION shops_audit_kept()",
    ]


TRIGGERS = TriggerSet(
    app_label="shops",
    consequence="the audit log can be changed and deleted",
    statements=statements,
    remove=remove,
)
