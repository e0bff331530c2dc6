"""Signed cookies of browsers that signed in to an account before (OWASP: device cookies).

Such a cookie signs nobody in. The browser's tries are counted separately (`throttle`), and no mail about a sign-in from
a new browser is sent. A cookie is valid for one account, and only signing in creates one.
"""

import secrets
from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

from storefront.kit import tokens

MAX_AGE = 365 * 24 * 3600
# Cookies that a shared browser keeps, so that its requests do not grow without limit.
MAX_ACCOUNTS = 10
_SALT = "storefront.known-browser"


def known_browser(request: HttpRequest, account: str, *, mark: str = "") -> str | None:
    """The random id of this browser if it signed in to `account` before (with the same `mark`, if one is given)."""
    kept = _read(request, account)
    return kept["browser"] if kept and (not mark or kept["mark"] == mark) else None


def remember_browser(request: HttpRequest, response: HttpResponse, account: str, *, mark: str = "") -> None:
    """Set the cookie of a browser that has just signed in to `account`."""
    kept = _read(request, account)
    content = {
        "account": tokens.digest(account),
        "browser": kept["browser"] if kept else secrets.token_hex(16),
        "mark": mark,
    }
    name = _cookie_of(account)
    response.set_cookie(
        name,
        signing.dumps(content, salt=_SALT),
        max_age=MAX_AGE,
        secure=settings.HTTPS,
        httponly=True,
        samesite="Lax",
    )
    others = [other for other in request.COOKIES if other.startswith(_prefix()) and other != name]
    for other in others[: max(0, len(others) - MAX_ACCOUNTS + 1)]:
        response.delete_cookie(other, samesite="Lax")


def _read(request: HttpRequest, account: str) -> dict[str, Any] | None:
    try:
        kept = signing.loads(request.COOKIES.get(_cookie_of(account), ""), salt=_SALT, max_age=MAX_AGE)
    except signing.BadSignature:
        return None
    return kept if kept["account"] == tokens.digest(account) else None


def _cookie_of(account: str) -> str:
    return f"{_prefix()}{tokens.digest(account)[:16]}"


def _prefix() -> str:
    # With HTTPS, the prefix keeps other hosts of the same domain from setting this cookie.
    return f"{'__Host-' if settings.HTTPS else ''}storefront_browser_"
