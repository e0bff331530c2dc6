"""The client's IP address and scheme, and the request's id, behind trusted proxies.

A proxy appends its client's address to `X-Forwarded-For`; anything before that can be forged. So the header is read
from its end, up to the first address that is not a trusted proxy. `resolve` runs once for each request; after it,
REMOTE_ADDR and the scheme are the client's, and the headers are gone.
"""

import re
from collections.abc import Mapping, MutableMapping, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from random import getrandbits
from typing import Any

from django.http import HttpRequest

Address = IPv4Address | IPv6Address
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
Networks = Sequence[IPv4Network | IPv6Network]

# Headers that proxies set. They are removed from every request, so that no other code trusts forged ones.
PROXY_HEADERS = (
    *("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_HOST", "HTTP_X_FORWARDED_PORT"),
    *("HTTP_FORWARDED", "HTTP_X_REAL_IP"),
)
# Entries of X-Forwarded-For that are read; more than a request ever passes.
MAX_HOPS = 20


def networks(text: str) -> Networks:
    """Parse comma-separated addresses and networks. Raises ValueError."""
    return [ip_network(each.strip()) for each in text.split(",") if each.strip()]


def resolve(meta: MutableMapping[str, Any], trusted: Networks) -> bool:
    """Set REMOTE_ADDR and the scheme of a WSGI environ to the client's. Returns False if an untrusted peer sent proxy
    headers; these are then removed and ignored."""
    forwarded = {name: meta.pop(name) for name in PROXY_HEADERS if name in meta}
    if not forwarded:
        return True
    peer = as_address(meta.get("REMOTE_ADDR", ""))
    if peer is None or not _is_in(peer, trusted):
        return False
    if forwarded.get("HTTP_X_FORWARDED_PROTO", "").rpartition(",")[2].strip().lower() == "https":
        meta["wsgi.url_scheme"] = "https"
    meta["REMOTE_ADDR"] = str(_client(peer, forwarded.get("HTTP_X_FORWARDED_FOR", ""), trusted))
    return True


def request_id(meta: MutableMapping[str, Any], trusted: Networks) -> str:
    """The id that a trusted proxy gave the request in `X-Request-Id`, if it has the form of an id, else a new one. Call
    this before `resolve`, which replaces the proxy's address."""
    given = meta.get("HTTP_X_REQUEST_ID")
    if given and _REQUEST_ID.fullmatch(given) and is_from_proxy(meta, trusted):
        return given
    # Not a secret. The system's random bits would release the GIL for each request.
    return f"{getrandbits(128):032x}"


def is_from_proxy(meta: Mapping[str, Any], trusted: Networks) -> bool:
    """Returns True if a trusted proxy sent the request. Call this before `resolve`."""
    peer = as_address(meta.get("REMOTE_ADDR", ""))
    return peer is not None and _is_in(peer, trusted)


def client_network(request: HttpRequest) -> str:
    """The client's IPv4 address, or its IPv6 /64 network, which is about one household; `unknown` without either."""
    address = as_address(request.META.get("REMOTE_ADDR", ""))
    if address is None:
        return "unknown"
    return str(address) if address.version == 4 else str(ip_network((address, 64), strict=False))


@lru_cache(maxsize=256)
def as_address(text: str) -> Address | None:
    """Parse an address, with or without a port. An IPv4-mapped IPv6 address becomes IPv4. None if it is not one."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return (isinstance(address, IPv6Address) and address.ipv4_mapped) or address


def _client(peer: Address, forwarded_for: str, trusted: Networks) -> Address:
    """The last address that is not a trusted proxy, or the first of all if every one is."""
    nearest = peer
    for text in reversed(forwarded_for.split(",")[-MAX_HOPS:]):
        address = as_address(text)
        if address is None:
            break
        nearest = address
        if not _is_in(address, trusted):
            break
    return nearest


def _is_in(address: Address, trusted: Networks) -> bool:
    return any(address in network for network in trusted)
