"""URLs that apps may not have us call, in every spelling (R-APP-14, R-APP-15)."""

import pytest
from django.conf import settings as django_settings

from storefront.kit.addresses import BadAddress, check_url, is_public

pytestmark = pytest.mark.any_database

GOOD = [
    "https://app.example.com/hooks",
    "https://app.example.com",
    "HTTPS://App.Example.COM/Hooks",
    "https://app.example.com:8443/hooks?shop=1&mail=a@b.example",
    "https://app.example.com./hooks",
    "https://app.example.com/a#b",
    "https://xn--bcher-kva.example.com/",
    "https://127-0-0-1.example.com/",
    "https://localhost.example.com/",
    "https://8.8.8.8/hooks",
    "https://[2606:4700:4700::1111]/hooks",
    "https://[::ffff:8.8.8.8]/",
    "https://[64:ff9b::8.8.8.8]/",
    "https://app.example.com/" + "a" * (2048 - 24),
]

NOT_PUBLIC = "host must be public"
NO_HTTPS = "begin with https://"
CREDENTIALS = "user name or password"
NOT_ASCII = "printable ASCII"
NO_URL = "not a URL"

HOSTILE = [
    # Not absolute https.
    ("", NO_HTTPS),
    ("app.example.com/hooks", NO_HTTPS),
    ("/hooks", NO_HTTPS),
    ("//app.example.com/hooks", NO_HTTPS),
    ("https:app.example.com", NO_HTTPS),
    ("https:/app.example.com", NO_HTTPS),
    ("https://", NO_HTTPS),
    ("https:///hooks", NO_HTTPS),
    ("https://:443/", "not a URL|begin with https://"),
    ("http://app.example.com/", NO_HTTPS),
    ("ftp://app.example.com/", NO_HTTPS),
    ("file:///etc/passwd", NO_HTTPS),
    ("gopher://app.example.com/", NO_HTTPS),
    ("javascript:alert(1)", NO_HTTPS),
    ("data:text/html,hello", NO_HTTPS),
    ("unix:///var/run/docker.sock", NO_HTTPS),
    # Too long.
    ("https://app.example.com/" + "a" * (2049 - 24), "2,048"),
    # Credentials, and hosts that hide behind them.
    ("https://user@app.example.com/", CREDENTIALS),
    ("https://user:secret@app.example.com/", CREDENTIALS),
    ("https://:secret@app.example.com/", CREDENTIALS),
    ("https://app.example.com@127.0.0.1/", CREDENTIALS),
    ("https://app.example.com:443@127.0.0.1/", CREDENTIALS),
    ("https://app.example.com%40127.0.0.1/", NOT_PUBLIC),
    ("https://@127.0.0.1/", NOT_PUBLIC),
    ("https://app.example.com\\@127.0.0.1/", NO_URL),
    # Characters that parsers read differently.
    ("https://app.example.com/\n", NOT_ASCII),
    ("https://app.example.com\t/", NOT_ASCII),
    ("https://app.exa\r\nmple.com/", NOT_ASCII),
    (" https://app.example.com/", NOT_ASCII),
    ("https://app.example.com/a b", NOT_ASCII),
    ("https://app.example.com\x00.internal/", NOT_ASCII),
    ("https://bücher.example.com/", NOT_ASCII),
    ("https://１２７.0.0.1/", NOT_ASCII),
    ("https://127。0。0。1/", NOT_ASCII),
    ("https://ⓛocalhost/", NOT_ASCII),
    ("https://%31%32%37.0.0.1/", NOT_PUBLIC),
    ("https://127.0.0.1%2f.example.com/", NOT_PUBLIC),
    ("https://127.0.0.1%00.example.com/", NOT_PUBLIC),
    ("https://loc%61lhost/", NOT_PUBLIC),
    # Ports.
    ("https://app.example.com:0/", "from 1 to 65535"),
    ("https://app.example.com:65536/", NO_URL),
    ("https://app.example.com:http/", NO_URL),
    ("https://app.example.com:-1/", NO_URL),
    ("https://127.0.0.1:8443/", NOT_PUBLIC),
    # Loopback, in all its spellings.
    ("https://127.0.0.1/", NOT_PUBLIC),
    ("https://127.0.0.1./", NOT_PUBLIC),
    ("https://127.255.255.254/", NOT_PUBLIC),
    ("https://127.1/", NOT_PUBLIC),
    ("https://127.0.1/", NOT_PUBLIC),
    ("https://2130706433/", NOT_PUBLIC),
    ("https://017700000001/", NOT_PUBLIC),
    ("https://0177.0.0.1/", NOT_PUBLIC),
    ("https://0x7f000001/", NOT_PUBLIC),
    ("https://0x7f.0.0.1/", NOT_PUBLIC),
    ("https://0x7F.1/", NOT_PUBLIC),
    ("https://127.000.000.001/", NOT_PUBLIC),
    ("https://[::1]/", NOT_PUBLIC),
    ("https://[0:0:0:0:0:0:0:1]/", NOT_PUBLIC),
    ("https://[::ffff:127.0.0.1]/", NOT_PUBLIC),
    ("https://[::ffff:7f00:1]/", NOT_PUBLIC),
    ("https://[0:0:0:0:0:ffff:7f00:0001]/", NOT_PUBLIC),
    ("https://[::127.0.0.1]/", NOT_PUBLIC),
    ("https://[64:ff9b::127.0.0.1]/", NOT_PUBLIC),
    ("https://[64:ff9b::7f00:1]/", NOT_PUBLIC),
    ("https://[64:ff9b:1::7f00:1]/", NOT_PUBLIC),
    ("https://[2002:7f00:1::]/", NOT_PUBLIC),
    ("https://[2002:808:808::]/", NOT_PUBLIC),
    ("https://[2001:0:7f00:1::]/", NOT_PUBLIC),
    ("https://[::1%25eth0]/", NOT_PUBLIC),
    ("https://[::1%eth0]/", NOT_PUBLIC),
    # Names of this machine and of this network.
    ("https://localhost/", NOT_PUBLIC),
    ("https://LOCALHOST/", NOT_PUBLIC),
    ("https://localhost./", NOT_PUBLIC),
    ("https://app.localhost/", NOT_PUBLIC),
    ("https://localhost.localdomain/", NOT_PUBLIC),
    ("https://printer.local/", NOT_PUBLIC),
    ("https://metadata.google.internal/", NOT_PUBLIC),
    ("https://router.home.arpa/", NOT_PUBLIC),
    ("https://wiki.corp/", NOT_PUBLIC),
    ("https://wiki.CORP./", NOT_PUBLIC),
    ("https://files.intranet/", NOT_PUBLIC),
    ("https://router.lan/", NOT_PUBLIC),
    ("https://box.private/", NOT_PUBLIC),
    ("https://intranet/", NOT_PUBLIC),
    ("https://app..example.com/", NOT_PUBLIC),
    ("https://app.example.com../", NOT_PUBLIC),
    ("https://-app.example.com/", NOT_PUBLIC),
    ("https://app_1.example.com/", NOT_PUBLIC),
    # This host, this network, the unspecified.
    ("https://0/", NOT_PUBLIC),
    ("https://0.0.0.0/", NOT_PUBLIC),
    ("https://0.1.2.3/", NOT_PUBLIC),
    ("https://[::]/", NOT_PUBLIC),
    # Private, link-local, shared.
    ("https://10.0.0.1/", NOT_PUBLIC),
    ("https://172.16.0.1/", NOT_PUBLIC),
    ("https://172.31.255.254/", NOT_PUBLIC),
    ("https://192.168.1.1/", NOT_PUBLIC),
    ("https://192.168.257/", NOT_PUBLIC),
    ("https://100.64.0.1/", NOT_PUBLIC),
    ("https://100.100.100.200/", NOT_PUBLIC),
    ("https://169.254.169.254/latest/meta-data/", NOT_PUBLIC),
    ("https://2852039166/latest/meta-data/", NOT_PUBLIC),
    ("https://[::ffff:a9fe:a9fe]/", NOT_PUBLIC),
    ("https://168.63.129.16/", NOT_PUBLIC),
    ("https://[fe80::1]/", NOT_PUBLIC),
    ("https://[fe80::1%25eth0]/", NOT_PUBLIC),
    ("https://[fc00::1]/", NOT_PUBLIC),
    ("https://[fd00:ec2::254]/", NOT_PUBLIC),
    ("https://[fec0::1]/", NOT_PUBLIC),
    # Multicast, broadcast, reserved.
    ("https://224.0.0.1/", NOT_PUBLIC),
    ("https://239.255.255.250/", NOT_PUBLIC),
    ("https://255.255.255.255/", NOT_PUBLIC),
    ("https://240.0.0.1/", NOT_PUBLIC),
    ("https://[ff02::1]/", NOT_PUBLIC),
    ("https://[ff0e::1]/", NOT_PUBLIC),
    ("https://[100::1]/", NOT_PUBLIC),
    # Protocols, benchmarks, documentation.
    ("https://192.0.0.9/", NOT_PUBLIC),
    ("https://192.0.0.192/", NOT_PUBLIC),
    ("https://192.88.99.1/", NOT_PUBLIC),
    ("https://198.18.0.1/", NOT_PUBLIC),
    ("https://198.19.255.254/", NOT_PUBLIC),
    ("https://192.0.2.1/", NOT_PUBLIC),
    ("https://198.51.100.1/", NOT_PUBLIC),
    ("https://203.0.113.1/", NOT_PUBLIC),
    ("https://[2001:db8::1]/", NOT_PUBLIC),
    ("https://[3fff::1]/", NOT_PUBLIC),
    ("https://[2001:2::1]/", NOT_PUBLIC),
    # Brackets around what is no IPv6 address.
    ("https://[127.0.0.1]/", NO_URL),
    ("https://[::1/", NO_URL),
]


