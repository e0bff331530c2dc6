"""The base form of the admin: it belongs to one shop, and saves only changed columns. Also which query parameters and
ids a list of the admin accepts.

Django lets staff filter a list by any column, and so find out letter by letter a value that no page shows, such as the
digest of a token. Our lists accept only the parameters of their own filters and links.
"""

from collections.abc import Iterable
from datetime import datetime
from functools import cached_property
from typing import Any

from django import forms
from django.contrib.admin import ListFilter
from django.contrib.admin.utils import get_fields_from_path
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db import connection, models
from django.db.models import Model
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminTextInputWidget

from storefront.kit import markup
from storefront.kit.refusals import InvalidFields
from storefront.kit.text import Text
from storefront.shops.languages import FURTHER_CHOICES, problem_of_further
from storefront.shops.models import Shop
from storefront.staff import shown_fields

IMPOSSIBLE = _lazy("This value is not valid, or does not fit the other values.")


class ShopScopedForm(forms.ModelForm):
    """`bind` sets `shop` and `now` on the form class of each request, and `shown`, the values that the page showed, if
    it sends them. A field that comes back as shown keeps its present value."""

    shop: Shop
    now: datetime
    shown: shown_fields.Shown = {}
    # True for a form that is shown again as it was sent, and is not to be saved (`held_forms`, `form_rows`).
    is_held = False

    # By constraint name: field and message, where the general message would not help.
    constraint_errors: dict[str, tuple[str, Text]] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if hasattr(self.instance, "shop_id"):
            self.instance.shop = self.shop

    @cached_property
    def changed_data(self) -> list[str]:
        return [name for name in super().changed_data if not shown_fields.is_as_shown(self.shown, self, name)]

    def is_valid(self) -> bool:
        return super().is_valid() and not self.is_held

    def _clean_fields(self) -> None:
        super()._clean_fields()  # type: ignore[misc]
        columns = {column.name for column in self.instance._meta.concrete_fields}
        for name in self.shown.get(shown_fields.key_of(self), {}).keys() & self.fields.keys():
            if name not in self.changed_data and self.fields[name].has_changed(self[name].initial, self[name].data):
                now = getattr(self.instance, name) if name in columns else None
                self.cleaned_data[name] = now if name in columns else self.fields[name].to_python(self[name].initial)
                self.errors.pop(name, None)

    def clean(self) -> Any:
        cleaned = super().clean()
        for field in self.instance._meta.concrete_fields:
            if isinstance(field, models.TextField) and field.name in self.changed_data:
                self._check_markup(field.name)
        return cleaned

    def _check_markup(self, name: str) -> None:
        """Refuse a changed text that cannot be shown as HTML."""
        if problem := markup.problem_of_change(self.cleaned_data.get(name) or "", self.initial.get(name)):
            self.add_error(name, _("This text %(problem)s.") % {"problem": problem})

    def clean_translation(self, name: str, text: str) -> str:
        """The text of this field in another language, cleaned as the original is. Raises ValidationError."""
        if isinstance(self.instance._meta.get_field(name), models.TextField) and (problem := markup.problem(text)):
            raise forms.ValidationError(_("This text %(problem)s.") % {"problem": problem})
        tidy = getattr(self.fields[name], "tidy", None)
        return tidy(text) if tidy else text

    def full_clean(self) -> None:
        self._check_choices()
        super().full_clean()

    def _check_choices(self) -> None:
        """Raises InvalidFields for a choice that cannot be an id. Django's autocomplete fields would query it when the
        form is shown again, and fail."""
        for name, field in self.fields.items():
            if self.is_bound and isinstance(field, forms.ModelChoiceField):
                given = self[name].data
                chosen = [str(each) for each in (given if isinstance(given, list) else [given]) if each]
                if len(possible_ids(field.queryset.model, chosen)) < len(chosen):  # type: ignore[union-attr]
                    raise InvalidFields(
                        errors={name: [_("%(field)s: choose one of the options.") % {"field": field.label or name}]}
                    )

    def _post_clean(self) -> None:
        # Django's own check skips every constraint with a column that is not in the form, such as `shop`. So it is
        # switched off here, and `_check_constraints` checks all of them.
        self.instance.validate_constraints = lambda exclude=None: None
        try:
            super()._post_clean()  # type: ignore[misc]
        finally:
            del self.instance.validate_constraints
        self._check_constraints()

    def _check_constraints(self) -> None:
        """Check all constraints of the table and report violations as field errors."""
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
            return (
                field,
                _("Another %(verbose_name)s of this shop already has this %(label)s.")
                % {"verbose_name": self.instance._meta.verbose_name, "label": self[field].label},
            )
        return field, IMPOSSIBLE if field else error

    def changed_columns(self) -> list[str]:
        """The columns to save: only those changed in this form, so that concurrent changes of others are kept."""
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
    """A list of short texts, separated by commas."""

    widget = UnfoldAdminTextInputWidget

    def __init__(self, **kwargs: Any) -> None:
        given: dict[str, Any] = {"required": False, "help_text": _lazy("Separate with commas.")} | kwargs
        super().__init__(**given)

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        words = (word.strip() for word in (value or "").split(","))
        return list(dict.fromkeys(word for word in words if word))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return (initial or []) != self.to_python(data)


