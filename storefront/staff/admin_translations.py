"""What merchants write, in the further languages of their shop.

A page, or a table within one, names the fields that shoppers read: `translated = ("name", "description")`. In a shop
with further languages, its form has each of them once more for each language, right below the original. Their texts are
stored in the row's column `translations`, by language and field.
"""

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from django import forms
from django.contrib import admin
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.kit import translations
from storefront.shops.languages import CHOICES
from storefront.shops.models import Shop

LANGUAGES = dict(CHOICES)
MISSING = _lazy("Missing. Shoppers see the original.")
# Characters of the original that an empty field shows.
HINT = 80


def field_name(name: str, code: str) -> str:
    """The form's field for the text of `name` in this language."""
    return f"{name}_in_{code}"


class TranslatedForm(forms.ModelForm):
    """Part of the form of a row with translations. `in_languages` has column and language of each field for one."""

    shop: Shop
    in_languages: Mapping[str, tuple[str, str]] = {}
    are_texts_changed = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stored = self.instance.translations or {}
        for key, (name, code) in self.in_languages.items():
            original = self.fields.get(name)
            if original is None or original.disabled:
                self.fields.pop(key, None)
                continue
            text = (stored.get(code) or {}).get(name, "")
            self.initial.setdefault(key, text)
            self._describe(self.fields[key], original, str(self.initial.get(name) or ""), text, code)

    def _describe(self, field: forms.Field, original: forms.Field, shown: str, text: str, code: str) -> None:
        """Give the field its label, and say if it is missing."""
        field.required, field.label = False, f"{original.label} ({LANGUAGES.get(code, code)})"
        field.help_text = MISSING if shown and not text else ""
        field.widget.attrs |= {"lang": code, "dir": "auto", "placeholder": shown[:HINT] if "<" not in shown else ""}
        if "rows" in original.widget.attrs:
            field.widget.attrs["rows"] = original.widget.attrs["rows"]

    def _clean_fields(self) -> None:
        super()._clean_fields()  # type: ignore[misc]
        for key in self._changed_fields():
            if key in self.cleaned_data:
                name = self.in_languages[key][0]
                try:
                    text = (self.cleaned_data[key] or "").strip()
                    self.cleaned_data[key] = self.clean_translation(name, text)  # type: ignore[attr-defined]
                    self.instance._meta.get_field(name).run_validators(self.cleaned_data[key])
                except forms.ValidationError as error:
                    self.add_error(key, error)
        self.are_texts_changed = bool(changed := self.changed_texts())
        if changed:
            self.instance.translations = translations.merged(self.instance.translations, changed)

    def changed_texts(self) -> dict[str, dict[str, str]]:
        """The texts that differ from those that are stored, by language and field."""
        changed: dict[str, dict[str, str]] = {}
        for key in self._changed_fields():
            name, code = self.in_languages[key]
            if key in self.cleaned_data:
                changed.setdefault(code, {})[name] = self.cleaned_data[key]
        return changed

    def _changed_fields(self) -> list[str]:
        return [key for key in self.in_languages if key in self.fields and key in self.changed_data]

    def changed_columns(self) -> list[str]:
        more = {"translations"} if self.are_texts_changed else set()
        return sorted({*super().changed_columns(), *more})  # type: ignore[misc]


class Translated:
    """Part of a page or of a table within one. `translated`: the names of the fields that shoppers read."""

    translated: tuple[str, ...] = ()
    form: Any
    model: type[models.Model]

    def get_fieldsets(self, request: Any, obj: Any = None) -> Any:
        groups = super().get_fieldsets(request, obj)  # type: ignore[misc]
        codes = self.languages(request, obj)
        if not codes:
            return groups
        return [
            (title, options | {"fields": list(_with_translations(options["fields"], self.translated, codes))})
            for title, options in groups
        ]

    def languages(self, request: Any, obj: Any = None) -> list[str]:
        """The languages that the form has fields for. Who may only look sees the originals."""
        may = obj is None or self.has_change_permission(request, obj)  # type: ignore[attr-defined]
        shop = getattr(request, "shop", None)
        return list(shop.further_languages) if self.translated and shop and may else []

    def form_in_languages(self, request: Any, codes: list[str]) -> type[forms.ModelForm]:
        """The form with a field for each language of each translated field."""
        keys = {field_name(name, code): (name, code) for name in self.translated for code in codes}
        fields = {key: self._copied(request, name) for key, (name, _code) in keys.items()}
        return type(self.form.__name__, (TranslatedForm, self.form), {**fields, "in_languages": keys})

    def _copied(self, request: Any, name: str) -> forms.Field:
        declared = self.form.declared_fields.get(name)
        if declared is not None:
            return deepcopy(declared)
        return self.formfield_for_dbfield(self.model._meta.get_field(name), request)  # type: ignore[attr-defined]


def _with_translations(names: Iterable[Any], translated: Iterable[str], codes: Iterable[str]) -> Iterator[Any]:
    """The names of a group of fields, each line of it followed by the translations of what it has."""
    for line in names:
        yield line
        for name in line if isinstance(line, list | tuple) else (line,):
            if name in translated:
                yield from (field_name(name, code) for code in codes)


def missing_filter(*names: str) -> type[admin.SimpleListFilter]:
    """A filter of a list: rows that have one of these texts, and not in a language of the shop."""

    class MissingTranslations(admin.SimpleListFilter):
        title, parameter_name = _lazy("translations"), "untranslated"

        def lookups(self, request: Any, model_admin: Any) -> list[tuple[str, str]]:
            codes = request.shop.further_languages
            return [(code, _("Missing in %(language)s") % {"language": LANGUAGES.get(code, code)}) for code in codes]

        def queryset(self, request: Any, queryset: Any) -> Any:
            return queryset.filter(lacking(names, self.value())) if self.value() else queryset

    return MissingTranslations


def lacking(names: Iterable[str], code: str | None) -> Q:
    """The condition for rows that lack the translation of one of these texts."""
    found = Q()
    for name in names:
        has_text = ~Q(**{name: ""}) & Q(**{f"{name}__isnull": False})
        found |= has_text & (Q(translations__isnull=True) | Q(**{f"translations__{code}__{name}__isnull": True}))
    return found
