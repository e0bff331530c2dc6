"""Which addresses apps may give us to call: public ones, and nothing that leads into our own network.

Two guards, since a name can mean another address each time it is looked up. `check_url` judges the text when it is
registered; it asks no name server, because what that says now binds nobody later. `kit.outbound` judges with
`is_public` the very address that a socket is about to connect to. (decisions: App API, URLs)
"""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import DomainNameValidator
from yarl import URL

LONGEST_URL = 2048

# Unlike other names these end inside: at this machine, this network, or a cloud's own services.
INSIDE = ("localhost", "localdomain", "local", "internal", "intranet", "lan", "home.arpa", "private", "corp")
# `ipaddress` knows what the registries reserve. These they call public, but they lead to something near:
NEAR = [
    ip_network("192.0.0.0/24"),  # protocols between a host and its own network, two of them by anycast
    ip_network("192.88.99.0/24"),  # relays from IPv4 to IPv6
    ip_network("168.63.129.16/32"),  # what Azure serves its machines, credentials among it
]
IPV6_UNICAST = ip_network("2000::/3")
# Addresses in here hold an IPv4 address that a gateway would go on to, or have no place in the public network.
IPV6_SPECIAL = [
    ip_network("2001::/23"),  # Teredo, benchmarks, ORCHID
    ip_network("2001:db8::/32"),  # documentation
    ip_network("2002::/16"),  # 6to4
    ip_network("3fff::/20"),  # documentation
]
# How a network that has only IPv6 reaches a public IPv4 address; its name servers hand these out.
NAT64 = ip_network("64:ff9b::/96")

_is_domain_name = DomainNameValidator()


class BadAddress(ValueError):
    """An address that we would not call; the message says why in a sentence, for whoever gave it."""


def check_url(url: str) -> str:
    """The URL, once it is absolute https to a public host, without credentials, ASCII, of at most 2,048 characters.

    Raises BadAddress. Where the operator allows private callbacks, http and private hosts pass, too.
    """
    if len(url) > LONGEST_URL:
        raise BadAddress(f"The URL must have at most {LONGEST_URL:,} characters.")
    if not (url.isascii() and url.isprintable()) or " " in url:
        raise BadAddress("The URL must be of printable ASCII characters; write an international name as xn--….")
    try:
        # The parser that aiohttp calls with: what is judged here is what is connected to later.
        parts = URL(url)
        host = parts.raw_host
    except ValueError:
        raise BadAddress("This is not a URL.") from None
    if parts.scheme not in (("https", "http") if settings.ALLOW_PRIVATE_CALLBACKS else ("https",)) or not host:
        raise BadAddress("The URL must be absolute and begin with https://.")
    if parts.raw_user is not None or parts.raw_password is not None:
        raise BadAddress("The URL must not hold a user name or a password.")
    if parts.port == 0:
        raise BadAddress("The URL's port must be from 1 to 65535.")
    if not settings.ALLOW_PRIVATE_CALLBACKS:
        _check_host(host)
    return url


def is_public(address: str | IPv4Address | IPv6Address) -> bool:
    """Whether the address is reached through the public internet alone, whatever form of it this is."""
    ip = ip_address(address)
    if isinstance(ip, IPv4Address):
        return ip.is_global and not ip.is_multicast and not any(ip in network for network in NEAR)
    if ip.ipv4_mapped:
        return is_public(ip.ipv4_mapped)
    if ip in NAT64:
        return is_public(IPv4Address(ip.packed[-4:]))
    # Within this prefix the standard library and the registries agree; what is not in it is no public unicast address.
    return ip in IPV6_UNICAST and ip.is_global and not any(ip in network for network in IPV6_SPECIAL)


def _check_host(host: str) -> None:
    try:
        public = is_public(host)
    except ValueError:
        public = _is_public_name(host)
    if not public:
        raise BadAddress("The URL's host must be a public one.")


def _is_public_name(name: str) -> bool:
    """Whether this is a full domain name. No top-level domain is a number, so that `127.1`, `0x7f.1` and other ways to
    write an address, which some resolvers understand, are none."""
    try:
        _is_domain_name(name)
    except ValidationError:
        return False
    return not f".{name.removesuffix('.')}".endswith(tuple(f".{ending}" for ending in INSIDE))
