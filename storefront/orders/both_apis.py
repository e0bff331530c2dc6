"""Operations that `/api/v1` and the App API both have: the same record, each under its own member (R-APP-30)."""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from django.http import HttpResponse
from ninja import Router, Schema
from pydantic import create_model

from storefront.kit.api.http import json_response
from storefront.kit.api.schemas import answers
from storefront.shops.auth import app_scope, scope


@cache
def of_app(schema: type[Schema], member: str) -> type[Schema]:
    """This response with one member, as the App API has it: under another name."""
    (field,) = schema.model_fields.values()
    given: Any = {member: (field.annotation, field)}
    return create_model(f"{schema.__name__}OfApp", __base__=Schema, __doc__=schema.__doc__, **given)


def on_both(
    routers: tuple[Router, Router],
    method: str,
    path: str,
    *,
    right: str,
    response: type[Schema],
    member: str,
    errors: tuple[int, ...],
    summary: str,
    status: int = 201,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates a handler that returns a record: under `data` in `/api/v1`, under `member` in the App API, whose
    operation has the handler's name with `_for_app`."""

    def register(handler: Callable[..., Any]) -> Callable[..., Any]:
        versions = ((scope, response, "data", ""), (app_scope, of_app(response, member), member, "_for_app"))
        for router, (auth, schema, name, suffix) in zip(routers, versions, strict=True):
            answering = _answering(handler, name, status)
            answering.__name__ += suffix
            given: Any = {"auth": auth(right), "response": answers({status: schema}, *errors), "summary": summary}
            router.api_operation([method], path, **given)(answering)
        return handler

    return register


def _answering(handler: Callable[..., Any], member: str, status: int) -> Callable[..., HttpResponse]:
    @wraps(handler)
    def answering(*args: Any, **kwargs: Any) -> HttpResponse:
        return json_response({member: handler(*args, **kwargs)}, status=status)

    return answering
