"""The limits of one product of a file, which are those of the API and the admin."""

from collections.abc import Iterator

from storefront.catalogue import rules
from storefront.product_files.parsed_products import Failure, ParsedProduct, Problem, ReadResult

LIMITED = ("categories", "media", "variants", "options", "bundle_items")


def within_limits(results: Iterator[ReadResult]) -> Iterator[ReadResult]:
    """Replace each product with too many categories, pictures, variants, options or items by a failure."""
    for parsed in results:
        problems = []
        if isinstance(parsed, ParsedProduct):
            too_many = rules.too_many({name: getattr(parsed, name) for name in LIMITED})
            problems = [Problem(parsed.line, name, problem) for name, problem in too_many.items()]
        yield Failure(problems) if problems else parsed
