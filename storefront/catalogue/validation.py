"""Checks values before a write. Problems are collected by field, so that a caller gets all of them together."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.catalogue.dated import sale_periods
from storefront.catalogue.fields import MIN_VALUES, kind_of
from storefront.catalogue.models import Product, Variant
from storefront.catalogue.rules import falls_below_zero

Errors = dict[str, list[str]]

BELOW_ZERO = _lazy("Stock can be below 0 only if backorders are allowed or stock is not tracked.")


def assign(row: Any, values: Mapping[str, Any], errors: Errors, *, within: str = "") -> list[str]:
    """Set fields of the row, named as fields or as columns. Returns the names of the fields that were set.

    For an invalid value, a problem is added to `errors` under its name, prefixed by `within`, and the row keeps its old
    value. References are looked up in the row's own shop.
    """
    given = []
    for name, value in values.items():
        field = row._meta.get_field(name)
        try:
            cleaned = _cleaned(row, field, value)
            if name == "price" and isinstance(row, Product | Variant):
                _check_price(row, cleaned)
            if name == "stock_qty":
                row.stock_before = row.stock_qty
            setattr(row, field.name, cleaned)
            given.append(field.name)
        except ValidationError as problem:
            errors.setdefault(within + name, []).extend(problem.messages)
    return given


def check_sale(
    row: Product | Variant, given: Mapping[str, Any], now: datetime, errors: Errors, within: str = ""
) -> None:
    """Add problems of the sale period, after the values that are `given` were set. Removing a sale price removes its
    dates, and every period is brought to this time."""
    sale_periods.forget_dates(row, given)
    for name, problem in sale_periods.problems(row, given, now).items():
        _add(errors, within + name, problem)
    sale_periods.settle(row, now)


def check_product(product: Product, errors: Errors) -> None:
    """Add problems of the product's values together. The table has the same rules as constraints."""
    check_stock(product, errors)
    for name, least in MIN_VALUES[Product].items():
        if getattr(product, name) < least:
            _add(errors, name, _("Expected %(least)s or more.") % {"least": least})
    if product.available_from and not product.is_preorder:
        _add(errors, "available_from", _("Only a pre-order has a date. Set is_preorder, or leave this empty."))
    if product.publish_at and product.unpublish_at and product.unpublish_at <= product.publish_at:
        _add(errors, "unpublish_at", _("Expected a time after publish_at."))


def check_media(media: Any, errors: Errors, *, within: str) -> None:
    """Add a problem if the picture has neither a file nor a URL."""
    if not media.file and not media.source_url.startswith(("https://", "http://")):
        _add(errors, f"{within}source_url", _("Expected a file, or a URL that begins with https:// or http://."))


def _check_price(row: Product | Variant, price: Any) -> None:
    if sale_periods.holds(row) and price != row.price:
        raise ValidationError(sale_periods.PRICE_HOLDS)


def check_stock(row: Any, errors: Errors, *, within: str = "") -> None:
    """Add the problem of a product's or variant's stock that was set below zero."""
    # Without `stock_before`, no stock was set.
    if falls_below_zero(row, getattr(row, "stock_before", row.stock_qty)):
        _add(errors, f"{within}stock_qty", str(BELOW_ZERO))


def _add(errors: Errors, field: str, problem: str) -> None:
    errors.setdefault(field, []).append(problem)


def _cleaned(row: Any, field: Any, value: Any) -> Any:
    if value is None and not field.null:
        raise ValidationError(_("Expected a value."))
    return kind_of(field).clean(row, field, value)
