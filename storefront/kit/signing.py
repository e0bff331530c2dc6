"""Signed URLs: HMAC-SHA256, lower-case hex, over the whole URL but its last parameter, `signature`."""

import hashlib
import hmac

from django.conf import settings


def _signature(url: str, key: str) -> str:
    # The purpose is mixed into the key so that a signature made here fits nothing else signed with SECRET_KEY.
    purpose_key = hashlib.sha256(f"storefront.signed-url:{key}".encode()).digest()
    return hmac.new(purpose_key, url.encode(), hashlib.sha256).hexdigest()


def sign_url(url: str) -> str:
    """The URL, which must already have a query, with `signature` as its last parameter."""
    return f"{url}&signature={_signature(url, settings.SECRET_KEY)}"


def is_signed_url(url: str) -> bool:
    """Whether `sign_url` made exactly this URL, with the current key or one that it replaced."""
    unsigned, mark, given = url.rpartition("&signature=")
    if not mark or not given.isascii():
        return False
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    # Every key is tried, whichever fits, so that the time taken tells nothing.
    return any([hmac.compare_digest(_signature(unsigned, key), given) for key in keys])
