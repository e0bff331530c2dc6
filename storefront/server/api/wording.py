"""Turns pydantic's validation errors into sentences about the values expected of a field."""

import re
from typing import Any

EXPECTATIONS = {
    "missing": "is required.",
    "int_type": "must be a whole number.",
    "int_parsing": "must be a whole number.",
    "int_parsing_size": "must be a whole number of fewer digits.",
    "int_from_float": "must be a whole number.",
    "bool_type": "must be true or false.",
    "bool_parsing": "must be true or false.",
    "string_type": "must be a string.",
    "string_unicode": "must be a string of valid Unicode.",
    "string_too_short": "must have at least {min_length} characters.",
    "string_too_long": "must have at most {max_length} characters.",
    "string_pattern_mismatch": "must match {pattern}.",
    "greater_than": "must be greater than {gt}.",
    "greater_than_equal": "must be {ge} or more.",
    "less_than": "must be less than {lt}.",
    "less_than_equal": "must be {le} or less.",
    "list_type": "must be an array.",
    "dict_type": "must be an object.",
    "model_type": "must be an object.",
    "model_attributes_type": "must be an object.",
    "too_short": "must have at least {min_length} entries.",
    "too_long": "must have at most {max_length} entries.",
    "literal_error": "must be {expected}.",
    "enum": "must be {expected}.",
    "none_required": "must be null.",
    "decimal_parsing": "must be a decimal string.",
    "decimal_type": "must be a decimal string.",
    "float_type": "must be a number.",
    "float_parsing": "must be a number.",
    "datetime_type": "must be a time such as 2026-11-21T07:30:00Z.",
    "datetime_parsing": "must be a time such as 2026-11-21T07:30:00Z.",
    "datetime_from_date_parsing": "must be a time such as 2026-11-21T07:30:00Z.",
    "datetime_object_invalid": "must be a time such as 2026-11-21T07:30:00Z.",
    "timezone_aware": "must name its offset from UTC, as in 2026-11-21T07:30:00Z.",
    "url_parsing": "must be an absolute URL.",
    "url_type": "must be an absolute URL.",
    "uuid_parsing": "must be a UUID.",
    "uuid_type": "must be a UUID.",
}


# The code of a problem by the end of pydantic's type.
_CODES = {
    "missing": "required",
    "too_short": "too_short",
    "too_long": "too_long",
    "greater_than": "too_small",
    "greater_than_equal": "too_small",
    "less_than": "too_large",
    "less_than_equal": "too_large",
    "int_parsing_size": "too_large",
    "literal_error": "not_allowed",
    "enum": "not_allowed",
    "pattern_mismatch": "wrong_format",
    "type": "wrong_type",
    "parsing": "wrong_type",
}
_LIMITS = {"ge": "minimum", "gt": "more_than", "le": "maximum", "lt": "less_than"} | {
    name: name for name in ("min_length", "max_length", "pattern")
}
_CHOICE = re.compile(r"'([^']*)'")


def reason(problem: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The problem's code for programs, and the limit or the choices that the value does not keep to."""
    context = problem.get("ctx") or {}
    code = next((code for end, code in _CODES.items() if problem["type"].endswith(end)), "invalid")
    limits = {_LIMITS[name]: value for name, value in context.items() if name in _LIMITS}
    help: dict[str, Any] = {name: value if isinstance(value, int) else str(value) for name, value in limits.items()}
    if code == "not_allowed":
        help["allowed"] = _CHOICE.findall(context["expected"])
    return code, help


def expectation(field: str, problem: dict[str, Any]) -> str:
    """The sentence, such as `qty must be 1 or more.` The message of a validator's ValueError is used as it is."""
    context = problem.get("ctx") or {}
    if field == "body" and problem["type"] == "missing":
        return "The request body must be a JSON object."
    if problem["type"] == "string_too_short" and context.get("min_length") == 1:
        return f"{field} must not be empty."
    known = EXPECTATIONS.get(problem["type"])
    if known:
        return f"{field} {known.format(**context)}"
    message = problem["msg"].removeprefix("Value error, ").rstrip(".")
    return f"{field} {message}." if message[:1].islower() else f"{message}."
