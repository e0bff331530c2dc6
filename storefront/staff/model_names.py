"""The names of models, of their fields and of the fields' choices, in the language of whoever reads them.

Django makes most of them from names in the code, such as "sort order", so there is no text to mark. All of them are
looked up in the catalogue when they are shown. Migrations know only what the models declare, and do not change.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import flatten, flatten_fieldsets
from django.db.models import Model
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from storefront.kit.plain_names import plain_name

# The classes that all pages are made of.
_BASES = ("storefront.staff.admin_base", "unfold.admin", "django.contrib.admin.options")


def translate_names(models: Iterable[type[Model]]) -> None:
    """Have the names of these models and their fields, help texts and choices looked up when they are shown."""
    for model in filter(is_ours, models):
        options: Any = model._meta
        if "verbose_name_plural" not in options.original_attrs:
            options.verbose_name_plural = gettext_lazy(f"{options.verbose_name}s")
        for name in ("verbose_name", "verbose_name_plural"):
            setattr(options, name, looked_up(getattr(options, name)))
        for field in (*options.local_fields, *options.local_many_to_many):
            if not isinstance(field.verbose_name, Promise):
                field.verbose_name = gettext_lazy(plain_name(field.verbose_name))
            field.help_text = looked_up(field.help_text)
            if field.choices:
                field.choices = [(value, looked_up(label)) for value, label in field.flatchoices]


def is_ours(model: type[Model]) -> bool:
    return model.__module__.startswith("storefront.")


def looked_up(text: Any) -> Any:
    """The text in the language of the moment when it is shown. One that is marked already stays as it is."""
    return gettext_lazy(text) if text and not isinstance(text, Promise) else text


def texts_of_admin() -> set[str]:
    """All texts that are looked up for the admin's pages: of the models and fields shown there, and of groups of
    fields."""
    return {text for _page, text in places_of_admin()}


def places_of_admin() -> Iterator[tuple[str, str]]:
    """The same texts, each with the name of its page."""
    admin.autodiscover()
    for model, page in admin.site._registry.items():
        for each in (page, *(inline(model, admin.site) for inline in page.inlines)):
            yield from ((f"{type(each).__module__}.{type(each).__name__}", text) for text in _texts_of_page(each))


def _texts_of_page(page: Any) -> Iterator[str]:
    options, fieldsets = page.model._meta, page.fieldsets or ()
    yield from (str(title) for title, _options in fieldsets if title)
    if not is_ours(page.model):
        return
    yield from (str(options.verbose_name), str(options.verbose_name_plural))
    shown = flatten([*(page.list_display if hasattr(page, "list_display") else ()), *(page.fields or ())])
    shown += [*flatten_fieldsets(fieldsets), *page.readonly_fields, *(page.form.base_fields or ())]
    shown += getattr(page, "new_fields", None) or []
    # A page that chooses its fields for each row can show all of them.
    shows_all = any("get_fields" in vars(owner) for owner in type(page).__mro__ if owner.__module__ not in _BASES)
    filters = [each[0] if isinstance(each, tuple) else each for each in getattr(page, "list_filter", ())]
    for field in (*options.local_fields, *options.local_many_to_many):
        if (field.editable and shows_all) or field.name in (*shown, *filters):
            yield from filter(None, (str(field.verbose_name), str(field.help_text)))
            yield from (str(label) for value, label in field.flatchoices if label and label != value)
