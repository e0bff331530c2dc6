"""The column of money: whole hundredths in the database, so that its calculations are exact."""

from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from django import forms
from django.core.exceptions import FieldError, ValidationError
from django.core.validators import DecimalValidator, MinValueValidator
from django.db import models
from django.db.models import F, lookups
from django.db.models.expressions import Combinable, register_combinable_fields
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy

from storefront.kit.money import MAX_AMOUNT, ZERO, problem_of

# For form fields: the digits of MAX_AMOUNT, and how many of them are after the decimal point.
DIGITS, PLACES = 14, 2


# Cached, since imports and lists have many rows with few different prices.
@lru_cache(4096)
def hundredths(amount: Decimal) -> int:
    """The amount as its column stores it. Raises ValueError if it is not a whole number of hundredths, or too large."""
    if not amount.is_finite() or abs(amount) > MAX_AMOUNT:
        raise ValueError(f"{amount} is more than {MAX_AMOUNT}.")
    units = int(amount.scaleb(PLACES))
    if Decimal(units).scaleb(-PLACES) != amount:
        raise ValueError(f"{amount} has more than two fraction digits.")
    return units


@lru_cache(4096)
def from_hundredths(units: int | Decimal) -> Decimal:
    """The amount that a column stores, or a sum of them, with two fraction digits. Raises ValueError for a fraction of
    a hundredth: a statement computed something else than a sum, difference or multiple."""
    whole = int(units)
    if whole != units:
        raise ValueError(f"{units} hundredths are no amount of money.")
    return Decimal(whole).scaleb(-PLACES)


class MoneyField(models.Field):
    """A column of money in the shop's currency: an integer of hundredths in the database, a Decimal with two fraction
    digits in Python. Not negative, unless `signed`.

    So sums, differences and comparisons by the database are exact, on SQLite too, which computes with decimals as
    binary fractions (docs/decisions/0009-whole-hundredths.md). To Django it is neither an IntegerField nor a
    DecimalField, so that an expression of money and a number is refused with a FieldError: write `F("balance") -
    Value(amount, MoneyField())`. What works: money plus or minus money, whole numbers times money, `Sum`, `Min` and
    `Max`, and lookups with amounts or money.
    """

    description = "Money"

    def __init__(self, *args: Any, signed: bool = False, **options: Any) -> None:
        self.signed = signed
        if not options.get("null"):
            options.setdefault("default", ZERO)
        super().__init__(*args, **options)

    def deconstruct(self) -> Any:
        name, path, args, options = super().deconstruct()
        return name, path, args, options | ({"signed": True} if self.signed else {})

    def db_type(self, connection: Any) -> str:
        # With an internal type of integers, Django would cut off the decimals that an expression returns.
        return "bigint"

    @cached_property
    def validators(self) -> list[Any]:
        least = [] if self.signed else [MinValueValidator(ZERO)]
        return [*super().validators, DecimalValidator(DIGITS, PLACES), *least]

    def to_python(self, value: Any) -> Decimal | None:
        if value is None:
            return None
        if isinstance(value, Decimal | int | str) and not isinstance(value, bool):
            try:
                amount = Decimal(value)
            except InvalidOperation:
                amount = Decimal("NaN")
            if amount.is_finite():
                return amount
        text = gettext_lazy("“%(value)s” value must be a decimal number.")
        raise ValidationError(text, code="invalid", params={"value": value})

    def validate(self, value: Any, model_instance: Any) -> None:
        super().validate(value, model_instance)
        currency = getattr(model_instance, "currency", None) or model_instance.shop.currency
        if value is not None and (problem := problem_of(value, currency)):
            raise ValidationError(f"{problem[0].upper()}{problem[1:]}.")

    def get_prep_value(self, value: Any) -> int | None:
        amount = self.to_python(super().get_prep_value(value))
        try:
            return None if amount is None else hundredths(amount)
        except ValueError as error:
            raise ValueError(f"{self.name or 'amount'}: {error}") from None

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        _require_money(value)
        return super().get_db_prep_save(value, connection)

    def get_placeholder(self, value: Any, compiler: Any, connection: Any) -> str:
        """Called by Django with the expression that an update stores."""
        _require_money(value)
        return "%s"

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Decimal | None:
        return None if value is None else from_hundredths(value)

    def formfield(self, **options: Any) -> Any:
        given: dict[str, Any] = {"form_class": forms.DecimalField, "max_digits": DIGITS, "decimal_places": PLACES}
        return super().formfield(**(given | options))


for _operator in (Combinable.ADD, Combinable.SUB):
    register_combinable_fields(MoneyField, _operator, MoneyField, MoneyField)
register_combinable_fields(MoneyField, Combinable.MUL, models.IntegerField, MoneyField)
register_combinable_fields(models.IntegerField, Combinable.MUL, MoneyField, MoneyField)


def _require_money(value: Any) -> None:
    """Refuse an expression that is not money. An expression of an outer query cannot be checked yet."""
    if not hasattr(value, "resolve_expression") or isinstance(value, F):
        return
    if not isinstance(value.output_field, MoneyField):
        raise FieldError(f"{value} is a number, not money: write Value(amount, MoneyField()).")


class _OfMoney:
    """A lookup that compares money with money only."""

    rhs: Any

    def get_prep_lookup(self) -> Any:
        for value in self.rhs if isinstance(self.rhs, list | tuple) else [self.rhs]:
            _require_money(value)
        return super().get_prep_lookup()  # type: ignore[misc]


for _lookup in (
    lookups.Exact,
    lookups.GreaterThan,
    lookups.GreaterThanOrEqual,
    lookups.LessThan,
    lookups.LessThanOrEqual,
    lookups.In,
    lookups.Range,
):
    MoneyField.register_lookup(type(f"Money{_lookup.__name__}", (_OfMoney, _lookup), {}))
