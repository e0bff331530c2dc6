"""Codes of gift cards: how they are made, compared and shown.

A code has 97 random bits. Its digest is of the shop and the code, so the same code is another one in another shop.
"""

import re
import secrets

from storefront.kit import tokens
from storefront.kit.codes import typed_code
from storefront.shops.models import Shop

# Characters that nobody takes for another one.
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH = 20
_FORM = re.compile(rf"[{_ALPHABET}]{{{_LENGTH}}}\Z")
_SEPARATORS = re.compile(r"[ \-\u2010\u2011\u2013]+")


def new_code() -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))


def normal_code(text: str) -> str:
    """The code as it is compared: in capitals, without white space and hyphens."""
    return _SEPARATORS.sub("", typed_code(text))


def is_well_formed(code: str) -> bool:
    """Whether a code in normal form can be one. Saves a database query for other text."""
    return _FORM.match(code) is not None


def digest(shop: Shop, code: str) -> str:
    """What is stored of a code in normal form."""
    return tokens.digest(f"{shop.pk}:{code}")


def for_people(code: str) -> str:
    """In groups of four, as `K7QM-…`."""
    return "-".join(code[i : i + 4] for i in range(0, len(code), 4))
