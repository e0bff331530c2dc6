"""Secrets at rest: authenticated encryption with keys derived from SECRET_KEY and the keys that it replaced."""

import base64
import hashlib
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class Unsealable(Exception):
    """No key that is still known made this."""


def seal(secret: bytes, *, purpose: str) -> bytes:
    """The secret, readable again only by `unseal` with the same purpose."""
    return _keys(purpose, settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS).encrypt(secret)


def unseal(sealed: bytes, *, purpose: str) -> bytes:
    """What was sealed. Raises Unsealable."""
    try:
        return _keys(purpose, settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS).decrypt(sealed)
    except InvalidToken:
        raise Unsealable from None


@lru_cache(maxsize=16)
def _keys(purpose: str, *secrets: str) -> MultiFernet:
    # The purpose is mixed into the keys so that what was sealed for one thing cannot be passed off as another.
    digests = (hashlib.sha256(f"storefront.{purpose}:{secret}".encode()).digest() for secret in secrets)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
