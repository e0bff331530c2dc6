"""Signed URLs: HMAC-SHA256, in lower-case hex, over the whole URL except its last parameter, `signature` (R-LINK-4)."""

import hashlib
import hmac

from django.conf import settings


def _signature(url: str, key: str) -> str:
    # The purpose is mixed into the key so that this signature is valid for nothing else signed with SECRET_KEY.
    purpose_key = hashlib.sha256(f"storefront.signed-url:{key}".encode()).digest()
    return hmac.new(purpose_key, url.encode(), hashlib.sha256).hexdigest()


def sign_url(url: str) -> str:
    """Append `signature` to the URL, which must already have a query."""
    return f"{url}&signature={_signature(url, settings.SECRET_KEY)}"


def is_signed_url(url: str) -> bool:
    """Returns True if exactly this URL was signed, with SECRET_KEY or one of SECRET_KEY_FALLBACKS."""
    unsigned, separator, given = url.rpartition("&signature=")
    if not separator or not given.isascii():
        return False
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    # A list, so that every key is tried and the time taken reveals nothing.
    return any([hmac.compare_digest(_signature(unsigned, key), given) for key in keys])
