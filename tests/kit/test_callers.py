"""The client's address behind trusted proxies, and with forged proxy headers."""

import pytest

from storefront.kit.callers import as_address, networks, resolve

LOOPBACK = networks("127.0.0.0/8,::1")
INSIDE = networks("127.0.0.1,10.0.0.0/8,2001:db8::/32")


def resolved(peer: str, trusted=LOOPBACK, scheme: str = "http", **said: str) -> tuple[str, str, bool]:
    meta = {"REMOTE_ADDR": peer, "wsgi.url_scheme": scheme, "HTTP_USER_AGENT": "x"}
    meta |= {f"HTTP_X_FORWARDED_{name.upper()}": value for name, value in said.items()}
    believed = resolve(meta, trusted)
    assert not [name for name in meta if "FORWARDED" in name]
    return meta["REMOTE_ADDR"], meta["wsgi.url_scheme"], believed


@pytest.mark.parametrize(
    ("peer", "header", "visitor"),
    [
        ("127.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("::1", "203.0.113.9", "203.0.113.9"),
        ("::ffff:127.0.0.1", "203.0.113.9", "203.0.113.9"),
        # Entries before the proxy's own can be forged.
        ("127.0.0.1", "198.51.100.1, 203.0.113.9", "203.0.113.9"),
        ("127.0.0.1", "203.0.113.9, 10.0.0.2", "10.0.0.2"),
        ("127.0.0.1", "198.51.100.1, 203.0.113.9, 127.0.0.9", "203.0.113.9"),
        ("127.0.0.1", "127.0.0.8, 127.0.0.9", "127.0.0.8"),
        ("127.0.0.1", "203.0.113.9:4711", "203.0.113.9"),
        ("127.0.0.1", "[2001:db8::5]:4711", "2001:db8::5"),
        ("127.0.0.1", "2001:db8::5", "2001:db8::5"),
        ("127.0.0.1", "203.0.113.9, unknown", "127.0.0.1"),
        ("127.0.0.1", "unknown, 127.0.0.9", "127.0.0.9"),
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "," * 5000, "127.0.0.1"),
    ],
)
def test_the_client_is_the_last_address_that_is_not_a_trusted_proxy(peer, header, visitor):
    assert resolved(peer, FOR=header) == (visitor, "http", True)


def test_skips_a_chain_of_trusted_proxies():
    assert resolved("10.0.0.1", INSIDE, FOR="1.1.1.1, 203.0.113.9, 10.7.0.1, 2001:db8::1")[0] == "203.0.113.9"


@pytest.mark.parametrize("peer", ["203.0.113.5", "128.0.0.1", "10.0.0.1", "", "unix"])
def test_ignores_headers_of_an_untrusted_peer(peer):
    assert resolved(peer, FOR="198.51.100.1", PROTO="https") == (peer, "http", False)


@pytest.mark.parametrize(
    ("said", "scheme"), [("https", "https"), ("http, https", "https"), ("https, http", "http"), ("ftp", "http")]
)
def test_takes_https_from_a_trusted_proxy(said, scheme):
    assert resolved("127.0.0.1", PROTO=said)[1] == scheme


def test_without_headers_the_client_is_the_peer():
    assert resolved("203.0.113.5") == ("203.0.113.5", "http", True)


@pytest.mark.parametrize("text", ["", "a", "1.2.3", "[::1", "1.2.3.4:5:6", "::1%eth0\n", "٣.1.1.1"])
def test_malformed_headers_do_not_raise(text):
    as_address(text)
