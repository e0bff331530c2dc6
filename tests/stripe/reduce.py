"""Reduces Stripe's OpenAPI document to the shapes of the calls that we make:

    python -m tests.stripe.reduce spec3.yaml COMMIT > tests/stripe/openapi.json

The document is openapi/spec3.yaml of github.com/stripe/openapi. Its texts are left out.
"""

import json
import sys
from typing import Any

import yaml

CALLS = (
    ("/v1/account", "get"),
    ("/v1/customers", "post"),
    ("/v1/disputes", "get"),
    ("/v1/payment_intents", "get"),
    ("/v1/payment_intents", "post"),
    ("/v1/payment_intents/search", "get"),
    ("/v1/payment_intents/{intent}", "get"),
    ("/v1/payment_intents/{intent}/cancel", "post"),
    ("/v1/payment_intents/{intent}/capture", "post"),
    ("/v1/payment_intents/{intent}/confirm", "post"),
    ("/v1/payment_methods/{payment_method}", "get"),
    ("/v1/payment_methods/{payment_method}/detach", "post"),
    ("/v1/refunds", "get"),
    ("/v1/refunds", "post"),
    ("/v1/webhook_endpoints", "get"),
)
# Objects whose shapes are kept. A reference to another one is any object.
OBJECTS = (
    *("account", "api_errors", "charge", "customer", "dispute", "error", "event", "payment_intent", "payment_method"),
    *("payment_intent_next_action", "payment_intent_next_action_redirect_to_url", "payment_method_card", "refund"),
    *("payment_method_details", "payment_method_details_card", "payment_method_details_sepa_debit"),
    *("payment_method_sepa_debit", "notification_event_data", "webhook_endpoint"),
)
KEPT = ("type", "enum", "nullable", "required", "properties", "items", "anyOf", "$ref", "additionalProperties")


def shape(schema: Any) -> Any:
    """The schema without its texts, and with references only to what is kept."""
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return {"$ref": f"#/objects/{name}"} if name in OBJECTS else {"type": "object"}
    kept = {key: value for key, value in schema.items() if key in KEPT}
    for key in ("properties",):
        if key in kept:
            kept[key] = {name: shape(each) for name, each in kept[key].items()}
    for key in ("items", "additionalProperties"):
        if key in kept:
            kept[key] = shape(kept[key])
    if "anyOf" in kept:
        kept["anyOf"] = [shape(each) for each in kept["anyOf"]]
    if kept.pop("nullable", False):
        return {"anyOf": [kept, {"type": "null"}]}
    return kept


def call(operation: dict[str, Any]) -> dict[str, Any]:
    """What a call takes, in its query or as a form, and what it answers."""
    form = operation["requestBody"]["content"].get("application/x-www-form-urlencoded", {}).get("schema", {})
    query = [each for each in operation.get("parameters", ()) if each["in"] == "query"]
    return {
        "query": {each["name"]: shape(each["schema"]) for each in query},
        "form": shape(form),
        "answer": shape(operation["responses"]["200"]["content"]["application/json"]["schema"]),
    }


def main(path: str, commit: str) -> None:
    with open(path, encoding="utf-8") as file:
        document = yaml.load(file, Loader=yaml.CSafeLoader)
    reduced = {
        "source": f"openapi/spec3.yaml of github.com/stripe/openapi at {commit}",
        "version": document["info"]["version"],
        "calls": {f"{method} {path}": call(document["paths"][path][method]) for path, method in CALLS},
        "objects": {name: shape(document["components"]["schemas"][name]) for name in OBJECTS},
    }
    json.dump(reduced, sys.stdout, sort_keys=True, separators=(",", ":"))


if __name__ == "__main__":
    main(*sys.argv[1:])
