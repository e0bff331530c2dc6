"""Checks the calls to the fake, and its answers, twice: against the shapes of Stripe's published OpenAPI document
(openapi.json, made by reduce.py) and against the types of the installed library, which Stripe generates from the
document of the version that we pin. The document is older than that version; the library is exact, but has no
required members. Both must agree."""

import builtins
import json
import sys
import types
import typing
from pathlib import Path
from typing import Any

import jsonschema_rs
import stripe
from stripe import params as library_params

DOCUMENT = json.loads((Path(__file__).parent / "openapi.json").read_text())
PARAMS = {
    "post /v1/customers": library_params.CustomerCreateParams,
    "get /v1/disputes": library_params.DisputeListParams,
    "get /v1/payment_intents": library_params.PaymentIntentListParams,
    "post /v1/payment_intents": library_params.PaymentIntentCreateParams,
    "get /v1/payment_intents/search": library_params.PaymentIntentSearchParams,
    "get /v1/payment_intents/{intent}": library_params.PaymentIntentRetrieveParams,
    "post /v1/payment_intents/{intent}/cancel": library_params.PaymentIntentCancelParams,
    "post /v1/payment_intents/{intent}/capture": library_params.PaymentIntentCaptureParams,
    "post /v1/payment_intents/{intent}/confirm": library_params.PaymentIntentConfirmParams,
    "get /v1/payment_methods/{payment_method}": library_params.PaymentMethodRetrieveParams,
    "post /v1/payment_methods/{payment_method}/detach": library_params.PaymentMethodDetachParams,
    "get /v1/refunds": library_params.RefundListParams,
    "post /v1/refunds": library_params.RefundCreateParams,
    "get /v1/webhook_endpoints": library_params.WebhookEndpointListParams,
}
OBJECTS = {
    "account": stripe.Account,
    "charge": stripe.Charge,
    "customer": stripe.Customer,
    "dispute": stripe.Dispute,
    "event": stripe.Event,
    "payment_intent": stripe.PaymentIntent,
    "payment_method": stripe.PaymentMethod,
    "refund": stripe.Refund,
    "webhook_endpoint": stripe.WebhookEndpoint,
}


def problems_of_call(call: str, given: dict[str, Any]) -> list[str]:
    """What is wrong with the parameters of a call, such as `post /v1/refunds`."""
    described = DOCUMENT["calls"][call]
    form = described["form"]
    allowed = described["query"] | form.get("properties", {})
    schema = {"type": "object", "properties": allowed, "additionalProperties": False}
    schema |= {"required": form["required"]} if form.get("required") else {}
    found = _mismatches(schema, {name: _typed(value, allowed.get(name, {})) for name, value in given.items()})
    return found + [f"library: {each}" for each in _unknown(given, PARAMS.get(call), call)]


def problems_of_answer(call: str, answer: dict[str, Any]) -> list[str]:
    """What is wrong with an answer to a call that succeeded."""
    members = answer["data"] if answer.get("object") in ("list", "search_result") else [answer]
    found = _mismatches(DOCUMENT["calls"][call]["answer"], answer)
    return found + [problem for each in members for problem in problems_of_object(each)]


def problems_of_object(value: dict[str, Any]) -> list[str]:
    """What is wrong with one of Stripe's objects, by the type that it names."""
    kind = value["object"]
    found = _mismatches({"$ref": f"#/objects/{kind}"}, value)
    return found + [f"library: {each}" for each in _unknown(value, OBJECTS[kind], kind)]


def _mismatches(schema: dict[str, Any], value: Any) -> list[str]:
    validator = jsonschema_rs.Draft202012Validator(schema | {"objects": DOCUMENT["objects"]})
    return [
        f"{'.'.join(map(str, error.instance_path))}: {error.message}"[:300] for error in validator.iter_errors(value)
    ]


def _typed(value: Any, schema: dict[str, Any]) -> Any:
    """A form's texts as the schema's types."""
    for option in schema.get("anyOf", [schema]):
        kind = option.get("type")
        if kind == "integer" and isinstance(value, str) and value.isdigit():
            return int(value)
        if kind == "boolean" and value in ("true", "false"):
            return value == "true"
        if kind == "object" and isinstance(value, dict):
            members = option.get("properties", {})
            return {name: _typed(each, members.get(name, {})) for name, each in value.items()}
    return value


def _unknown(value: Any, hint: Any, path: str) -> list[str]:
    """Members and words that the library's types do not know."""
    options = _options(hint)
    if isinstance(value, dict):
        described = [each for each in options if isinstance(each, type) and hasattr(each, "__annotations__")]
        described = [each for each in described if each.__module__.startswith("stripe.") and each.__annotations__]
        if not described:
            return []
        members: dict[str, Any] = {}
        for each in described:
            members |= typing.get_type_hints(each, localns=_Names(each))
        return [
            problem
            for name, inner in value.items()
            for problem in (
                _unknown(inner, members[name], f"{path}.{name}") if name in members else [f"{path} has no {name}"]
            )
        ]
    if isinstance(value, list):
        inner = [arg for each in options for arg in typing.get_args(each)] or [None]
        return [problem for each in value for problem in _unknown(each, inner[0], f"{path}[]")]
    words = [word for each in options if typing.get_origin(each) is typing.Literal for word in typing.get_args(each)]
    if isinstance(value, str) and words and value not in words and not {"true", "false"} >= {value}:
        return [f"{path} is {value!r}, not one of {words}"]
    return []


class _Names(dict):
    """The names in a class's annotations. The library imports some only for type checkers; those are anything."""

    def __init__(self, owner: type) -> None:
        super().__init__(vars(builtins) | vars(stripe) | vars(sys.modules[owner.__module__]) | vars(owner))

    def __missing__(self, name: str) -> Any:
        return _Anything


class _Anything:
    def __class_getitem__(cls, item: Any) -> type:
        return cls


def _options(hint: Any) -> list[Any]:
    """The alternatives of a type, without Optional, NotRequired and the like."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType, typing.NotRequired):
        return [option for each in typing.get_args(hint) for option in _options(each)]
    if getattr(typing.get_origin(hint), "__name__", "") == "NotRequired":
        return _options(typing.get_args(hint)[0])
    return [] if hint in (None, type(None)) else [hint]