def stamp(row: models.Model, now: datetime) -> None:
    """Set `created_at` of a new row and `updated_at`, if the row has these columns."""
    if row._state.adding and hasattr(row, "created_at"):
        row.created_at = now
    if hasattr(row, "updated_at"):
        row.updated_at = now


def _columns_of(constraint: Any) -> list[str]:
    """The columns of a constraint. An error is shown at the last one that is in the form."""
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
    """The lookups of a condition, nested ones too, each split at `__` into column and lookup names."""
    leaves: list[Any] = []
    for child in condition.children:
        leaves += _leaves(child) if isinstance(child, models.Q) else [child[0].split("__")]
    return leaves


NUL = "\x00"


def offered_lookups(model: type[Model], filters: Iterable[Any]) -> set[str]:
    """The query parameters that these list filters use."""
    offered: set[str] = set()
    for each in filters:
        if isinstance(each, type) and issubclass(each, ListFilter):
            offered.add(getattr(each, "parameter_name"))  # noqa: B009, only some kinds of filter have it
            continue
        path = each[0] if isinstance(each, tuple | list) else each
        offered |= {path, f"{path}__exact", f"{path}__isnull"}
        field: Any = get_fields_from_path(model, path)[-1]
        if field.is_relation:
            offered.add(f"{path}__{field.target_field.name}__exact")
    return offered


def possible_ids(model: type[Model], given: Iterable[str]) -> list[Any]:
    """Convert texts to primary keys; texts that cannot be one are left out."""
    return [key for key in (possible_id(model, text) for text in given) if key is not None]


def possible_id(model: type[Model], text: str) -> Any:
    column = model._meta.pk
    assert column is not None
    try:
        key = column.to_python(text)
    except ValidationError:
        return None
    low, high = connection.ops.integer_field_range(column.get_internal_type()) if isinstance(key, int) else (None, None)
    fits = (low is None or key >= low) and (high is None or key <= high)
    return key if fits else None


def has_nul(given: QueryDict) -> bool:
    """Whether a name or a value has a NUL character, which PostgreSQL refuses."""
    return any(NUL in name or any(NUL in value for value in values) for name, values in given.lists())


class FurtherLanguagesField(forms.MultipleChoiceField):
    """A shop's languages besides its main one."""

    def __init__(self, **given: Any) -> None:
        super().__init__(
            choices=FURTHER_CHOICES,
            widget=UnfoldAdminCheckboxSelectMultipleWidget,
            required=False,
            label=_lazy("Further languages"),
            help_text=_lazy("Besides the main one. Their pages are below /de/ and the like."),
        )


def check_further_languages(form: Any) -> None:
    """Add an error to the form if a shop cannot have the languages that were chosen."""
    given = form.cleaned_data
    if "language" not in given or "further_languages" not in given:
        return
    if problem := problem_of_further(given["language"], given["further_languages"]):
        form.add_error("further_languages", problem)
