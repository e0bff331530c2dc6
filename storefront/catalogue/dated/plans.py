"""Compares a list of rows with the requested one, and writes the difference in few statements."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from storefront.catalogue import rules, validation
from storefront.catalogue.validation import Errors

Entry = Mapping[str, Any]


@dataclass
class Plan:
    """The rows of one list to write, each with the fields to write; the rows to delete; and the rows that stay as they
    are.

    All fields of a new row are written. An existing row without fields to write does not change.
    """

    writes: list[tuple[Any, list[str]]] = field(default_factory=list)
    deletes: list[Any] = field(default_factory=list)
    unchanged: list[Any] = field(default_factory=list)

    @property
    def rows(self) -> list[Any]:
        """The list's rows after the change."""
        return self.unchanged + [row for row, _names in self.writes]

    def write(self) -> None:
        """Write the plan, with one statement for each different set of fields."""
        if len(self.deletes) == 1:
            self.deletes[0].delete()
        elif self.deletes:
            rows = type(self.deletes[0])._default_manager
            rows.filter(pk__in=[row.pk for row in self.deletes]).delete()
        # Rows by the fields to write, None for new rows. Other columns are not written, so that sales meanwhile are not
        # undone.
        by_fields: dict[tuple[str, ...] | None, list[Any]] = defaultdict(list)
        for row, fields in self.writes:
            if row.pk is None:
                by_fields[None].append(row)
            elif fields:
                by_fields[tuple(dict.fromkeys(fields))].append(row)
        for names, rows in by_fields.items():
            _save(rows, names)


def _save(rows: list[Any], names: Sequence[str] | None) -> None:
    all_rows = type(rows[0])._default_manager
    # Files are stored only by `save`, and for a single row `save` takes less work.
    if len(rows) == 1 or (names and "file" in names):
        for row in rows:
            row.save(update_fields=names)
    elif names is None:
        all_rows.bulk_create(rows)
    else:
        all_rows.bulk_update(rows, names)


def plan_of(
    existing: Iterable[tuple[Hashable, Any]],
    wanted: Iterable[tuple[Hashable, Any]],
    put: Callable[[Any | None, Any], tuple[Any, list[str]]],
) -> Plan:
    """The plan that turns the existing rows, (key, row), into the wanted ones, (key, values).

    `put` gets the existing row with the same key, or None, and the values. It returns the row, changed or new, and the
    fields to write. Rows that share a key are used in order. Existing rows whose key is not wanted are deleted.
    """
    unused: dict[Hashable, list[Any]] = defaultdict(list)
    for key, row in existing:
        unused[key].append(row)
    writes = [put(unused[key].pop(0) if unused.get(key) else None, values) for key, values in wanted]
    return Plan(writes, [row for rows in unused.values() for row in rows])


def plan_entries(
    model: Any,
    existing: dict[int, Any],
    entries: Sequence[Entry],
    new: Callable[[], Any],
    fields: Sequence[str],
    errors: Errors,
    path: str,
    check: Callable[..., None] | None = None,
) -> tuple[Plan, list[tuple[int, Entry]]]:
    """The plan that these entries make of the existing rows, and the entry of each row to write, with its position."""
    plan, kept, unnamed = Plan(), [], dict(existing)
    # New rows follow the existing ones, in the order in which they are sent.
    following = max((row.sort_order for row in existing.values()), default=-1) + 1
    for number, entry in enumerate(entries):
        within, id = f"{path}.{number}.", entry.get("id")
        row = unnamed.pop(id, None) if id is not None else None
        if id is not None and row is None:
            unknown = _("This product has no %(name)s with this id.") % {"name": model._meta.verbose_name}
            errors[f"{within}id"] = [_("Another entry has this id.") if id in existing else unknown]
        elif entry.get("remove"):
            if row is None:
                errors[f"{within}remove"] = [_("Only an entry with an id can be removed.")]
            else:
                plan.deletes.append(row)
        else:
            values = {name: entry[name] for name in fields if name in entry}
            if row is None:
                row = new()
                values = dict.fromkeys(_needed(model), "") | {"sort_order": following} | values
                following += 1
            plan.writes.append((row, validation.assign(row, values, errors, within=within)))
            if check is not None:
                check(row, errors, within=within)
            kept.append((number, entry))
    plan.unchanged = list(unnamed.values())
    return plan, kept


def check_lengths(lists: Mapping[str, Any], errors: Errors, within: str = "") -> set[str]:
    """The names of the lists that are too long, which are added to `errors`."""
    too_long = rules.too_many(lists)
    for name, problem in too_long.items():
        errors.setdefault(within + name, []).append(_("This list %(problem)s.") % {"problem": problem})
    return set(too_long)


def _needed(model: Any) -> list[str]:
    # A name that is left out becomes an empty one, which the column refuses with an error for this field.
    return [name for name in ("name", "label") if name in {column.name for column in model._meta.concrete_fields}]
