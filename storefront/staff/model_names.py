"""The names of models, of their fields and of the fields' choices, in the language of whoever reads them.

Django makes most of them from names in the code, such as "sort order", so there is no text to mark. All of them are
looked up in the catalogue when they are shown. Migrations know only what the models declare, and do not change.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import Model
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy


def translate_names(models: Iterable[type[Model]]) -> None:
    """Have the names of these models and their fields, help texts and choices looked up when they are shown."""
    for model in filter(is_ours, models):
        options: Any = model._meta
        if "verbose_name_plural" not in options.original_attrs:
            options.verbose_name_plural = gettext_lazy(f"{options.verbose_name}s")
        for name in ("verbose_name", "verbose_name_plural"):
            setattr(options, name, looked_up(getattr(options, name)))
        for field in (*options.local_fields, *options.local_many_to_many):
            field.verbose_name, field.help_text = looked_up(field.verbose_name), looked_up(field.help_text)
            if field.choices:
                field.choices = [(value, looked_up(label)) for value, label in field.flatchoices]


def is_ours(model: type[Model]) -> bool:
    return model.__module__.startswith("storefront.")


def looked_up(text: Any) -> Any:
    """The text in the language of the moment when it is shown. One that is marked already stays as it is."""
    return gettext_lazy(text) if text and not isinstance(text, Promise) else text


def names_of(models: Iterable[type[Model]]) -> Iterator[str]:
    """All texts of these models that are looked up."""
    for model in filter(is_ours, models):
        options: Any = model._meta
        yield from (str(options.verbose_name), str(options.verbose_name_plural))
        for field in (*options.local_fields, *options.local_many_to_many):
            yield from filter(None, (str(field.verbose_name), str(field.help_text)))
            yield from (str(label) for _, label in field.flatchoices if label)
