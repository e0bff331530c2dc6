"""Limits the number of categories, pictures, variants, options and items of a product in a file."""

from collections.abc import Iterator

from storefront.catalogue import rules
from storefront.product_files.parsed_products import Failure, ParsedProduct, Problem, ReadResult


def within_limits(results: Iterator[ReadResult]) -> Iterator[ReadResult]:
    """Replace each product that exceeds a limit by a failure."""
    names = ("categories", "media", "variants", "options", "bundle_items")
    for parsed in results:
        problems = []
        if isinstance(parsed, ParsedProduct):
            too_many = rules.too_many({name: getattr(parsed, name) for name in names})
            problems = [Problem(parsed.line, name, problem) for name, problem in too_many.items()]
        yield Failure(problems) if problems else parsed
