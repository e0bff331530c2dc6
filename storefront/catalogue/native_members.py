"""How a member of a native product file is understood, told by the column that it fills."""

from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

import orjson
from django.db import models

from storefront.catalogue import cells, rules
from storefront.catalogue.cells import LIMITS
from storefront.catalogue.incoming import NAMED, Unfit
from storefront.catalogue.models import MeasureField, Media
from storefront.kit import money

Member = Callable[[Any], Any]

# Columns that no file sets: ids, what follows from others, and when a row was made, changed or deleted.
LEFT_OUT = {"id", "shop", "product", "option", "bundle", "created_at", "updated_at", "deleted_at", "sort_name", "slug"}
LEFT_OUT |= {"lft", "rgt", "parent", "image", "banner", "file", "type", "default_variant", *NAMED}
_LEAST = {"billing_interval_count": 1, "damaged_qty": 0, "qty": 1}


@cache
def members(model: type[models.Model]) -> dict[str, Member]:
    """How each member that is a column of the model is understood."""
    columns = [column for column in model._meta.concrete_fields if column.name not in LEFT_OUT]
    return {
        column.name: nullable(_member(column)) if column.null else _member(column)
        for column in columns
        if not column.is_relation
    }


def _member(column: Any) -> Member:
    if column.choices:
        return choice([value for value, _ in column.choices])
    match column:
        case money.MoneyField():
            return price
        case MeasureField():
            return lambda value: cells.measure()(_is(str, value, 'a decimal string such as "0.250"'))
        case models.BooleanField():
            return boolean
        case models.IntegerField():
            return integer(column)
        case models.DateTimeField():
            return lambda value: cells.moment(_is(str, value, "a time such as 2026-11-21T07:30:00Z"))
        case models.JSONField():
            return lambda value: json_value(column.name, value)
        case models.URLField():
            return address_of
    return text_of(column.max_length)


def nullable(parse: Member) -> Member:
    return lambda value: None if value is None else parse(value)


def _is(kind: type, value: Any, expected: str) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Unfit(f"expected {expected}, found {cells.shown(orjson.dumps(value).decode())}")
    return value


def text_of(limit: int | None) -> Member:
    return lambda value: cells.check_text(_is(str, value, "a text"), limit)


def choice(values: list[str]) -> Member:
    def parse(value: Any) -> str:
        if value not in values:
            raise Unfit(f"expected one of {', '.join(values)}, found {cells.shown(str(value))}")
        return value

    return parse


def boolean(value: Any) -> bool:
    return _is(bool, value, "true or false")


def price(value: Any) -> Decimal:
    try:
        return money.parse(value)
    except ValueError:
        raise Unfit(f'expected a decimal string such as "12.50", found {cells.shown(str(value))}') from None


def integer(column: models.IntegerField) -> Member:
    low = 0 if isinstance(column, models.PositiveIntegerField) else -cells.LARGEST_INTEGER
    low = _LEAST.get(getattr(column, "name", None) or "", low)
    high = 2**53 - 1 if isinstance(column, models.BigIntegerField) else cells.LARGEST_INTEGER

    def parse(value: Any) -> int:
        if not low <= _is(int, value, "a whole number") <= high:
            raise Unfit(f"expected a whole number from {low} to {high}, found {value}")
        return value

    return parse


def json_value(name: str, value: Any) -> Any:
    if problems := rules.json_errors({name: value}):
        raise Unfit(problems[name][0].rstrip(".").replace("Expected", "expected"))
    if b"\\u0000" in orjson.dumps(value):
        raise Unfit("holds a NUL character")
    return value


def address_of(value: Any) -> str:
    address = cells.check_text(_is(str, value, "an address"), LIMITS[Media]["source_url"])
    if not address.startswith(("https://", "http://")):
        raise Unfit(f"expected an address that begins with https:// or http://, found {cells.shown(address)}")
    return address
