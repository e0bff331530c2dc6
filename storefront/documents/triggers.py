# ruff: noqa: S608, the statements consist of names in this file.
"""Triggers that refuse every change of an issued document, whatever code writes to it: an action, a form, somebody's
SQL.

`migrate` creates them after all migrations (`kit/triggers.py`). They are kept when Django rebuilds a table on SQLite
(`server/sqlite3`).
"""

from storefront.kit.triggers import TriggerSet

TABLE = "documents_document"
CHANGED = "An issued document cannot be changed."


def statements(vendor: str) -> list[str]:
    """The statements that create the triggers on this kind of database."""
    if vendor == "sqlite":
        return [
            f"CREATE TRIGGER documents_changed BEFORE UPDATE ON {TABLE} BEGIN SELECT RAISE(ABORT, '{CHANGED}'); END",
            # INSERT OR REPLACE deletes the existing row without running the trigger above.
            f"CREATE TRIGGER documents_replaced BEFORE INSERT ON {TABLE}"
            f" WHEN EXISTS (SELECT 1 FROM {TABLE} WHERE id = NEW.id)"
            f" BEGIN SELECT RAISE(ABORT, '{CHANGED}'); END",
        ]
    return [
        f"""
        CREATE FUNCTION documents_changed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = '{CHANGED}';
        END $$
        """,
        f"CREATE TRIGGER documents_changed BEFORE UPDATE ON {TABLE} FOR EACH ROW EXECUTE FUNCTION documents_changed()",
    ]


TRIGGERS = TriggerSet(
    app_label="documents",
    consequence="issued invoices and credit notes can be changed",
    statements=statements,
)
