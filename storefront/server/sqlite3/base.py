from typing import Any

from django.db.backends.sqlite3 import base, schema


class DatabaseSchemaEditor(schema.DatabaseSchemaEditor):
    def _remake_table(self, *args: Any, **options: Any) -> None:
        """Remakes a table and keeps all triggers.

        SQLite drops a table's triggers with the table, and refuses to rename the new table while triggers of other
        tables mention the old one. So all triggers are dropped first and created again afterwards. The triggers miss
        no change, since nothing else writes meanwhile.
        """
        with self.connection.cursor() as cursor:
            triggers = cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
            for name, _ in triggers:
                cursor.execute(f"DROP TRIGGER {self.quote_name(name)}")
            super()._remake_table(*args, **options)  # type: ignore[misc]
            for _, statement in triggers:
                cursor.execute(statement)


class DatabaseWrapper(base.DatabaseWrapper):
    SchemaEditorClass = DatabaseSchemaEditor
