# ruff: noqa: S608, the statements are built from names and conditions of this package only.
"""What shops need of SQLite: the numbers of their changes, and the triggers of the audit log."""

from django.db import connection

# The operator that compares rows, with nulls.
DIFFERS = "IS NOT"
_COUNT = """
    INSERT INTO shops_change (shop_id, number) SELECT %s, coalesce(max(number), 0) + 1 FROM shops_change WHERE true
    ON CONFLICT (shop_id) DO UPDATE SET number = excluded.number
"""


def announce_on_commit(shop_id: int) -> None:
    """Tell other processes that the shop has changed, by a number in a table."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, [shop_id])


def audit_triggers(table: str, forged: str, *, changed: str, kept: str, there: str) -> list[str]:
    """The statements that create the triggers of the audit log, which refuse with these texts to change entries in a
    way that is `forged`, to delete them before their day, and to replace them."""
    shop_exists = "EXISTS (SELECT 1 FROM shops_shop WHERE id = OLD.shop_id)"
    return [
        f"CREATE TRIGGER shops_audit_changed BEFORE UPDATE ON {table} WHEN {forged}"
        f" BEGIN SELECT RAISE(ABORT, '{changed}'); END",
        f"CREATE TRIGGER shops_audit_kept BEFORE DELETE ON {table}"
        f" WHEN OLD.keep_until >= date('now') AND {shop_exists}"
        f" BEGIN SELECT RAISE(ABORT, '{kept}'); END",
        # INSERT OR REPLACE deletes the existing row without running the trigger above.
        f"CREATE TRIGGER shops_audit_there BEFORE INSERT ON {table}"
        f" WHEN EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id)"
        f" BEGIN SELECT RAISE(ABORT, '{there}'); END",
    ]
