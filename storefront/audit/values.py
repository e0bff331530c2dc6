"""A row's values for audit entries: plain JSON, without secrets, and of a change only the differences."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeGuard

import orjson
from django.db import models
from django.db.models.fields.files import FieldFile

from storefront.kit.clock import timestamp

Values = dict[str, Any]

# Columns that are computed from others, or that repeat the entry itself.
DERIVED = {"id", "shop_id", "created_at", "updated_at", "published_on", "sort_name", "lft", "rgt"}
# Names of columns whose values are never recorded. Binary columns are not recorded either, whatever their name.
_SECRET = re.compile(r"password|secret|digest|token|session_mark|sealed|private|key$|seed|recovery")
SECRET = "[secret]"  # noqa: S105, recorded instead of a secret
# Characters of one text, and bytes of one entry's `before` or `after`.
MAX_TEXT_LENGTH, MAX_ENTRY_BYTES = 1000, 32 * 1024


def column_values(row: models.Model) -> Values:
    """The instance's values by column; references as ids, without secrets."""
    return {
        field.attname: plain(field.value_from_object(row))
        for field in row._meta.concrete_fields
        if field.attname not in DERIVED and not is_secret(field)
    }


def is_secret(field: Any) -> bool:
    return isinstance(field, models.BinaryField) or _SECRET.search(field.name) is not None


def secrets_changed(before: models.Model, after: models.Model) -> Values:
    """Secret columns that differ, each with `[secret]` instead of its value."""
    fields = [field for field in before._meta.concrete_fields if is_secret(field)]
    return {
        field.attname: SECRET
        for field in fields
        if _raw(field.value_from_object(before)) != _raw(field.value_from_object(after))
    }


def differences(before: Values, after: Values) -> tuple[Values, Values]:
    """The members of both that differ. Objects, and lists of rows with an `id`, are compared member by member, too."""
    was: Values = {}
    now: Values = {}
    for name in [*before, *(name for name in after if name not in before)]:
        old, new = before.get(name), after.get(name)
        if name in DERIVED or old == new:
            continue
        if _is_rows(old) and _is_rows(new):
            old, new = _row_differences(old, new)
        elif isinstance(old, dict) and isinstance(new, dict):
            old, new = differences(old, new)
        if old or new or not isinstance(old, list | dict):
            was[name], now[name] = old, new
    return was, now


def without_empty(values: Mapping[str, Any]) -> Values:
    """The values of a new or deleted row, without empty and derived ones."""
    empty: tuple[Any, ...] = (None, "", [], {})
    return {name: value for name, value in values.items() if name not in DERIVED and value not in empty}


def bounded(values: Mapping[str, Any] | None) -> Values | None:
    """The values as small JSON: long texts are cut. If all is still too large, large values become a note of their
    size."""
    if values is None:
        return None
    kept = {name: _cut(plain(value)) for name, value in values.items()}
    if len(orjson.dumps(kept)) <= MAX_ENTRY_BYTES:
        return kept
    return {name: _size_if_large(value) for name, value in kept.items()}


def plain(value: Any) -> Any:
    """The value as JSON: amounts and times as texts, rows as their ids, files as their names."""
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]
    if isinstance(value, models.Model):
        return value.pk
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, FieldFile):
        return value.name or ""
    # PostgreSQL does not store NUL characters in JSON.
    return str(value).replace("\0", "")


def _raw(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview | bytearray) else value


def _is_rows(value: Any) -> TypeGuard[list[Values]]:
    return isinstance(value, list) and all(isinstance(each, dict) and "id" in each for each in value)


def _row_differences(old: list[Values], new: list[Values]) -> tuple[list[Values], list[Values]]:
    before, after = {row["id"]: row for row in old}, {row["id"]: row for row in new}
    was: list[Values] = []
    now: list[Values] = []
    for id in [*before, *(id for id in after if id not in before)]:
        if id not in after:
            was.append({"id": id} | without_empty(before[id]))
        elif id not in before:
            now.append({"id": id} | without_empty(after[id]))
        else:
            left, right = differences(before[id], after[id])
            if left or right:
                was.append({"id": id} | left)
                now.append({"id": id} | right)
    return was, now


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > MAX_TEXT_LENGTH:
        return f"{value[:MAX_TEXT_LENGTH]}… ({len(value)} characters)"
    if isinstance(value, dict):
        return {name: _cut(each) for name, each in value.items()}
    return [_cut(each) for each in value] if isinstance(value, list) else value


def _size_if_large(value: Any) -> Any:
    size = len(orjson.dumps(value))
    return value if size <= MAX_TEXT_LENGTH else f"({size} bytes, too large to keep)"
