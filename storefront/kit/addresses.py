"""Checks the URLs that strangers give this service to call: only public hosts, never its own network (R-APP-14,
R-APP-15).

There are two checks, since a host name can resolve to another address each time. `check_url` checks the text when it is
registered, without DNS, whose answer may change later. `kit.outbound` checks with `is_public` the address that a socket
is about to connect to.
"""

import re
from collections.abc import Collection
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import DomainNameValidator
from yarl import URL

MAX_URL_LENGTH = 2048

# Suffixes of names that lead to this machine, this network, or a cloud's own services.
INSIDE = ("localhost", "localdomain", "local", "internal", "intranet", "lan", "home.arpa", "private", "corp")
# `ipaddress` has the ranges that registries reserve. These count as public there, but are not outside of this network:
NEAR = [
    ip_network("192.0.0.0/24"),  # protocols between a host and its own network, two anycast addresses among them
    ip_network("192.88.99.0/24"),  # relays from IPv4 to IPv6
    ip_network("168.63.129.16/32"),  # Azure's service for its machines, which hands out credentials
]
IPV6_UNICAST = ip_network("2000::/3")
# Ranges whose addresses embed an IPv4 address that a gateway would connect to, or that are not routed publicly.
IPV6_SPECIAL = [
    ip_network("2001::/23"),  # Teredo, benchmarks, ORCHID
    ip_network("2001:db8::/32"),  # documentation
    ip_network("2002::/16"),  # 6to4
    ip_network("3fff::/20"),  # documentation
]
# Prefix by which an IPv6-only network reaches public IPv4 addresses; its name servers return such addresses.
NAT64 = ip_network("64:ff9b::/96")

_is_domain_name = DomainNameValidator()
# Labels of letters, digits, underscores and hyphens, none of which begins or ends with a hyphen.
_HOST_NAME = re.compile(r"(?!-)[\w-]{1,63}(?<!-)(\.(?!-)[\w-]{1,63}(?<!-))*\.?", re.ASCII)


class BadAddress(ValueError):
    """A URL that this service does not call. The message is the reason, for the person or program that sent it."""


def check_url(url: str, *, schemes: Collection[str] = ("https",)) -> str:
    """Return the URL unchanged if it is absolute, of one of these schemes, to a public host, in ASCII, without
    credentials, and has at most 2,048 characters; raise BadAddress otherwise. If the operator allows private callbacks,
    http and private hosts pass.
    """
    if len(url) > MAX_URL_LENGTH:
        raise BadAddress(f"The URL must have at most {MAX_URL_LENGTH:,} characters.")
    if not (url.isascii() and url.isprintable()) or " " in url:
        raise BadAddress(
            "The URL must contain only printable ASCII characters. Write international host names as xn--…."
        )
    try:
        # Parsed as by aiohttp, so that the host checked here is the host connected to later.
        parts = URL(url)
        host = parts.raw_host
    except ValueError:
        raise BadAddress("This is not a URL.") from None
    if parts.scheme not in (("https", "http") if settings.ALLOW_PRIVATE_CALLBACKS else schemes) or not host:
        raise BadAddress(f"The URL must be absolute and begin with {' or '.join(f'{each}://' for each in schemes)}.")
    if parts.raw_user is not None or parts.raw_password is not None:
        raise BadAddress("The URL must not contain a user name or password.")
    if parts.port == 0:
        raise BadAddress("The URL's port must be from 1 to 65535.")
    if not settings.ALLOW_PRIVATE_CALLBACKS:
        _check_host(host)
    elif not (_is_ip(host) or _HOST_NAME.fullmatch(host)):
        raise BadAddress("The URL's host is not a host name.")
    return url


def is_public(address: str | IPv4Address | IPv6Address) -> bool:
    """Returns True for a public unicast address, also in its IPv4-mapped or NAT64 form."""
    ip = ip_address(address)
    if isinstance(ip, IPv4Address):
        return ip.is_global and not ip.is_multicast and not any(ip in network for network in NEAR)
    if ip.ipv4_mapped:
        return is_public(ip.ipv4_mapped)
    if ip in NAT64:
        return is_public(IPv4Address(ip.packed[-4:]))
    # All public unicast addresses are in this prefix, and in it the standard library agrees with the registries.
    return ip in IPV6_UNICAST and ip.is_global and not any(ip in network for network in IPV6_SPECIAL)


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _check_host(host: str) -> None:
    if not (is_public(host) if _is_ip(host) else _is_public_name(host)):
        raise BadAddress("The URL's host must be public.")


def _is_public_name(name: str) -> bool:
    """Returns True for a fully qualified domain name that can be public. A top-level domain is never a number, so
    `127.1`, `0x7f.1` and other spellings of an address, which some resolvers accept, are refused."""
    try:
        _is_domain_name(name)
    except ValidationError:
        return False
    return not f".{name.removesuffix('.')}".endswith(tuple(f".{ending}" for ending in INSIDE))
