"""Writes records as their schemas describe them, so that each member is listed once, in the schema."""

from collections.abc import Callable, Collection
from operator import attrgetter
from typing import Any, get_args, get_type_hints

from ninja import Schema

from storefront.kit.api.members import names_of
from storefront.kit.api.schemas import Money, Timestamp
from storefront.kit.clock import timestamp
from storefront.kit.money import to_wire

Record = dict[str, Any]


def writer(
    schema: type[Schema], *, first: str | None = None, stored: Collection[str] = (), **given: Callable[[Any], Any]
) -> Callable[[Any], Record]:
    """Returns a function that writes the record of an object: the schema's members in its order, `first` before all.

    A member is the object's attribute of the same name, with money and times as the wire has them. Members in `stored`
    are lists of JSON objects, and get the order of their schema, which PostgreSQL's jsonb does not keep; for others,
    `given` has a function of the object. All is looked up once, so a call costs what a dict written by hand does.
    """
    names = sorted(names_of(schema), key=lambda name: name != first)
    hints = get_type_hints(schema, include_extras=True)
    made = {name: _stored(name, hints[name]) for name in stored} | given
    plain = [name for name in names if name not in made]
    convert = [(name, found) for name in plain if (found := _conversion(hints[name]))]
    # The first one twice, since a getter of one attribute returns no tuple.
    blank, attributes = dict.fromkeys(names), attrgetter(*plain, plain[0])

    def write(row: Any) -> Record:
        record = blank.copy()
        record.update(zip(plain, attributes(row), strict=False))
        for name, to_text in convert:
            record[name] = to_text(record[name])
        for name, make in made.items():
            record[name] = make(row)
        return record

    return write


def _conversion(hint: Any) -> Callable[[Any], Any] | None:
    for type, convert in ((Money, to_wire), (Timestamp, timestamp)):
        if hint == type or type in get_args(hint):
            return convert
    return None


def _stored(name: str, hint: Any) -> Callable[[Any], list[Record]]:
    members = names_of(get_args(hint)[0])
    return lambda row: [{member: each[member] for member in members} for each in getattr(row, name)]
