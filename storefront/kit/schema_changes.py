"""Operations for migrations that change what a table costs and not what it holds. Each lasts a moment, also on a table
with millions of rows, and can be repeated after an interruption."""

from typing import Any

from django.db.migrations import AddIndex, AlterField
from django.db.migrations.operations.base import Operation
from django.db.models import Index

from storefront.kit.dialect import IS_POSTGRESQL


class RelaxField(AlterField):
    """Take an index or a foreign key's constraint away from a field, and change nothing else.

    Django's own operation would remake the table on SQLite, and check every key again on PostgreSQL. SQLite keeps the
    constraint, which costs nothing there, until the table is remade for another reason.
    """

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        field = model._meta.get_field(self.name)
        find = schema_editor._constraint_names
        if not field.db_index:
            kept = {index.name for index in model._meta.indexes}
            for name in find(model, [field.column], index=True, unique=False, type_=Index.suffix, exclude=kept):
                schema_editor.execute(schema_editor._delete_index_sql(model, name))
        if field.remote_field and not field.db_constraint and IS_POSTGRESQL:
            for name in find(model, [field.column], foreign_key=True):
                schema_editor.execute(schema_editor._delete_fk_sql(model, name))

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        super().database_forwards(app_label, schema_editor, from_state, to_state)


class AddIndexWhileWriting(AddIndex):
    """Create an index while others write to the table. The migration has `atomic = False`."""

    atomic = False

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        if IS_POSTGRESQL:
            # An interrupted one leaves an index that cannot be used.
            schema_editor.execute(f"DROP INDEX IF EXISTS {schema_editor.quote_name(self.index.name)}")
            schema_editor.add_index(model, self.index, concurrently=True)
        else:
            schema_editor.execute(f"DROP INDEX IF EXISTS {schema_editor.quote_name(self.index.name)}")
            schema_editor.add_index(model, self.index)


class LeaveRoom(Operation):
    """Let PostgreSQL fill new pages of these tables to `percent`, so that an updated row stays on its page. Then no
    index gets a new entry, as long as no indexed column changes, and the log holds only what changed."""

    reversible = True

    def __init__(self, tables: list[str], percent: int) -> None:
        self.tables, self.percent = tables, percent

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return type(self).__name__, [], {"tables": self.tables, "percent": self.percent}

    def state_forwards(self, app_label: str, state: Any) -> None:
        """The models stay as they are."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        self._set(schema_editor, f"SET (fillfactor = {self.percent})")

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        self._set(schema_editor, "RESET (fillfactor)")

    def describe(self) -> str:
        return f"Leave room on the pages of {', '.join(self.tables)}"

    def _set(self, schema_editor: Any, change: str) -> None:
        if IS_POSTGRESQL:
            for table in self.tables:
                schema_editor.execute(f"ALTER TABLE {schema_editor.quote_name(table)} {change}")


class DropIndexes(Operation):
    """Drop indexes that the models do not name, on PostgreSQL alone: those that Django makes for LIKE, and those of
    tables of other packages."""

    reversible = False

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return type(self).__name__, [], {"names": self.names}

    def state_forwards(self, app_label: str, state: Any) -> None:
        """The models stay as they are."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        if IS_POSTGRESQL:
            for name in self.names:
                schema_editor.execute(f"DROP INDEX IF EXISTS {schema_editor.quote_name(name)}")

    def describe(self) -> str:
        return f"Drop {', '.join(self.names)}"
