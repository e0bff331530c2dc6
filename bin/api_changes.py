"""Which differences between two OpenAPI documents break clients that were generated from the older one."""

import json
from collections.abc import Iterator
from typing import Any


def breaking_changes(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """What would break a client that was generated from the old description."""
    for path, methods in old.get("paths", {}).items():
        for method, operation in methods.items():
            name = f"{method.upper()} {path}"
            now = new["paths"].get(path, {}).get(method)
            if now is None:
                yield f"{name} is gone"
                continue
            if now["operationId"] != operation["operationId"]:
                yield f"{name} is called {now['operationId']}, was {operation['operationId']}"
            known = {each["name"] for each in operation["parameters"]}
            yield from (
                f"{name} requires the parameter {each['name']}"
                for each in now["parameters"]
                if each["required"] and each["name"] not in known
            )
            gone = known - {each["name"] for each in now["parameters"]}
            yield from (f"{name} lacks the parameter {parameter}" for parameter in sorted(gone))
            lost = operation["responses"].keys() - now["responses"].keys()
            yield from (f"{name} no longer describes {status}" for status in sorted(lost))
    schemas = new.get("components", {}).get("schemas", {})
    for name, schema in old.get("components", {}).get("schemas", {}).items():
        yield from _breaking_schema(name, schema, schemas.get(name))


def _breaking_schema(name: str, old: dict[str, Any], new: dict[str, Any] | None) -> Iterator[str]:
    if new is None:
        yield f"the schema {name} is gone"
        return
    before, after = old.get("properties", {}), new.get("properties", {})
    yield from (f"{name}.{member} is gone" for member in before if member not in after)
    required = set(new.get("required", [])) - set(old.get("required", []))
    yield from (f"{name}.{member} is required" for member in sorted(required) if member in before)
    yield from (
        f"{name}.{member} may be left out" for member in set(old.get("required", [])) - set(new.get("required", []))
    )
    for member in before.keys() & after.keys():
        if _type(before[member]) != _type(after[member]):
            yield f"{name}.{member} is {_type(after[member])}, was {_type(before[member])}"


def _type(schema: dict[str, Any]) -> str:
    """What a client's type is made of."""
    kept = ("type", "$ref", "anyOf", "allOf", "items", "enum", "const", "additionalProperties", "format")
    return json.dumps({key: schema[key] for key in kept if key in schema}, sort_keys=True)
