"""Encryption of secrets at rest: authenticated, with keys derived from SECRET_KEY and SECRET_KEY_FALLBACKS."""

import base64
import hashlib
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class Unsealable(Exception):
    """None of the configured keys decrypts the value."""


def seal(secret: bytes, *, purpose: str) -> bytes:
    """Encrypt the secret. Only `unseal` with the same purpose decrypts it."""
    return _keys(purpose, settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS).encrypt(secret)


def unseal(sealed: bytes, *, purpose: str) -> bytes:
    """Decrypt the secret. Raises Unsealable."""
    try:
        return _keys(purpose, settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS).decrypt(sealed)
    except InvalidToken:
        raise Unsealable from None


def is_readable(sealed: bytes, *, purpose: str) -> bool:
    """Returns True if one of the configured keys decrypts this."""
    try:
        unseal(sealed, purpose=purpose)
    except Unsealable:
        return False
    return True


def is_current(sealed: bytes, *, purpose: str) -> bool:
    """Returns True if the newest key decrypts this, so that the older keys are not needed for it."""
    try:
        _keys(purpose, settings.SECRET_KEY).decrypt(sealed)
    except InvalidToken:
        return False
    return True


def reseal(sealed: bytes, *, purpose: str) -> bytes:
    """Encrypt the same secret with the newest key. Raises Unsealable."""
    return seal(unseal(sealed, purpose=purpose), purpose=purpose)


@lru_cache(maxsize=64)
def _keys(purpose: str, *secrets: str) -> MultiFernet:
    # The purpose is mixed into the keys so that a value sealed for one purpose cannot be used for another.
    digests = (hashlib.sha256(f"storefront.{purpose}:{secret}".encode()).digest() for secret in secrets)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
