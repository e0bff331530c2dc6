"""What the keys of a product of a file say: the slug by which it is looked up, and whether they agree with a product of
the shop."""

import unicodedata

from storefront.catalogue import rules
from storefront.product_files.existing import Found
from storefront.product_files.parsed_products import Keys, ParsedProduct


def described(key: str) -> str:
    """A key of `_own_keys` on one line."""
    return key.replace("\n", ", ")


def looked_up_slug(parsed: ParsedProduct) -> str:
    """The slug by which the product is looked up: the stated one, or that of its name if it states no key."""
    keys = parsed.keys
    if keys.slug or keys.external_id or keys.sku or not keys.name:
        return keys.slug
    return slug_of_name(keys)


def slug_before(digits: str) -> str:
    return f"product-{digits}"


def slug_of_name(keys: Keys) -> str:
    return rules.slug_of(keys.name, fallback="product")


def is_named(found: Found, keys: Keys) -> bool:
    return bool(keys.name) and _folded(keys.name) == _folded(found.name)


def _folded(name: str) -> str:
    # A file from a Mac may have accents as separate characters.
    return unicodedata.normalize("NFC", name).casefold()


def agrees(keys: Keys, found: Found) -> bool:
    if keys.sku and keys.sku == found.sku:
        return True
    if keys.slug:
        return keys.slug.casefold() == found.slug.casefold()
    return is_named(found, keys) or (bool(keys.name) and found.slug == slug_of_name(keys))