@pytest.fixture
def in_production(settings):
    settings.ALLOW_PRIVATE_CALLBACKS = False


@pytest.mark.parametrize("url", GOOD)
def test_a_public_https_url_passes_unchanged(url, in_production):
    assert check_url(url) == url


@pytest.mark.rule("R-APP-14")
@pytest.mark.parametrize(("url", "reason"), HOSTILE)
def test_refuses_everything_but_public_https(url, reason, in_production):
    with pytest.raises(BadAddress, match=reason):
        check_url(url)


@pytest.mark.rule("R-APP-14")
@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8201/hooks", "http://localhost:8201/", "http://my_app:80/", "https://10.0.0.1/", *GOOD]
)
def test_the_operator_can_allow_http_and_private_hosts(url):
    assert django_settings.ALLOW_PRIVATE_CALLBACKS
    assert check_url(url) == url


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://127.0.0.1/", NO_HTTPS),
        ("/hooks", NO_HTTPS),
        ("http://user:secret@127.0.0.1/", CREDENTIALS),
        ("http://127.0.0.1:0/", "from 1 to 65535"),
        ("http://x..example/", "not a host name"),
        ("http://-x.example/", "not a host name"),
        ("http://x-.example/", "not a host name"),
        (f"http://{'x' * 64}.example/", "not a host name"),
        ("http://127.0.0.1/é", NOT_ASCII),
        ("http://127.0.0.1/" + "a" * 2048, "2,048"),
    ],
)
def test_other_checks_apply_to_private_hosts_too(url, reason):
    with pytest.raises(BadAddress, match=reason):
        check_url(url)


def test_the_reason_does_not_repeat_the_url(in_production):
    with pytest.raises(BadAddress) as refused:
        check_url("https://user:hunter2@10.0.0.1/")
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "100.63.255.255", "172.32.0.1", "2a00:1450:4001::1"])
def test_public_addresses(address):
    assert is_public(address)


def test_text_that_is_not_an_address_raises():
    with pytest.raises(ValueError):
        is_public("app.example.com")
