"""Whether values fit the columns they are meant for. Problems are gathered by field, so that all are told at once."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson
from django.core.exceptions import ValidationError
from django.db import models

from storefront.catalogue import rules
from storefront.catalogue.models import Product

Errors = dict[str, list[str]]

LARGEST_INTEGER = 2**31 - 1


def assign(row: Any, values: Mapping[str, Any], errors: Errors, *, within: str = "") -> list[str]:
    """Set the row's columns, named as fields or as columns; returns the names of the fields that were given.

    What does not fit is added to `errors` under the name it was given, behind `within`; the row keeps what it had.
    References are looked up in the row's own shop.
    """
    given = []
    for name, value in values.items():
        field = row._meta.get_field(name)
        try:
            setattr(row, field.name, _fitting(row, field, value))
            given.append(field.name)
        except ValidationError as problem:
            errors.setdefault(within + name, []).extend(problem.messages)
    return given


def check_product(product: Product, errors: Errors) -> None:
    """Add what is wrong between the product's own values (tables have the same as constraints)."""
    _check_stock(product, errors)
    if product.damaged_qty < 0:
        _add(errors, "damaged_qty", "Expected 0 or more.")
    if product.billing_interval_count < 1:
        _add(errors, "billing_interval_count", "Expected 1 or more.")
    if product.publish_at and product.unpublish_at and product.unpublish_at <= product.publish_at:
        _add(errors, "unpublish_at", "Expected a time after publish_at.")


def check_variant(variant: Any, errors: Errors, *, within: str) -> None:
    """Add what is wrong between the variant's own values."""
    _check_stock(variant, errors, within=within)


def check_media(media: Any, errors: Errors, *, within: str) -> None:
    """Add what is wrong with where the picture is."""
    if not media.file and not media.source_url.startswith(("https://", "http://")):
        _add(errors, f"{within}source_url", "Expected a file, or an address that begins with https:// or http://.")


def check_nothing(row: Any, errors: Errors, *, within: str) -> None:
    """For rows whose columns say all there is to say."""


def _check_stock(row: Any, errors: Errors, *, within: str = "") -> None:
    if row.stock_qty < 0 and row.track_inventory and not row.allow_backorders:
        _add(errors, f"{within}stock_qty", "Below 0 only where backorders are allowed or stock is not tracked.")


def _add(errors: Errors, field: str, problem: str) -> None:
    errors.setdefault(field, []).append(problem)


def _fitting(row: Any, field: Any, value: Any) -> Any:
    if value is None:
        if not field.null:
            raise ValidationError("Expected a value.")
        return None
    if isinstance(field, models.ForeignKey):
        return _of_same_shop(row, field, value)
    if isinstance(field, models.JSONField):
        return _fitting_json(field, value)
    if isinstance(value, str) and "\0" in value:
        raise ValidationError("NUL characters cannot be stored.")
    if isinstance(value, datetime) and value.tzinfo is None:
        raise ValidationError("Expected a time with its offset.")
    return _in_range(field, field.clean(value, row))


def _in_range(field: Any, value: Any) -> Any:
    # PostgreSQL's range, on SQLite too, so that a shop can move from one to the other.
    is_integer = isinstance(field, models.IntegerField) and not isinstance(field, models.BigIntegerField)
    if is_integer and abs(value) > LARGEST_INTEGER:
        raise ValidationError(f"Expected a number from -{LARGEST_INTEGER} to {LARGEST_INTEGER}.")
    return value


def _of_same_shop(row: Any, field: Any, value: Any) -> Any:
    id = rules.as_id(str(value.pk if isinstance(value, models.Model) else value))
    found = None if id is None else field.related_model.objects.filter(shop_id=row.shop_id, pk=id).first()
    if found is None:
        raise ValidationError(f"The shop has no such {field.related_model._meta.verbose_name}.")
    return found


def _fitting_json(field: Any, value: Any) -> Any:
    problems = rules.json_errors({field.name: value})
    if problems:
        raise ValidationError(problems[field.name])
    if b"\\u0000" in orjson.dumps(value):
        raise ValidationError("NUL characters cannot be stored.")
    return value
