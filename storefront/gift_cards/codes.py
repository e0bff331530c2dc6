"""Creates, compares and formats the codes of gift cards.

A code has 97 random bits. Its digest includes the shop, so the same code has another digest in another shop.
"""

import re
import secrets

from storefront.kit import tokens
from storefront.kit.codes import typed_code
from storefront.shops.models import Shop

# Characters that are not mistaken for each other.
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH = 20
_FORM = re.compile(rf"[{_ALPHABET}]{{{_LENGTH}}}\Z")
_SEPARATORS = re.compile(r"[ \-\u2010\u2011\u2013]+")


def new_code() -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))


def normal_code(text: str) -> str:
    """Normalise a code for comparison: capitals, no white space, no hyphens."""
    return _SEPARATORS.sub("", typed_code(text))


def is_well_formed(code: str) -> bool:
    """Returns False if the normalised text cannot be a code, which saves a database query."""
    return _FORM.match(code) is not None


def digest(shop: Shop, code: str) -> str:
    """The digest of a normalised code; only this is stored."""
    return tokens.digest(f"{shop.pk}:{code}")


def for_people(code: str) -> str:
    """Format the code in groups of four, as `K7QM-…`."""
    return "-".join(code[i : i + 4] for i in range(0, len(code), 4))
