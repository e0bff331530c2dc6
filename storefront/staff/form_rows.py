"""Bounds of the tables within a page's form. Each row that a form claims to have costs milliseconds, even if it was not
sent, so a small form could occupy a process for minutes.

A table takes the rows that it shows, and so many new ones as somebody enters at once (`ScopedInline.max_new_rows`).
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from django.contrib.admin.utils import unquote
from django.db.models import Model
from django.forms.models import _get_foreign_key
from django.utils.translation import gettext_lazy as _lazy

from storefront.staff.admin_forms import possible_id

# Rows of a field that consists of rows, such as the translations of a product.
MAX_ROWS_OF_FIELD = 500
# The count of a table's rows, or a row's id. A table within a row of a table has the number of that row in its name.
_FIELD = re.compile(
    r"(?P<table>[a-z_]+)(?:-(?:[0-9]+|__prefix__)-(?P<inner>[a-z_]+))?-(?P<kind>[A-Z_]+_FORMS|rows|[0-9]+-id)"
)
# The number of a row within the name of one of its fields.
_ROW = re.compile(r"-([0-9]{1,6})(?=-)")
NOT_COUNTED = ("MIN_NUM_FORMS", "MAX_NUM_FORMS")
NO_NUMBER = _lazy("Nothing was saved: the form counts its rows with something that is not a number.")
NO_ID = _lazy("Nothing was saved: the form names a row that cannot exist.")
TOO_MANY = _lazy(
    "Nothing was saved: %(count)s %(rows)s are too many for this page. It takes at most %(most)s; save some first, "
    "then others."
)
# Rows that a form can count without a field of them: those that were left blank.
BLANK_ROWS = 3
NOT_SENT = _lazy("Nothing was saved: the form counts %(count)s %(rows)s, but has only %(most)s.")

Key = tuple[str, str]


def mend_rows(page: Any, request: Any, object_id: str | None) -> list[str]:
    """Replace counts and ids in the posted form that the page cannot take. Returns what was wrong with them, in words;
    the form is then to be shown again, and not to be saved."""
    tables = dict(_tables(page.inlines, page.model))
    row_id = possible_id(page.model, unquote(object_id)) if object_id else None
    posted, problems = request.POST.copy(), []
    counts: dict[Key, dict[str, int]] = {}
    for name in list(posted):
        found = _FIELD.fullmatch(name)
        if not found:
            continue
        key, value = (found["table"], found["inner"] or ""), posted[name]
        if found["kind"].endswith("-id"):
            if value and key in tables and not _can_be_an_id(tables[key][0].model, value):
                posted[name] = ""
                problems.append(str(NO_ID))
        elif not value and found["kind"] in NOT_COUNTED:
            # As a read-only table is shown again after a refused form.
            continue
        elif not (value.isascii() and value.isdigit() and len(value) < 7):
            posted[name] = "0"
            problems.append(str(NO_NUMBER))
        elif found["kind"] in ("TOTAL_FORMS", "rows"):
            counts.setdefault(key, {})[name] = int(value)
    problems += _bound_counts(counts, tables, posted, request, row_id)
    if problems:
        request.POST = posted
    return list(dict.fromkeys(problems))


def _bound_counts(
    counts: dict[Key, dict[str, int]], tables: dict[Key, Any], posted: Any, request: Any, row_id: Any
) -> list[str]:
    """Lower the counts to what each table can take and the form has. Returns what was wrong with them."""
    sent, problems = _rows_sent(posted), []
    for key, each in counts.items():
        table, claimed = tables.get(key), sum(each.values())
        most = _most(table, claimed, request, row_id)
        if claimed > most:
            problems.append(_problem_of(TOO_MANY, claimed, table, most))
        for name, count in each.items():
            # A browser sends fields of each row, but for those of a table that is only read.
            real = sent.get(name.rpartition("-")[0], 0) + BLANK_ROWS
            real += _shown(table, request, row_id) if count > real else 0
            if real < count <= most:
                problems.append(_problem_of(NOT_SENT, count, table, real - BLANK_ROWS))
            posted[name] = str(min(count, real, most))
    return problems


def _problem_of(text: Any, count: int, table: Any, most: int) -> str:
    return str(text) % {"count": f"{count:,}", "rows": _title(table), "most": f"{most:,}"}


def _tables(inlines: Iterable[Any], parent: type[Model], within: Key | None = None) -> Iterator[tuple[Key, Any]]:
    """By the name of each table in the form: its class, and the lookup of its rows by the page's row."""
    for inline in inlines:
        column: Any = _get_foreign_key(parent, inline.model, fk_name=inline.fk_name)
        name = column.remote_field.get_accessor_name(model=inline.model).replace("+", "")
        key, lookup = ((within[0], name), f"{column.name}__{within[1]}") if within else ((name, ""), column.name)
        yield key, (inline, lookup)
        if not within:
            yield from _tables(getattr(inline, "inlines", ()), inline.model, (name, column.name))


def _can_be_an_id(model: type[Model], text: str) -> bool:
    id = possible_id(model, text)
    return id is not None and not (isinstance(id, int) and id < 1)


def _title(table: Any) -> str:
    return str(table[0].verbose_name_plural or table[0].model._meta.verbose_name_plural) if table else "rows"


def _rows_sent(posted: Iterable[str]) -> dict[str, int]:
    """How many rows have fields in the form, by the beginning of the table's names."""
    sent: dict[str, int] = {}
    for name in posted:
        for row in _ROW.finditer(name):
            table = name[: row.start()]
            sent[table] = max(sent.get(table, 0), int(row[1]) + 1)
    return sent


def _shown(table: Any, request: Any, row_id: Any) -> int:
    """How many rows of the table the page shows."""
    if table is None or row_id is None:
        return 0
    inline, lookup = table
    stored = inline.model._base_manager.filter(**{inline.shop_lookup: request.shop.pk, lookup: row_id}).count()
    return min(stored, inline.per_page or stored)


def _most(table: Any, claimed: int, request: Any, row_id: Any) -> int:
    """How many rows the table can take; only counted where that matters."""
    if table is None:
        return MAX_ROWS_OF_FIELD
    most = table[0].max_new_rows
    return most if claimed <= most else most + _shown(table, request, row_id)
