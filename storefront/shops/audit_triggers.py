"""Triggers that make the audit log append-only, whatever code writes to it.

An entry can be deleted after its own `keep_until`, or if its shop was deleted. It can be changed only by erasing a
person: ids, action and object stay, `erased_at` is set, and a name or a place becomes `[erased]` and nothing else. The
day is stored in the entry and not taken from a setting, so that nobody can shorten the time later.

These are triggers and not our code, because they guard against our code: a mistake in a sweep, a form of the admin,
somebody's SQL. A user who may change the database's schema can remove them.

`migrate` creates them after all migrations (`kit/triggers.py`). They are kept when Django rebuilds a table on SQLite
(`server/sqlite3`). A migration that removes a column named here removes the triggers first: `remove(editor)`.
"""

from typing import Any

from storefront.kit.triggers import TriggerSet
from storefront.shops.audit_rows import ERASED as ERASED
from storefront.shops.dialect import dialect


def install(editor: Any) -> None:
    """Does nothing. Migration 0005 calls it, when tables still lack columns that the triggers use by now."""


TRIGGERS = TriggerSet(
    app_label="shops",
    consequence="the audit log can be changed and deleted",
    statements=dialect.audit_triggers,
)
remove = TRIGGERS.remove
