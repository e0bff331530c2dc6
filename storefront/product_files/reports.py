"""The report of an import as rows of a table."""

from collections.abc import Iterable, Iterator
from typing import Any

from storefront.product_files.parsed_products import Problem

REPORT_COLUMNS = ("line", "key", "what", "reason")


def report_row(problem: Problem) -> tuple[str, str, str, str]:
    """The problem as a row: line, key of the product, kind (error, warning, conflict or skipped), and the reason with
    its column."""
    reason = f"{problem.column}: {problem.reason}" if problem.column else problem.reason
    return str(problem.line), problem.key, problem.severity, reason


def stored_problems(stored: Iterable[dict[str, Any]]) -> Iterator[Problem]:
    return (Problem(**each) for each in stored)
