"""The report of an import as rows of a CSV file."""

from storefront.kit.spreadsheets import escape_formula
from storefront.product_files.parsed_products import Problem

REPORT_COLUMNS = ("line", "key", "what", "reason")


def report_row(problem: Problem) -> list[str]:
    """The problem's line, what identifies its product, whether it is an error, warning, conflict or skipped product,
    and the reason, after the column that it is about. Texts of the imported file can begin like a formula."""
    reason = f"{problem.column}: {problem.reason}" if problem.column else problem.reason
    return [escape_formula(text) for text in (str(problem.line), problem.key, problem.severity, reason)]
