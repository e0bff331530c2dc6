# ruff: noqa: S608, the statements are built from our own expressions only.
"""JSON that PostgreSQL writes."""

from collections.abc import Iterable

from django.db import models

from storefront.kit.json_sql.marks import STORED_FILE, STORED_JSON
from storefront.kit.money_field import MoneyField


def column(field: models.Field, name: str) -> str:
    """An expression that `row_to_json` turns into the value of the field's column `name` as JSON: decimals as strings
    with all their digits, flags as true or false (R-CALL-6), times as ISO 8601 UTC with six fraction digits, files as
    their URLs, null if empty (R-CALL-7)."""
    match field:
        case models.FileField():
            return file_url(name)
        case MoneyField():
            # PostgreSQL adds up the scales of the factors.
            return f"({name} * 0.01)::text"
        case models.DecimalField():
            # PostgreSQL keeps the column's scale.
            return f"{name}::text"
        case models.DateTimeField():
            return f"""to_char({name} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
        case models.JSONField():
            marked = _marked(STORED_JSON, f"{name}::text")
            return f"CASE WHEN {name} IN ('[]', '{{}}') THEN {name}::json ELSE {marked} END"
    return name


def file_url(file: str, address: str = "CAST(NULL AS text)") -> str:
    """The URL of the stored file in column `file`; without one, the URL in column `address`; without that, null."""
    quoted, other = f"to_json({file})::text", f"to_json(nullif({address}, ''))"
    return f"CASE WHEN {file} <> '' THEN {_marked(STORED_FILE, quoted)} ELSE {other} END"


def json_object(members: Iterable[tuple[str, str]]) -> str:
    """A JSON object. Each member is a name and the SQL expression of its value."""
    # A column needs no alias, and shorter statements matter: the driver caches parsed statements only up to a length.
    named = ", ".join(value if value.endswith(f".{name}") else f'{value} AS "{name}"' for name, value in members)
    return f"(SELECT row_to_json(r) FROM (SELECT {named}) r)"


def json_array(item: str, source: str, order: str) -> str:
    """A JSON array with one item for each row of `source` (the text after FROM), sorted by `order`."""
    items = f"string_agg(({item})::text, ',' ORDER BY {order})"
    return f"(SELECT ('[' || coalesce({items}, '') || ']')::json FROM {source})"


def _marked(mark: str, text: str) -> str:
    return f"(chr({ord(mark)}) || {text} || chr({ord(mark)}))::json"
