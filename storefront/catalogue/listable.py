"""The only definition of the products that lists can show, apart from their dates (R-CAT-3): as a condition for the ORM
and as SQL."""

from typing import Any

from django.db.models import Q

_IS: dict[str, Any] = {"status": "active", "deleted_at__isnull": True, "exclude_from_catalog": False}

# The part of `sql.LISTED` that a partial index can have as its condition.
LISTABLE = Q(**_IS)


def listable(row: str) -> str:
    """The condition `LISTABLE` in SQL, joined by AND, for the row with this alias, such as `p` or `NEW`."""
    return conditions(row, _IS)


def conditions(row: str, lookups: dict[str, Any]) -> str:
    """The lookups of a query set as conditions in SQL, joined by AND."""
    return " AND ".join(_condition(row, *item) for item in lookups.items())


def _condition(row: str, lookup: str, value: Any) -> str:
    column, _, is_null = lookup.partition("__")
    if is_null:
        return f"{row}.{column} IS {'' if value else 'NOT '}NULL"
    if isinstance(value, bool):
        return f"{'' if value else 'NOT '}{row}.{column}"
    return f"{row}.{column} = '{value}'"
