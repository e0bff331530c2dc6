"""Bearer tokens: a prefix for their kind and 256 random bits. Only their digest is stored.

A token of a shop has the shop's code between the two (R-CALL-35): its id in hexadecimal digits, of a fixed length. By
the code, a proxy finds the pod of the shop (docs/pods.md). The code is only a hint: the digest of the whole token
decides. Tokens of a shop that were made before there were codes have none, and work as well.
"""

import hashlib
import re
import secrets
from typing import TypeGuard

# Every id fits: they are below 2^53.
CODE_DIGITS = 14
_FORM = re.compile(rf"(?:[a-z]+_|(?:api|app)_([0-9a-f]{{{CODE_DIGITS}}}))[A-Za-z0-9_-]{{43}}\Z")


def new_token(prefix: str, *, shop_id: int | None = None) -> str:
    """A new secret such as `cart_4kX...`, with the code of a shop if it has one. Show it once and store
    `digest(token)`."""
    code = "" if shop_id is None else f"{shop_id:0{CODE_DIGITS}x}"
    return f"{prefix}_{code}{secrets.token_urlsafe(32)}"


def digest(token: str) -> str:
    """The token's SHA-256 as 64 hex digits, as stored in tables."""
    return hashlib.sha256(token.encode()).hexdigest()


def is_well_formed(token: str | None, prefix: str) -> TypeGuard[str]:
    """Returns True if the text has the form of a token of this kind. Saves a database query for other text."""
    return token is not None and token.startswith(f"{prefix}_") and _FORM.match(token) is not None


def coded_shop(token: str) -> int | None:
    """The id in the token's shop code, which anybody can forge; None for a token without one."""
    found = _FORM.match(token)
    return int(found[1], 16) if found and found[1] else None
