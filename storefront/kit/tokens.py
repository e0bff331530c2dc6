"""Bearer tokens: a prefix for their kind and 256 random bits. Only their digest is stored."""

import hashlib
import re
import secrets
from typing import TypeGuard

_FORM = re.compile(r"[a-z]+_[A-Za-z0-9_-]{43}\Z")


def new_token(prefix: str) -> str:
    """A new secret such as `cart_4kX...`. Show it once and store `digest(token)`."""
    return f"{prefix}_{secrets.token_urlsafe(32)}"


def digest(token: str) -> str:
    """The token's SHA-256 as 64 hex digits, as stored in tables."""
    return hashlib.sha256(token.encode()).hexdigest()


def is_well_formed(token: str | None, prefix: str) -> TypeGuard[str]:
    """Returns True if the text has the form of a token of this kind. Saves a database query for other text."""
    return token is not None and token.startswith(f"{prefix}_") and _FORM.match(token) is not None
