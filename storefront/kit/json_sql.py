# ruff: noqa: S608, what is put together here is expressions of our own.
"""JSON that the database writes itself: a page of products measured at a third of what building it in Python takes.

Each function gives an SQL expression for the `vendor`'s database, and what that writes is what orjson would write. Two
things are left to Python, which `finished` puts in: the addresses of stored files, since only the storage knows them,
and stored JSON, which each database writes in its own way. They stand between marks: white space, of which the rest
of the text has none.
"""

from collections.abc import Callable, Iterable

import orjson
from django.db import models

STORED_FILE, STORED_JSON = "\n", "\t"

Member = tuple[str, str]


def column(vendor: str, field: models.Field, name: str) -> str:
    """The column `name`, which is the field's, as a member's value: decimals are strings with all their digits, times
    ISO 8601 UTC with six fraction digits, files their addresses."""
    if isinstance(field, models.FileField):
        return picture(vendor, name)
    write = _sqlite_column if vendor == "sqlite" else _postgresql_column
    return write(field, name)


def picture(vendor: str, file: str, address: str = "CAST(NULL AS text)") -> str:
    """The address of the stored file that a column names, else that of another column, else null."""
    quoted, other = f"to_json({file})::text", f"to_json(nullif({address}, ''))"
    if vendor == "sqlite":
        quoted, other = f"json_quote({file})", f"json_quote(nullif({address}, ''))"
    return f"CASE WHEN {file} <> '' THEN {_marked(vendor, STORED_FILE, quoted)} ELSE {other} END"


def written_object(vendor: str, members: Iterable[Member]) -> str:
    """An object of these members, each a name and the expression of its value."""
    if vendor == "sqlite":
        # One call for all, since putting the text together piece by piece takes twice as long.
        pairs = list(members)
        form = ",".join(f'"{name}":%%s' for name, _ in pairs)
        return f"printf('{{{form}}}', {', '.join(value for _, value in pairs)})"
    # A column has its name already; its driver keeps what it makes of a statement only where that is not too long.
    named = ", ".join(value if value.endswith(f".{name}") else f'{value} AS "{name}"' for name, value in members)
    return f"(SELECT row_to_json(r) FROM (SELECT {named}) r)"


def written_array(vendor: str, item: str, source: str, order: str) -> str:
    """An array with one item for each row of the source, what follows a FROM, in this order."""
    if vendor == "sqlite":
        # It keeps the order of a subquery for such aggregates; before 3.44 they take none of their own.
        rows = f"SELECT {item} AS item FROM {source} ORDER BY {order}"
        return f"(SELECT '[' || coalesce(group_concat(item, ','), '') || ']' FROM ({rows}))"
    items = f"string_agg(({item})::text, ',' ORDER BY {order})"
    return f"(SELECT ('[' || coalesce({items}, '') || ']')::json FROM {source})"


def finished(text: str, address_of: Callable[[str], str | None]) -> str:
    """The text with what the database leaves to Python; `address_of` gives a stored file's."""
    for mark, write in ((STORED_FILE, address_of), (STORED_JSON, _same)):
        if mark in text:
            parts = text.split(mark)
            parts[1::2] = [orjson.dumps(write(orjson.loads(part))).decode() for part in parts[1::2]]
            text = "".join(parts)
    return text


def _same(value: object) -> object:
    return value


def _sqlite_column(field: models.Field, name: str) -> str:
    match field:
        case models.BooleanField():
            written = f"CASE WHEN {name} THEN 'true' ELSE 'false' END"
        case models.DecimalField():
            # Floats, since it has no decimals; they are right to more digits than a column may have.
            written = f"""printf('"%%.{field.decimal_places}f"', {name})"""
        case models.DateTimeField():
            # Text, to the second or to the microsecond.
            written = f"""'"' || replace({name}, ' ', 'T') || substr('.000000Z', length({name}) - 18) || '"'"""
        case models.JSONField():
            marked = _marked("sqlite", STORED_JSON, f"json({name})")
            written = f"CASE WHEN {name} IN ('[]', '{{}}') THEN {name} ELSE {marked} END"
        case models.CharField() | models.TextField():
            return f"json_quote({name})"
        case models.IntegerField() | models.ForeignKey():
            written = name
        case _:
            raise NotImplementedError(f"no JSON for {field!r}")
    return f"CASE WHEN {name} IS NULL THEN 'null' ELSE {written} END" if field.null else written


def _postgresql_column(field: models.Field, name: str) -> str:
    """A value of which `row_to_json` makes what is wanted."""
    match field:
        case models.DecimalField():
            # Its scale is the column's.
            return f"{name}::text"
        case models.DateTimeField():
            return f"""to_char({name} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
        case models.JSONField():
            marked = _marked("postgresql", STORED_JSON, f"{name}::text")
            return f"CASE WHEN {name} IN ('[]', '{{}}') THEN {name}::json ELSE {marked} END"
    return name


def _marked(vendor: str, mark: str, text: str) -> str:
    if vendor == "sqlite":
        return f"char({ord(mark)}) || {text} || char({ord(mark)})"
    return f"(chr({ord(mark)}) || {text} || chr({ord(mark)}))::json"
