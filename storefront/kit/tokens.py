"""Bearer tokens: 256 random bits behind a prefix that tells their kind. Only their digest is ever stored."""

import hashlib
import re
import secrets
from typing import TypeGuard

_FORM = re.compile(r"[a-z]+_[A-Za-z0-9_-]{43}\Z")


def new_token(prefix: str) -> str:
    """A new secret such as `cart_4kX...`; show it once and keep `digest(token)`."""
    return f"{prefix}_{secrets.token_urlsafe(32)}"


def digest(token: str) -> str:
    """The token's SHA-256 as 64 hex digits, which is what tables hold and look up."""
    return hashlib.sha256(token.encode()).hexdigest()


def is_well_formed(token: str | None, prefix: str) -> TypeGuard[str]:
    """Whether the text could be a token of this kind, asked before any database is."""
    return token is not None and token.startswith(f"{prefix}_") and _FORM.match(token) is not None
