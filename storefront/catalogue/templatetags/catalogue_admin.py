"""What the page of a product asks of its groups of fields."""

from typing import Any

from django import template

register = template.Library()


@register.filter
def has_errors(fieldset: Any) -> bool:
    """Whether a field of this group was refused, so that the group must be open."""
    return any(name in fieldset.form.errors for line in fieldset.fields for name in _names(line))


def _names(line: Any) -> list[str]:
    return [line] if isinstance(line, str) else list(line)
