"""Explains why a database refused a row, without its own words: those quote values of this row and of others."""

import re
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import DataError, IntegrityError

# Kinds of refusals: what PostgreSQL's code and SQLite's message begin with, and what was expected instead.
_EXPECTED = (
    ("23505", "UNIQUE constraint", "a value that no other row of the shop has"),
    ("23502", "NOT NULL constraint", "a value"),
    ("23503", "FOREIGN KEY constraint", "something that the shop still has"),
    ("22001", "", "a shorter text"),
    ("22003", "", "a smaller number"),
    ("22007", "", "a time that can be stored"),
    ("22008", "", "a time that can be stored"),
)
# The rule behind triggers that keep stock from falling below zero.
_STOCK_HOLDS = "stock_holds"
_COPIED = re.compile(r"^COPY (\w+), line \d+, column (\w+)")
_KEY = re.compile(r"^Key \((.*?)\)=")


@dataclass(frozen=True)
class Refused:
    """`table` and `field` are names of a model and its field, empty if unknown; `expected` is a phrase for people."""

    table: str
    field: str
    expected: str

    def __str__(self) -> str:
        place = ", ".join(filter(None, (self.table, self.field)))
        return f"{place}: expected {self.expected}" if place else f"expected {self.expected}"


def refused(error: DataError | IntegrityError) -> Refused:
    """What was refused and what was expected, of an error of either database."""
    # An error that comes from code of Django or ours has no cause.
    diagnosis = getattr(error.__cause__, "diag", None)
    code = getattr(error.__cause__, "sqlstate", None) or ""
    table, words = _postgresql(diagnosis) if diagnosis else _sqlite(str(error))
    rule = next((word for word in words if word.endswith(_STOCK_HOLDS)), "")
    if rule:
        return Refused(_label(table), "stock_qty", "0 or more, since backorders are not allowed")
    model, field = _field(table, words)
    return Refused(model._meta.label if model else "", getattr(field, "name", ""), _expected(code, error, field))


def _postgresql(diagnosis: Any) -> tuple[str, list[str]]:
    """The table, and names of columns and constraints, which are no values."""
    table, found = diagnosis.table_name or "", [diagnosis.column_name, diagnosis.constraint_name]
    if copied := _COPIED.match(diagnosis.context or ""):
        table = table or copied[1]
        found.append(copied[2])
    if key := _KEY.match(diagnosis.message_detail or ""):
        found += reversed(re.findall(r"\w+", key[1]))
    if diagnosis.message_primary and diagnosis.message_primary.endswith(_STOCK_HOLDS):
        found.append(_STOCK_HOLDS)
    return table, [name for name in found if name]


def _sqlite(text: str) -> tuple[str, list[str]]:
    """The same of SQLite, whose messages have names only: the last column, or a constraint."""
    _, _, names = text.partition("constraint failed: ")
    last = names.rpartition(", ")[2]
    table, _, column = last.rpartition(".")
    return table, re.findall(r"\w+", column)


def _field(table: str, words: list[str]) -> tuple[Any, Any]:
    """The model and its field that the names lead to; the shop and the id do not count."""
    for model in apps.get_models():
        of_constraint = _constraint(model, words)
        if model._meta.proxy or not (of_constraint or model._meta.db_table == table):
            continue
        # PostgreSQL's own names of constraints on a column.
        plain = [word.removeprefix(f"{table}_").removesuffix("_check") for word in words]
        fields = {field.column: field for field in model._meta.concrete_fields}
        found = [fields[name] for name in (*words, *plain, *of_constraint) if name in fields]
        return model, next((field for field in found if field.column not in ("id", "shop_id")), None)
    return None, None


def _constraint(model: Any, words: list[str]) -> list[str]:
    """The columns of the model's constraint that is named."""
    for constraint in model._meta.constraints:
        if constraint.name in words:
            named = re.findall(r"\w+", str(constraint))
            return [field.column for field in model._meta.concrete_fields if field.name in named]
    return []


def _label(table: str) -> str:
    return next((model._meta.label for model in apps.get_models() if model._meta.db_table == table), "")


def _expected(code: str, error: Exception, field: Any) -> str:
    if code == "22001" and getattr(field, "max_length", None):
        return f"at most {field.max_length} characters"
    for known, start, expected in _EXPECTED:
        if code == known or (not code and start and str(error).startswith(start)):
            return expected
    return "another value"
