"""Triggers that make the audit log append-only, whatever code writes to it.

An entry can be deleted after its own `keep_until`, or if its shop was deleted. It can be changed only by erasing a
person: ids, action and object stay, `erased_at` is set, and a name or a place becomes `[erased]` and nothing else. The
day is stored in the entry and not taken from a setting, so that nobody can shorten the time later.

These are triggers and not Python code, because they protect the log from mistakes in that code, and from somebody's
SQL. A user who may change the database's schema can remove them.

`migrate` creates them after all migrations (`kit/triggers.py`). They are kept when Django rebuilds a table on SQLite
(`server/sqlite3`). A migration that removes a column named here removes the triggers first:
`TRIGGERS.remove(editor)`.
"""

from storefront.kit.triggers import TriggerSet
from storefront.shops.dialect import dialect

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


def statements() -> list[str]:
    """The statements that create the triggers."""
    return dialect.audit_triggers(TABLE, _forged(), changed=CHANGED, kept=KEPT, there=THERE)


def _forged() -> str:
    """The condition under which an update does more than erase somebody."""
    fixed = f"({_columns('NEW')}) {dialect.DIFFERS} ({_columns('OLD')})"
    texts = [f"(NEW.{name} <> OLD.{name} AND NEW.{name} <> '{ERASED}')" for name in ERASABLE_TEXTS]
    return " OR ".join(["NEW.erased_at IS NULL", fixed, *texts])


def _columns(row: str) -> str:
    return ", ".join(f"{row}.{name}" for name in FIXED)


TRIGGERS = TriggerSet(
    app_label="shops",
    consequence="the audit log can be changed and deleted",
    statements=statements,
)
