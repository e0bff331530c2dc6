"""bin/api_changes.py tells what would break a generated client."""

from copy import deepcopy
from typing import Any

import pytest

from bin.api_changes import breaking_changes

PARAMETER = {"name": "page", "in": "query", "required": False, "schema": {"type": "integer"}}
OLD: dict[str, Any] = {
    "paths": {"/a": {"get": {"operationId": "get_a", "parameters": [PARAMETER], "responses": {"200": {}, "404": {}}}}},
    "components": {
        "schemas": {
            "A": {"required": ["x"], "properties": {"x": {"type": "integer"}, "y": {"enum": ["a", "b"]}}},
        }
    },
}


def put(document: dict[str, Any], value: Any, *path: str) -> None:
    for step in path[:-1]:
        document = document[step]
    if value is None:
        del document[path[-1]]
    else:
        document[path[-1]] = value


GET, A = ("paths", "/a", "get"), ("components", "schemas", "A")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ((None, "paths", "/a"), "GET /a is gone"),
        ((None, *GET), "GET /a is gone"),
        (("read_a", *GET, "operationId"), "GET /a is called read_a, was get_a"),
        (([PARAMETER, {"name": "q", "required": True}], *GET, "parameters"), "GET /a requires the parameter q"),
        (([], *GET, "parameters"), "GET /a lacks the parameter page"),
        (({"200": {}}, *GET, "responses"), "GET /a no longer describes 404"),
        ((None, *A), "the schema A is gone"),
        ((None, *A, "properties", "y"), "A.y is gone"),
        ((["x", "y"], *A, "required"), "A.y is required"),
        (([], *A, "required"), "A.x may be left out"),
        (({"type": "string"}, *A, "properties", "x"), 'A.x is {"type": "string"}, was {"type": "integer"}'),
        (({"enum": ["a"]}, *A, "properties", "y"), 'A.y is {"enum": ["a"]}, was {"enum": ["a", "b"]}'),
    ],
)
def test_a_breaking_change_is_told(change, said):
    new = deepcopy(OLD)
    put(new, *change)
    assert list(breaking_changes(OLD, new)) == [said]


def test_additions_and_descriptions_break_nothing():
    new = deepcopy(OLD)
    new["paths"]["/b"] = new["paths"]["/a"]
    new["components"]["schemas"]["B"] = {}
    put(new, {"type": "string"}, *A, "properties", "z")
    put(new, {"type": "integer", "description": "Another text."}, *A, "properties", "x")
    put(new, [PARAMETER, {"name": "q", "required": False}], *GET, "parameters")
    assert list(breaking_changes(OLD, new)) == []
