"""The form under every admin page: it belongs to one shop, and writes only what was changed."""

from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db import models
from unfold.widgets import UnfoldAdminTextInputWidget

from storefront.shops.models import Shop

IMPOSSIBLE = "This does not fit, by itself or with the other values."


class ShopScopedForm(forms.ModelForm):
    """`shop` and `now` are set on the class that an admin makes for one request."""

    shop: Shop
    now: datetime

    # What to say, and beside which field, where the general sentence would not help.
    constraint_errors: dict[str, tuple[str, str]] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance._state.adding and hasattr(self.instance, "shop_id"):
            self.instance.shop = self.shop

    def _post_clean(self) -> None:
        # Django would check constraints too, but leaves out each that has a column which is no field of the form, so
        # every one that begins with the shop.
        self.instance.validate_constraints = lambda exclude=None: None
        try:
            super()._post_clean()  # type: ignore[misc]
        finally:
            del self.instance.validate_constraints
        self._check_constraints()

    def _check_constraints(self) -> None:
        """The table's constraints as field errors, over all columns: those that are no field hold what the row has."""
        exclude = set(self.errors)
        for model, constraints in self.instance.get_constraints():
            for constraint in constraints:
                try:
                    constraint.validate(model, self.instance, exclude=exclude)
                except ValidationError as error:
                    self.add_error(*self._explained(constraint, error))

    def _explained(self, constraint: Any, error: ValidationError) -> tuple[str | None, Any]:
        field, message = self.constraint_errors.get(constraint.name, (None, None))
        if message:
            return field if field in self.fields else None, message
        field = next((name for name in reversed(_columns_of(constraint)) if name in self.fields), None)
        if field and isinstance(constraint, models.UniqueConstraint):
            return field, f"Another {self.instance._meta.verbose_name} of this shop has this {self[field].label}."
        return field, IMPOSSIBLE if field else error

    def changed_columns(self) -> list[str]:
        """The columns to write: what was changed here, never what somebody else changed meanwhile."""
        columns = {"updated_at"} if hasattr(self.instance, "updated_at") else set()
        for name in self.changed_data:
            try:
                column: Any = self.instance._meta.get_field(name)
            except FieldDoesNotExist:
                continue
            if column.concrete and not column.many_to_many:
                columns.add(name)
            if isinstance(column, models.ImageField):
                columns.update(side for side in (column.width_field, column.height_field) if side)  # type: ignore[attr-defined]
        return sorted(columns)

    def save(self, commit: bool = True) -> Any:
        stamp(self.instance, self.now)
        if not commit or self.instance._state.adding:
            return super().save(commit)
        super().save(commit=False)
        self.instance.save(update_fields=self.changed_columns())
        self._save_m2m()  # type: ignore[attr-defined]
        return self.instance


class WordsField(forms.CharField):
    """A list of short texts, written with commas between them."""

    widget = UnfoldAdminTextInputWidget

    def __init__(self, **kwargs: Any) -> None:
        given: dict[str, Any] = {"required": False, "help_text": "With commas between them."} | kwargs
        super().__init__(**given)

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        words = (word.strip() for word in (value or "").split(","))
        return list(dict.fromkeys(word for word in words if word))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return (initial or []) != self.to_python(data)


def stamp(row: models.Model, now: datetime) -> None:
    """Give the row its times where it has such columns."""
    if row._state.adding and hasattr(row, "created_at"):
        row.created_at = now
    if hasattr(row, "updated_at"):
        row.updated_at = now


def _columns_of(constraint: Any) -> list[str]:
    """The columns that a constraint is about, the one to blame last."""
    if isinstance(constraint, models.CheckConstraint):
        return [name for name, *_ in _leaves(constraint.condition)][::-1]
    if fields := getattr(constraint, "fields", ()):
        return list(fields)
    return [name for expression in getattr(constraint, "expressions", ()) for name in _named_in(expression)]


def _named_in(expression: Any) -> list[str]:
    if isinstance(expression, models.F):
        return [expression.name]  # type: ignore[attr-defined]
    return [name for part in expression.get_source_expressions() for name in _named_in(part)]


def _leaves(condition: Any) -> list[Any]:
    """The (column, lookup) names of a condition, however nested, without their values."""
    leaves: list[Any] = []
    for child in condition.children:
        leaves += _leaves(child) if isinstance(child, models.Q) else [child[0].split("__")]
    return leaves
