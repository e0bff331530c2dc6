# ruff: noqa: S608, the statements are built from our own expressions only.
"""JSON that SQLite writes."""

from collections.abc import Iterable

from django.db import models

from storefront.kit.json_sql.marks import STORED_FILE, STORED_JSON
from storefront.kit.money_field import MoneyField


def column(field: models.Field, name: str) -> str:
    """The value of the field's column `name` as JSON: decimals as strings with all their digits, flags as true or false
    (R-CALL-6), times as ISO 8601 UTC with six fraction digits, files as their URLs, null if empty (R-CALL-7)."""
    match field:
        case models.FileField():
            return file_url(name)
        case models.BooleanField():
            written = f"CASE WHEN {name} THEN 'true' ELSE 'false' END"
        case MoneyField():
            written = f"""printf('"%%d.%%02d"', {name} / 100, {name} %% 100)"""
        case models.DecimalField():
            # SQLite stores floats; they are exact to more digits than a column has.
            written = f"""printf('"%%.{field.decimal_places}f"', {name})"""
        case models.DateTimeField():
            # SQLite stores text, with or without microseconds.
            written = f"""'"' || replace({name}, ' ', 'T') || substr('.000000Z', length({name}) - 18) || '"'"""
        case models.JSONField():
            marked = _marked(STORED_JSON, f"json({name})")
            written = f"CASE WHEN {name} IN ('[]', '{{}}') THEN {name} ELSE {marked} END"
        case models.CharField() | models.TextField():
            return f"json_quote({name})"
        case models.IntegerField() | models.ForeignKey():
            written = name
        case _:
            raise NotImplementedError(f"no JSON for {field!r}")
    return f"CASE WHEN {name} IS NULL THEN 'null' ELSE {written} END" if field.null else written


def file_url(file: str, address: str = "CAST(NULL AS text)") -> str:
    """The URL of the stored file in column `file`; without one, the URL in column `address`; without that, null."""
    quoted, other = f"json_quote({file})", f"json_quote(nullif({address}, ''))"
    return f"CASE WHEN {file} <> '' THEN {_marked(STORED_FILE, quoted)} ELSE {other} END"


def json_object(members: Iterable[tuple[str, str]]) -> str:
    """A JSON object. Each member is a name and the SQL expression of its value."""
    # One printf for all members; concatenating them takes twice as long.
    pairs = list(members)
    form = ",".join(f'"{name}":%%s' for name, _ in pairs)
    return f"printf('{{{form}}}', {', '.join(value for _, value in pairs)})"


def json_array(item: str, source: str, order: str) -> str:
    """A JSON array with one item for each row of `source` (the text after FROM), sorted by `order`."""
    # The aggregate keeps the subquery's order; before SQLite 3.44 aggregates take no ORDER BY.
    rows = f"SELECT {item} AS item FROM {source} ORDER BY {order}"
    return f"(SELECT '[' || coalesce(group_concat(item, ','), '') || ']' FROM ({rows}))"


def _marked(mark: str, text: str) -> str:
    return f"char({ord(mark)}) || {text} || char({ord(mark)})"
