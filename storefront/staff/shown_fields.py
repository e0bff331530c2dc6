"""Digests of the values that a form of the admin showed. A hidden field takes them along and returns them.

A field that comes back unchanged is not saved, even if somebody changed its value meanwhile: so an old page undoes
nothing. By row and field: `{"product:5": {"name": "1f0c…"}}`.
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from django import forms

Shown = dict[str, dict[str, str]]
NAME = "shown"
_LENGTH = 12


def shown_in(all_forms: Iterable[forms.BaseForm]) -> str:
    """The hidden field's value for these forms, which are not bound."""
    found: Shown = {}
    for form in all_forms:
        if getattr(form, "instance", None) is not None and form.instance.pk:  # type: ignore[attr-defined]
            found[key_of(form)] = {bound.name: _digest(bound, _shown(bound)) for bound in form if _is_kept(bound.field)}
    return json.dumps(found, separators=(",", ":"))


def read(text: str) -> Shown:
    """The value that came back; empty if it is missing or damaged, so that every field counts as it was sent."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    rows = given.items() if isinstance(given, dict) else ()
    return {key: row for key, row in rows if isinstance(row, dict)}


def is_as_shown(shown: Shown, form: Any, name: str) -> bool:
    """Returns True if the bound form returns this field as it was shown."""
    bound = form[name]
    digest = shown.get(key_of(form), {}).get(name)
    return digest is not None and _is_kept(bound.field) and digest == _digest(bound, bound.data)


def key_of(form: Any) -> str:
    return f"{form.instance._meta.model_name}:{form.instance.pk}"


def _is_kept(field: forms.Field) -> bool:
    # A file comes only if one was chosen, and other hidden fields show what these showed.
    return not (field.disabled or field.show_hidden_initial or isinstance(field, forms.FileField))


def _shown(bound: forms.BoundField) -> Any:
    """The value that the browser returns if nobody changes the field."""
    widget, value = bound.field.widget, bound.value()
    if hasattr(widget, "posted"):
        return widget.value_from_datadict(widget.posted(bound.html_name, value or []), {}, bound.html_name)
    if isinstance(widget, forms.MultiWidget):
        parts = zip(widget.widgets, widget.decompress(value) or (), strict=True)
        return [part.format_value(each) for part, each in parts]
    return bool(value) if isinstance(widget, forms.CheckboxInput) else widget.format_value(value)


def _digest(bound: forms.BoundField, value: Any) -> str:
    values = value if isinstance(value, list | tuple) else [value]
    plain = [each if isinstance(each, dict | bool) else _text(each) for each in values]
    if getattr(bound.field.widget, "allow_multiple_selected", False):
        plain.sort(key=str)
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:_LENGTH]


def _text(value: Any) -> str:
    # Browsers send line breaks as two characters.
    return "" if value is None else "\n".join(str(value).splitlines()).strip()
