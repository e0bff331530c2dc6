"""Parts of the admin's lists that are the same in all rows, and that Unfold would make again for each.

They were a third of the processor's time for a page of 50 products: the headers of all columns, which label the cells
on narrow screens, and two templates for each row: the box that chooses it, and the coloured label of its state.
"""

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model
from django.utils.html import escape
from django.utils.safestring import mark_safe
from django.utils.translation import get_language
from unfold.admin import ModelAdmin, checkbox
from unfold.templatetags import unfold_list

_PLACE = "value-of-the-row"
_headers_of, _display_for_label = unfold_list.result_headers, unfold_list.display_for_label
# Different labels that are kept rendered: a list has a few.
MAX_LABELS = 500


class WithQuickRows(ModelAdmin):
    """Renders the box of each row from the first one's."""

    def action_checkbox(self, obj: Model) -> str:
        """The box that chooses this row."""
        before, after = _box(get_language())
        return mark_safe(f"{before}{escape(obj.pk)}{after}")  # noqa: S308, the rest is Unfold's

    action_checkbox.short_description = ModelAdmin.action_checkbox.short_description  # type: ignore[attr-defined]


@cache
def _box(language: str | None) -> list[str]:
    """The HTML before and after the id of a row, in this language, which is active."""
    return checkbox.render(ACTION_CHECKBOX_NAME, _PLACE).split(_PLACE)


def _headers_once(cl: ChangeList) -> Iterator[dict[str, Any]]:
    """The headers of a list's columns, made once for each request."""
    kept = vars(cl)
    if "headers_of_rows" not in kept:
        kept["headers_of_rows"] = list(_headers_of(cl))
    return iter(kept["headers_of_rows"])


def _label_once(value: Any, empty: str, colours: Any) -> str:
    """The coloured label of a state, which is a text or a pair of key and text."""
    if not isinstance(colours, dict) or not isinstance(value, str | tuple):
        return _display_for_label(value, empty, colours)
    # Texts of another language are others.
    shown = value if isinstance(value, str) else tuple(map(str, value))
    return _label(shown, empty, tuple(colours.items()))


@lru_cache(MAX_LABELS)
def _label(value: str | tuple[str, ...], empty: str, colours: tuple[tuple[str, str], ...]) -> str:
    return _display_for_label(value, empty, dict(colours))


# Unfold has no other place for them: its rows call the functions by these names.
unfold_list.result_headers, unfold_list.display_for_label = _headers_once, _label_once
