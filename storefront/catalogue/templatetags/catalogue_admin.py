"""Template filters for the groups of fields on the page of a product."""

from typing import Any

from django import template

register = template.Library()


@register.filter
def has_errors(fieldset: Any) -> bool:
    """Returns True if a field of this group has errors, so that the group must be open."""
    return any(name in fieldset.form.errors for line in fieldset.fields for name in _names(line))


def _names(line: Any) -> list[str]:
    return [line] if isinstance(line, str) else list(line)
