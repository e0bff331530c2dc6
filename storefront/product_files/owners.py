"""Finds the product that owns the SKUs of a product of a file whose other keys are not known.

What must never happen: a second product with the SKUs of existing variants, because a file has only some rows of the
first one; a new product that is merged with another one because they share a SKU.
"""

from collections.abc import Mapping, Sequence

from storefront.product_files.existing import Found
from storefront.product_files.parsed_products import ParsedProduct
from storefront.product_files.variant_matching import FoundVariant


def skus_of(parsed: ParsedProduct) -> set[str]:
    """The SKUs of the product and of its variants."""
    return {sku for sku in (parsed.keys.sku, *(each.sku for each in parsed.variants or ())) if sku}


def owner_of(parsed: ParsedProduct, found: Mapping[str, Sequence[FoundVariant]]) -> Found | None:
    """The one product that owns all the SKUs that the shop knows, given with their variants. The product's SKUs have to
    be all known, or its name the same."""
    products = {each.product for same in found.values() for each in same}
    if len(products) != 1:
        return None
    (owner,) = products
    stated = skus_of(parsed) if not parsed.variants else {each.sku for each in parsed.variants}
    is_named = parsed.keys.name.casefold() == owner.name.casefold()
    return owner if is_named or stated <= found.keys() else None
