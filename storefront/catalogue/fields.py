"""Reads, checks and writes the values of each type of column, by one table: `KINDS`.

The schemas of what apps send, the checks before a write, and the native product file all use `kind_of(column)`. So a
new column of a product needs its line in the model and its description in `schemas.Product`. Only a new type of
column needs a row here, and one in `kit/json_sql`, where the database writes records.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Literal

import orjson
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from ninja import Field
from pydantic import BeforeValidator, WithJsonSchema

from storefront.catalogue import parsing, rules
from storefront.catalogue.models import MAX_TEXT_LENGTH, BundleItem, MeasureField, Option, Product
from storefront.catalogue.parsing import MAX_INTEGER, InvalidValue, quoted
from storefront.kit import clock, markup, money
from storefront.kit.api.schemas import Moment, MoneyGiven
from storefront.kit.ids import MAX_ID
from storefront.kit.money_field import MoneyField
from storefront.kit.text import Text

# The largest whole number that every JSON parser reads exactly.
MAX_EXACT = 2**53 - 1
# Minimum values of columns that differ from those of their type. The constraints of the tables are the same.
MIN_VALUES: dict[type[models.Model], dict[str, int]] = {
    Product: {"billing_interval_count": 1, "damaged_qty": 0},
    Option: {"max_length": 1},
    BundleItem: {"qty": 1},
}

# Maximum values, in the same way.
MAX_VALUES: dict[type[models.Model], dict[str, int]] = {Option: {"max_length": MAX_TEXT_LENGTH}}

# Messages on members of another type.
_NO_TEXT = _lazy("expected a text, found %(value)s")
_NO_ADDRESS = _lazy("expected an address, found %(value)s")
_NO_FLAG = _lazy("expected true or false, found %(value)s")
_NO_MEASURE = _lazy('expected a decimal string such as "0.250", found %(value)s')
_NO_TIME = _lazy("expected a time such as 2026-11-21T07:30:00Z, found %(value)s")
_NO_INTEGER = _lazy("expected a whole number, found %(value)s")

MemberParser = Callable[[Any], Any]


def _whole(low: int, high: int) -> Any:
    return Annotated[int, Field(strict=True, ge=low, le=high)]


# The types of members that apps send.
Id = _whole(1, MAX_ID)
Integer = _whole(-MAX_INTEGER, MAX_INTEGER)


def as_it_is(value: Any) -> Any:
    """The `dump` of values that are such members themselves."""
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One type of column. A column that may be null also accepts and returns None.

    `given`: the type annotation of a member that an app sends. `parse`: turns a member of the native product file into
    the column's value; raises InvalidValue. `dump`: turns the value into such a member. `clean`: takes the row, the
    column and a value, and returns what the column stores; raises ValidationError.
    """

    given: Any
    parse: MemberParser
    dump: Callable[[Any], Any] = as_it_is
    clean: Callable[[models.Model, Any, Any], Any]


@cache
def kind_of(column: Any) -> Kind:
    """The kind of the column. Raises KeyError for a type that `KINDS` lacks."""
    make = next((KINDS[type] for type in type(column).__mro__ if type in KINDS), None)
    if make is None:
        raise KeyError(f"{column} is of a type that catalogue/fields.py does not have.")
    kind = make(column)
    if column.choices:
        values = [value for value, _name in column.choices]
        kind = replace(kind, given=Literal[tuple(values)], parse=_choice(values))
    return _nullable(kind) if column.null else kind


def writable(model: type[models.Model], closed: Collection[str]) -> list[str]:
    """The attribute names of the model's columns, without the fields in `closed`."""
    return [column.attname for column in model._meta.concrete_fields if column.name not in closed]


def text_parser(limit: int | None) -> MemberParser:
    """A parser for a text of at most `limit` characters."""
    return lambda value: parsing.check_text(_is(str, value, _NO_TEXT), limit)


def url_parser(limit: int) -> MemberParser:
    """A parser for an http or https URL of at most `limit` characters."""

    def parse(value: Any) -> str:
        address = parsing.check_text(_is(str, value, _NO_ADDRESS), limit)
        if not address.startswith(("https://", "http://")):
            raise InvalidValue(
                _("expected a URL that begins with https:// or http://, found %(value)s") % {"value": quoted(address)}
            )
        return address

    return parse


def boolean(value: Any) -> bool:
    return _is(bool, value, _NO_FLAG)


def _nullable(kind: Kind) -> Kind:
    return Kind(
        given=kind.given | None,
        parse=or_none(kind.parse),
        dump=kind.dump if kind.dump is as_it_is else or_none(kind.dump),
        clean=lambda row, column, value: None if value is None else kind.clean(row, column, value),
    )


def or_none(parse: MemberParser) -> MemberParser:
    return lambda value: None if value is None else parse(value)


def _reference(column: Any) -> Kind:
    def parse(value: Any) -> Any:
        raise InvalidValue(_("means nothing in another shop"))

    return Kind(given=Id, parse=parse, clean=_of_same_shop)


def _money(column: Any) -> Kind:
    def parse(value: Any) -> Decimal:
        try:
            return money.parse(value)
        except ValueError:
            raise InvalidValue(
                _('expected a decimal string such as "12.50", found %(value)s') % {"value": quoted(str(value))}
            ) from None

    return Kind(given=MoneyGiven, parse=parse, dump=money.to_wire, clean=_clean)


_MEASURE = r"[0-9]{1,9}(\.[0-9]{1,3})?"


def _measure_given(value: Any) -> Decimal:
    if not isinstance(value, str) or not re.fullmatch(_MEASURE, value, re.ASCII):
        raise ValueError('must be a decimal string such as "0.250"')
    return Decimal(value)


