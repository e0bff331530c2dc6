"""Which query parameters and ids a list of the admin accepts.

Django lets staff filter a list by any column, and so find out letter by letter a value that no page shows, such as the
digest of a token. Our lists accept only the parameters of their own filters and links.
"""

from collections.abc import Iterable
from typing import Any

from django.contrib.admin import ListFilter
from django.contrib.admin.utils import get_fields_from_path
from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import Model
from django.http import QueryDict

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
