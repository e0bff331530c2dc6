"""Exports of programs that are recognised but not read, because their columns do not tell what a product costs or which
variants it has."""

from collections.abc import Sequence

from storefront.product_files.csv_reading import normalised_header

# By what the file is, the headers that only it has.
REFUSED: dict[str, tuple[set[str], ...]] = {
    "an export of Etsy's listings": ({"title", "price", "currency_code", "quantity", "image1"},),
    "an export of Wix's new catalogue": ({"handle", "fieldtype", "plaindescription", "price"},),
    "an export of Magento": ({"sku", "attribute_set_code", "product_type"}, {"sku", "_attribute_set", "_type"}),
    "an export of Ecwid": ({"product_internal_id", "product_sku"}, {"product_sku", "product_name", "product_price"}),
    "an export of PrestaShop": (
        {"product id", "reference", "price (tax excl.)"},
        {"product id", "active (0/1)", "reference #"},
        {"id", "reference", "price tax excluded"},
        {"product id", "price tax excluded", "tax rules id"},
    ),
}


def refused_program(headers: Sequence[str]) -> str:
    """What a file with these headers is, if it is known and not read; empty if not."""
    plain = {normalised_header(header).rstrip(" *") for header in headers}
    return next((name for name, signs in REFUSED.items() if any(sign <= plain for sign in signs)), "")


def refusal_of(name: str) -> str:
    return f"This is {name}, which is not read by itself. Map its columns: in the admin, or with --map."