MeasureGiven = Annotated[
    Decimal, BeforeValidator(_measure_given), WithJsonSchema({"type": "string", "pattern": f"^{_MEASURE}$"})
]


def _measure(column: Any) -> Kind:
    parse = parsing.measure()
    return Kind(
        given=MeasureGiven,
        parse=lambda value: parse(_is(str, value, _NO_MEASURE)),
        dump=lambda value: f"{value:.3f}",
        clean=_clean,
    )


def _flag(column: Any) -> Kind:
    return Kind(given=Annotated[bool, Field(strict=True)], parse=boolean, clean=_clean)


def _moment(column: Any) -> Kind:
    return Kind(
        given=Moment,
        parse=lambda value: parsing.moment(_is(str, value, _NO_TIME)),
        dump=clock.timestamp,
        clean=_clean_moment,
    )


def _json(column: Any) -> Kind:
    def parse(value: Any) -> Any:
        if problem := rules.json_problem(column.name, value):
            raise InvalidValue(problem)
        if _holds_nul(value):
            raise InvalidValue(_("contains a NUL character"))
        return value

    # The contents are checked by `rules.json_errors`.
    given = Annotated[Any, WithJsonSchema(rules.JSON_SCHEMAS[column.name])]
    return Kind(given=given, parse=parse, clean=_clean_json)


def _large_integer(column: Any) -> Kind:
    return Kind(given=_whole(-MAX_ID, MAX_ID), parse=_integer_of(column, MAX_EXACT), clean=_clean)


def _integer(column: Any) -> Kind:
    low = 0 if isinstance(column, models.PositiveIntegerField) else -MAX_INTEGER
    return Kind(given=_whole(low, MAX_INTEGER), parse=_integer_of(column, MAX_INTEGER), clean=_clean_integer)


def _address(column: Any) -> Kind:
    return replace(_text(column), parse=url_parser(column.max_length))


def _html(column: Any) -> Kind:
    return replace(_text(column), parse=lambda value: parsing.html(_is(str, value, _NO_TEXT)), clean=_clean_html)


def _text(column: Any) -> Kind:
    given = Annotated[str, Field(strict=True, max_length=column.max_length)]
    return Kind(given=given, parse=text_parser(column.max_length), clean=_clean)


# By the class of a column: the function that returns its kind. The most specific class applies.
KINDS: dict[type[models.Field], Callable[[Any], Kind]] = {
    models.ForeignKey: _reference,
    MoneyField: _money,
    MeasureField: _measure,
    models.BooleanField: _flag,
    models.DateTimeField: _moment,
    models.JSONField: _json,
    models.BigIntegerField: _large_integer,
    models.IntegerField: _integer,
    models.URLField: _address,
    models.TextField: _html,
    models.CharField: _text,
    models.FileField: _text,
}


def _is(kind: type, value: Any, problem: Text) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise InvalidValue(str(problem) % {"value": quoted(orjson.dumps(value).decode())})
    return value


def _choice(values: list[str]) -> MemberParser:
    def parse(value: Any) -> str:
        if value not in values:
            raise InvalidValue(
                _("expected one of %(values)s, found %(value)s")
                % {"values": ", ".join(values), "value": quoted(str(value))}
            )
        return value

    return parse


def _integer_of(column: Any, high: int) -> MemberParser:
    low = 0 if isinstance(column, models.PositiveIntegerField) else -MAX_INTEGER
    low = MIN_VALUES.get(column.model, {}).get(column.name, low)
    high = MAX_VALUES.get(column.model, {}).get(column.name, high)

    def parse(value: Any) -> int:
        if not low <= _is(int, value, _NO_INTEGER) <= high:
            raise InvalidValue(
                _("expected a whole number from %(low)s to %(high)s, found %(value)s")
                % {"low": low, "high": high, "value": value}
            )
        return value

    return parse


def _holds_nul(value: Any) -> bool:
    return b"\\u0000" in orjson.dumps(value)


def _clean(row: models.Model, column: Any, value: Any) -> Any:
    if isinstance(value, str) and "\0" in value:
        raise ValidationError(_("NUL characters cannot be stored."))
    return column.clean(value, row)


def _clean_moment(row: models.Model, column: Any, value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is None:
        raise ValidationError(_("Expected a time with its UTC offset."))
    return _clean(row, column, value)


def _clean_integer(row: models.Model, column: Any, value: Any) -> Any:
    # PostgreSQL's range, on SQLite too, so that a shop can move from one database to the other.
    cleaned = _clean(row, column, value)
    if abs(cleaned) > MAX_INTEGER:
        raise ValidationError(
            _("Expected a number from %(low)s to %(high)s.") % {"low": -MAX_INTEGER, "high": MAX_INTEGER}
        )
    return cleaned


def _clean_html(row: models.Model, column: Any, value: Any) -> Any:
    cleaned = _clean(row, column, value)
    if problem := markup.problem_of_change(cleaned, getattr(row, column.attname)):
        raise ValidationError(_("This text %(problem)s.") % {"problem": problem})
    return cleaned


def _clean_json(row: models.Model, column: Any, value: Any) -> Any:
    if problems := rules.json_errors({column.name: value}):
        raise ValidationError(problems[column.name])
    if _holds_nul(value):
        raise ValidationError(_("NUL characters cannot be stored."))
    return value


def _of_same_shop(row: Any, column: Any, value: Any) -> Any:
    id = rules.as_id(str(value.pk if isinstance(value, models.Model) else value))
    found = None if id is None else column.related_model.objects.filter(shop_id=row.shop_id, pk=id).first()
    if found is None:
        raise ValidationError(
            _("The shop has no %(name)s with this id.") % {"name": column.related_model._meta.verbose_name}
        )
    return found
