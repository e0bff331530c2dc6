"""Parsers for values of product files: texts, money, whole numbers, booleans, slugs, stock.

Every parser takes the trimmed text of a value and raises InvalidValue with a phrase that follows the column's name.
"""

import html as entities
from collections.abc import Sized
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar

from django.db import models
from django.utils.translation import gettext as _

from storefront.catalogue import rules
from storefront.catalogue.models import Category, Media, Option, OptionValue, Product, Variant
from storefront.catalogue.parsing import MAX_INTEGER, InvalidValue, Parse, check_text, number, quoted
from storefront.kit.money import MAX_AMOUNT, ZERO, problem_of, quantize


def _limits(model: type[models.Model]) -> dict[str, int]:
    return {
        column.name: column.max_length
        for column in model._meta.concrete_fields
        if isinstance(column, models.CharField) and column.max_length
    }


# Maximum length of each text column. SQLite does not enforce it, so it is checked here.
LIMITS: dict[type[models.Model], dict[str, int]] = {
    model: _limits(model) for model in (Category, Media, Option, OptionValue, Product, Variant)
}

Nodes = TypeVar("Nodes", bound=Sized)


def check_levels(nodes: Nodes) -> Nodes:
    """The nodes of a category's path. Raises InvalidValue if they are more levels than a tree can have."""
    if len(nodes) > rules.MAX_LEVELS:
        raise InvalidValue(
            _("has %(count)s levels; at most %(most)s are allowed") % {"count": len(nodes), "most": rules.MAX_LEVELS}
        )
    return nodes


def text(limit: int | None = None) -> Parse:
    return lambda value: check_text(value, limit)


def decoded(limit: int | None = None) -> Parse:
    """A parser for plain texts, such as names and tags, in which programs leave entities of HTML: `11&#39;&#39;`."""
    return lambda value: check_text(entities.unescape(value).strip() if "&" in value else value, limit)


def text_or_none(limit: int | None = None) -> Parse:
    return lambda value: check_text(value, limit) or None


def url(value: str) -> str:
    """A picture's http or https URL; blank stays blank."""
    if value and not value.lower().startswith(("https://", "http://")):
        raise InvalidValue(
            _("expected a URL that begins with https:// or http://, found %(value)s") % {"value": quoted(value)}
        )
    return check_text(value, LIMITS[Media]["source_url"])


def required(parse: Parse) -> Parse:
    def parse_unless_blank(value: str) -> Any:
        if not value:
            raise InvalidValue(_("is empty"))
        return parse(value)

    return parse_unless_blank


@cache
def money(currency: str, blank: Decimal | None = ZERO) -> Parse:
    """A parser for amounts that are not negative, in hundredths, or whole where the currency has no decimals."""

    def parse(value: str) -> Decimal | None:
        if not value:
            return blank
        amount = number(value)
        if amount.is_signed() and amount:
            raise InvalidValue(_("expected an amount that is not negative, found %(value)s") % {"value": quoted(value)})
        if amount > MAX_AMOUNT:
            raise InvalidValue(_("is larger than %(most)s") % {"most": MAX_AMOUNT})
        if problem := problem_of(amount, currency):
            raise InvalidValue(_("%(problem)s, found %(value)s") % {"problem": problem, "value": quoted(value)})
        return quantize(abs(amount), currency)

    return parse


def integer(low: int = -MAX_INTEGER, high: int = MAX_INTEGER, blank: int | None = 0) -> Parse:
    """A parser for whole numbers, including such as `5.0`."""

    def parse(value: str) -> int | None:
        if not value:
            return blank
        amount = number(value)
        if amount != amount.to_integral_value():
            raise InvalidValue(_("expected a whole number, found %(value)s") % {"value": quoted(value)})
        if not low <= amount <= high:
            raise InvalidValue(
                _("expected a whole number from %(low)s to %(high)s, found %(value)s")
                % {"low": low, "high": high, "value": quoted(value)}
            )
        return int(amount)

    return parse


_TRUE = {"1", "true", "yes", "y", "on"}
_FALSE = {"0", "false", "no", "n", "off"}


def boolean(*, blank: bool) -> Parse:
    def parse(value: str) -> bool:
        word = value.lower()
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
        if not word:
            return blank
        raise InvalidValue(_("expected 1 or 0, or true or false, found %(value)s") % {"value": quoted(value)})

    return parse


def slug(value: str) -> str:
    """The slug that a file states, in any script; changed into a valid one if necessary. Digits alone are one, as in
    the App API (R-CAT-27)."""
    if rules.is_slug(value):
        return check_text(value)
    return rules.slug_of(value, fallback="product")


def stock(value: str) -> Decimal:
    """The stock level that the file states; `stock_levels.py` changes it to one that the shop can store."""
    amount = number(value)
    if abs(amount) > MAX_INTEGER:
        raise InvalidValue(
            _("expected a quantity up to %(most)s, found %(value)s") % {"most": MAX_INTEGER, "value": quoted(value)}
        )
    return amount
