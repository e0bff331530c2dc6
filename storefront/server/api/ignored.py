"""The header `X-Ignored`: parameters and members of the body that the service does not know (R-CALL-9, R-CALL-31).

They change nothing, as always. The header shows a typo to whoever looks for the reason.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from inspect import getclosurevars, isfunction
from itertools import islice
from types import NoneType, UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin
from urllib.parse import quote

from django.core.exceptions import TooManyFieldsSent
from django.http import HttpRequest
from ninja.operation import Operation, PathView
from pydantic import BaseModel

HEADER = "X-Ignored"
# Names in the header, and characters of each; and of the whole header, since proxies refuse responses with a large one.
MAX_NAMES, MAX_NAME_LENGTH, MAX_VALUE_LENGTH = 10, 60, 1000

# The members of an object that are known, by name, each with its own members if it is an object or a list of objects.
Shape = Mapping[str, Any]


def header_value(names: Iterable[str]) -> str:
    """The names, percent-encoded, separated by commas; as many as there is room for."""
    value = ""
    for name in islice(names, MAX_NAMES):
        # Surrogates, which a query can contain, have no encoding.
        quoted = quote(name[:MAX_NAME_LENGTH], safe="", errors="replace")
        longer = f"{value}, {quoted}" if value else quoted
        if len(longer) > MAX_VALUE_LENGTH:
            break
        value = longer
    return value


def ignored_names(request: HttpRequest) -> Iterator[str]:
    """Names of the parameters of this API call that its operation does not know, then of the members of its body, such
    as `colour` or `variants.0.colour`."""
    operation = operation_of(request)
    if operation is None:
        return
    parameters, body = _known(operation)
    # More parameters than Django reads are an error only where the operation reads them.
    with suppress(TooManyFieldsSent):
        yield from (name for name in request.GET if name not in parameters)
    if body is not None:
        yield from _unknown_members(getattr(request, "given", {}), body, "")


def operation_of(request: HttpRequest) -> Operation | None:
    """The operation that answers this request. Ninja keeps it only in the view's closure."""
    match = request.resolver_match
    view = _path_view(match.func) if match else None
    return view._find_operation(request) if view else None


@lru_cache(maxsize=512)
def _path_view(function: Any) -> PathView | None:
    # Not a function: Ninja's page of the API's root.
    found = getclosurevars(function).nonlocals.get("self") if isfunction(function) else None
    return found if isinstance(found, PathView) else None


@cache
def _known(operation: Operation) -> tuple[frozenset[str], Shape | None]:
    """The names of the operation's query parameters, and the shape of its body."""
    parameters: set[str] = set()
    body = None
    for model in operation.models:
        if model.__ninja_param_source__ == "query":
            parameters |= set(getattr(model, "__ninja_flatten_map__", None) or model.model_fields)
        elif model.__ninja_param_source__ == "body":
            (member,) = model.model_fields.values()
            body = _shape(cast(Hashable, member.annotation))
    return frozenset(parameters), body


@cache
def _shape(annotation: Hashable) -> Shape | None:
    """The members of the annotated objects; None for what has any members, or none."""
    origin = get_origin(annotation)
    if origin in (Annotated, list, Union, UnionType):
        return _shape(next(each for each in get_args(annotation) if each is not NoneType))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {
            field.alias or name: _shape(cast(Hashable, field.annotation))
            for name, field in annotation.model_fields.items()
        }
    return None


def _unknown_members(given: Any, known: Shape, path: str) -> Iterator[str]:
    if isinstance(given, list):
        for position, each in enumerate(given):
            yield from _unknown_members(each, known, f"{path}{position}.")
    elif isinstance(given, dict):
        for name, value in given.items():
            if name not in known:
                yield path + name
            elif known[name] is not None:
                yield from _unknown_members(value, known[name], f"{path}{name}.")
