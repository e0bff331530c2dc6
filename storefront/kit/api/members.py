"""The query parameters `fields` and `include`, which choose members of records, and `ids` (R-SYNC-15, R-SYNC-16)."""

from collections.abc import Collection, Sequence
from typing import Annotated, Any

from ninja import Schema
from pydantic import BeforeValidator, WithJsonSchema

from storefront.kit.ids import MAX_ID, as_id

MAX_IDS = 100


def names_of(schema: type[Schema]) -> tuple[str, ...]:
    """The names of a record's members, in order."""
    return tuple(field.alias or name for name, field in schema.model_fields.items())


def choice(known: Sequence[str]) -> Any:
    """The type of a parameter that takes some of these names, separated by commas."""

    def parse(text: Any) -> tuple[str, ...]:
        given = [name.strip() for name in str(text).split(",")]
        unknown = [name for name in given if name not in known]
        if unknown:
            raise ValueError(f"has unknown names: {', '.join(unknown)[:200]}. Known are {', '.join(known)}")
        return tuple(dict.fromkeys(given))

    # Not declared as a tuple, since the value would then be the list of all repetitions. As for all parameters of the
    # API, the last one counts.
    return Annotated[Any, BeforeValidator(parse), WithJsonSchema({"type": "string"})]


def chosen(
    default: Collection[str], fields: Collection[str] | None, include: Collection[str] | None
) -> frozenset[str] | None:
    """The names of the members to answer with: `fields`, or the `default` ones, and those to `include`. None: the
    default ones."""
    if fields is None and include is None:
        return None
    return frozenset(default if fields is None else fields).union(include or ())


def only(record: dict[str, Any], names: Collection[str] | None) -> dict[str, Any]:
    """The record with these members alone, in its own order."""
    return record if names is None else {name: value for name, value in record.items() if name in names}


def _ids(text: Any) -> tuple[int, ...]:
    found = tuple(dict.fromkeys(as_id(each.strip()) for each in str(text).split(",")))
    if None in found:
        raise ValueError(f"must be ids from 1 to {MAX_ID}, separated by commas")
    if len(found) > MAX_IDS:
        raise ValueError(f"must be at most {MAX_IDS} ids")
    return found  # type: ignore[return-value]


Ids = Annotated[Any, BeforeValidator(_ids), WithJsonSchema({"type": "string"})]
