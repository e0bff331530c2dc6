# ruff: noqa: S608, the statements consist of names of tables and columns.
"""The migration of money columns from decimals to whole hundredths, the same for every room."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import models
from django.db.migrations.operations.base import Operation

from storefront.kit.money import MoneyField as DecimalMoneyField
from storefront.kit.money_field import DIGITS, PLACES, MoneyField

Pair = tuple[models.Field, models.Field]


class MoneyInHundredths(Operation):
    """Turns every money column of the app into whole hundredths, and all of its values. `signed` names the ledgers'
    columns, which may be negative, as `model.field`. Can be reversed."""

    reversible = True

    def __init__(self, signed: Sequence[str] = ()) -> None:
        self.signed = signed

    def state_forwards(self, app_label: str, state: Any) -> None:
        for label, model in [*state.models]:
            if label != app_label:
                continue
            fields = state.models[label, model].fields
            changed = {
                name: _in_hundredths(field, signed=f"{model}.{name}" in self.signed)
                for name, field in fields.items()
                if isinstance(field, DecimalMoneyField) or f"{model}.{name}" in self.signed
            }
            if changed:
                fields.update(changed)
                state.reload_model(label, model, delay=True)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for new in to_state.apps.get_app_config(app_label).get_models():
            if not self.allow_migrate_model(schema_editor.connection.alias, new):
                continue
            old = from_state.apps.get_model(app_label, new._meta.model_name)
            both = [(field, new._meta.get_field(field.name)) for field in old._meta.local_concrete_fields]
            pairs = [pair for pair in both if isinstance(pair[0], MoneyField) != isinstance(pair[1], MoneyField)]
            if pairs:
                with _without_triggers(schema_editor, new._meta.db_table):
                    _CONVERT[schema_editor.connection.vendor](schema_editor, old, new, pairs)

    database_backwards = database_forwards

    def describe(self) -> str:
        return "Store money in whole hundredths"


def _in_hundredths(field: models.Field, *, signed: bool) -> MoneyField:
    options = field.deconstruct()[3]
    digits = options.pop("max_digits"), options.pop("decimal_places")
    assert digits == (DIGITS, PLACES), field
    return MoneyField(**options, signed=signed)


def _on_sqlite(editor: Any, old: type[models.Model], new: type[models.Model], pairs: Sequence[Pair]) -> None:
    """SQLite stored binary fractions. Rounding gives the exact amounts, since a column's 14 digits fit."""
    quote = editor.quote_name
    columns = [quote(before.column) for before, _ in pairs]
    values = [
        f"CAST(ROUND({column} * 100) AS INTEGER)" if isinstance(after, MoneyField) else f"{column} / 100.0"
        for column, (_, after) in zip(columns, pairs, strict=True)
    ]
    changes = ", ".join(f"{column} = {value}" for column, value in zip(columns, values, strict=True))
    editor.execute(f"UPDATE {quote(old._meta.db_table)} SET {changes}")
    editor._remake_table(old, alter_fields=pairs)


def _on_postgresql(editor: Any, old: type[models.Model], new: type[models.Model], pairs: Sequence[Pair]) -> None:
    # PostgreSQL would keep their numbers as decimals.
    checks = [each for each in old._meta.constraints if isinstance(each, models.CheckConstraint)]
    for check in checks:
        editor.remove_constraint(old, check)
    changes, parameters = [], []
    for before, after in pairs:
        change = f"ALTER COLUMN {editor.quote_name(before.column)}"
        value = editor.quote_name(before.column)
        value = f"round({value} * 100)" if isinstance(after, MoneyField) else f"{value} * 0.01"
        changes.append(f"{change} TYPE {after.db_type(editor.connection)} USING {value}")
        if before.has_db_default():
            default, given = editor.db_default_sql(after)
            changes += [f"{change} DROP DEFAULT", f"{change} SET DEFAULT {default}"]
            parameters += given
    table = editor.quote_name(old._meta.db_table)
    editor.execute(f"ALTER TABLE {table} {', '.join(changes)}", parameters or None)
    for check in checks:
        editor.add_constraint(new, check)
    # A changed column has no statistics.
    editor.execute(f"ANALYZE {table}")


_CONVERT: dict[str, Callable[..., None]] = {"sqlite": _on_sqlite, "postgresql": _on_postgresql}
_TRIGGERS = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s",
    "postgresql": "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = %s::regclass"
    " AND NOT tgisinternal",
}


@contextmanager
def _without_triggers(editor: Any, table: str) -> Iterator[None]:
    """Drop the table's triggers inside the block: nothing has changed for them, and on PostgreSQL a column that they
    name cannot be altered."""
    vendor = editor.connection.vendor
    with editor.connection.cursor() as cursor:
        cursor.execute(_TRIGGERS[vendor], [table])
        triggers = cursor.fetchall()
    of_table = "" if vendor == "sqlite" else f" ON {editor.quote_name(table)}"
    for name, _ in triggers:
        editor.execute(f"DROP TRIGGER {editor.quote_name(name)}{of_table}")
    yield
    for _, statement in triggers:
        editor.execute(statement)
