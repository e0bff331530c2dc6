import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from storefront.shops.scopes import SCOPES

_SCRIPT_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:[1-9][0-9]{0,4})?")


def sort_scopes(scopes: Iterable[str]) -> list[str]:
    """Sort scopes into the order in which pages show them, without duplicates."""
    wanted = set(scopes)
    return [scope for scope in SCOPES if scope in wanted]


def script_host(url: str) -> str:
    """The URL's host as a Content-Security-Policy names it: with its port, unless that is 443."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return host if port == 443 else f"{host}:{port}"


def is_script_host(host: str) -> bool:
    """Returns True if a Content-Security-Policy can name this host. A policy cannot name IPv6 addresses."""
    return bool(_SCRIPT_HOST.fullmatch(host))
