"""The search texts of a file's products."""

from collections.abc import Iterator

from storefront.catalogue.search_texts import SearchText, search_text
from storefront.product_files.parsed_products import ParsedProduct, ReadResult


def with_search_texts(results: Iterator[ReadResult], language: str) -> Iterator[ReadResult]:
    """The results, each product with its search text: the process that reads the file has more time than the one that
    writes to the database."""
    for parsed in results:
        if isinstance(parsed, ParsedProduct) and parsed.fields.get("name"):
            parsed.search = _search_text(parsed, language)
        yield parsed


def _search_text(parsed: ParsedProduct, language: str) -> SearchText:
    """The search text of the product if it is new."""
    fields = parsed.if_new | parsed.fields
    return search_text(
        language=language,
        name=fields["name"],
        sku=fields.get("sku", ""),
        description=fields.get("description", ""),
        brand=parsed.related_names.get("brand"),
        tags=fields.get("tags"),
        attributes=fields.get("attributes"),
        variants=[
            (variant.fields["name"], variant.fields.get("sku", ""), variant.option_values)
            for variant in parsed.variants or ()
            if variant.fields.get("is_active", True)
        ],
    )
