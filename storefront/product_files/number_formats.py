"""Decides from a file's other numbers whether 1.234 is little more than one, or over a thousand."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_AMBIGUOUS = "?"
_NUMBER = re.compile(r"[+-]?[\d.,'’\s]+\Z")


def decimal_sign(value: str) -> str:
    """The decimal sign of a number, `.` or `,`; `?` if it could be one that separates thousands; else empty."""
    points, commas = value.count("."), value.count(",")
    if points and commas:
        return "." if value.rfind(".") > value.rfind(",") else ","
    if points + commas == 0:
        return ""
    sign, other = (".", ",") if points else (",", ".")
    if points + commas > 1:
        return other
    whole, _, fraction = value.lstrip("+-").partition(sign)
    # A whole part such as 0 or 1234 is not followed by a group of three.
    return _AMBIGUOUS if len(fraction) == 3 and 1 <= len(whole) <= 3 and whole[0] != "0" else sign


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """The format of a file's numbers: decimal comma or point, and the note for the report if it is ambiguous."""

    has_comma: bool
    note: str = ""


def number_format(values: Iterable[str]) -> NumberFormat:
    """The format that these numbers have in common."""
    signs: set[str] = set()
    example = ""
    for value in values:
        if not value.isdigit() and _NUMBER.match(value):
            sign = decimal_sign(value)
            signs.add(sign)
            if sign == _AMBIGUOUS:
                example = example or value
    has_comma = "," in signs and "." not in signs
    if not example or ("." in signs and not has_comma and "," not in signs):
        return NumberFormat(has_comma)
    meant = with_decimal_point(example) if has_comma else example if "." in example else example.replace(",", "")
    why = "as the file's other numbers have a decimal comma" if has_comma else "as its other numbers do not tell"
    return NumberFormat(has_comma, f"Numbers such as {example} are read as {meant}, {why}.")


def with_decimal_point(value: str) -> str:
    """An ambiguous number of a file with decimal commas, such as 1.234 or 1,234, with a decimal point instead."""
    if decimal_sign(value) != _AMBIGUOUS:
        return value
    return value.replace(".", "").replace(",", ".")
