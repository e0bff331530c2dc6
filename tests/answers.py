"""What an error of the API says, without what belongs to a single request; the words of a page."""

import re
from typing import Any

from storefront.server.api.codes import CODES, PROBLEMS, codes_of
from storefront.server.api.ignored import operation_of


def error_of(answer: Any) -> dict[str, Any]:
    """The error's members `message`, `code`, `errors` and what its code adds. Checks the members that every error has:
    the address of its explanation, the request's id, and the problems, which say what `errors` says (R-ERR-1)."""
    body = dict(answer.json())
    assert body.pop("doc_url") == f"/api/docs/errors#{body['code']}"
    assert body.pop("request_id") == answer.headers["X-Request-Id"]
    if "errors" in body:
        told: dict[str, list[str]] = {}
        for problem in body.pop("problems"):
            assert problem["code"].isidentifier()
            told.setdefault(problem["field"], []).append(problem["message"])
        assert told == body["errors"]
    return body


def without_id(answer: Any) -> tuple[int, bytes]:
    """The status and the body of an answer without the request's id, to compare the answers to two requests."""
    return answer.status_code, answer.content.replace(answer.headers["X-Request-Id"].encode(), b"")


def check_code(answer: Any) -> None:
    """The codes of an error are those that the API's description names for this operation and status."""
    body = answer.json()
    assert CODES[body["code"]].status == answer.status_code
    operation = operation_of(answer.wsgi_request)
    if operation:
        assert body["code"] in codes_of(operation, answer.status_code), (operation.view_func.__name__, body["code"])
    assert {problem["code"] for problem in body.get("problems", [])} <= CODES.keys() | PROBLEMS.keys()


def words_of(text: str) -> set[str]:
    """The whole words of a text: a random token contains "Ada" or "4242" now and then."""
    return set(re.findall(r"\w+", text))
