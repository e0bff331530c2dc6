# ruff: noqa: S608, the statements consist of names in this package.
"""Triggers of issued documents, for SQLite."""


def triggers(table: str, refusal: str) -> list[str]:
    """The statements that create triggers which refuse every change of the table's rows."""
    return [
        f"CREATE TRIGGER documents_changed BEFORE UPDATE ON {table} BEGIN SELECT RAISE(ABORT, '{refusal}'); END",
        # INSERT OR REPLACE deletes the existing row without running the trigger above.
        f"CREATE TRIGGER documents_replaced BEFORE INSERT ON {table}"
        f" WHEN EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id)"
        f" BEGIN SELECT RAISE(ABORT, '{refusal}'); END",
    ]
