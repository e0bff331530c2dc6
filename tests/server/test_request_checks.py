"""Invalid hosts, numbers that are out of range, and forged addresses."""

import re

import pytest
from django.test import Client

from storefront.kit.callers import client_network
from storefront.server.middleware import VisitorAddress
from storefront.shops.scopes import SCOPES
from tests.audit.entries import entries
from tests.factories.apps import install
from tests.server.test_serve import served  # noqa: F401, a fixture

pytestmark = pytest.mark.any_database

UNREADABLE = [
    "a@b",
    "",
    "a b",
    "shop.example.com:x",
    "a/b",
    "<b>",
    "[::1",
    "a,b",
    "shop.example.com:80:90",
    "münchen.de",
]
UNKNOWN = ["a" * 300, "x--.example", "xn--mnchen-3ya.de", "nobody.example.com:99999999", "[::1]:8000", "-", "..."]


@pytest.mark.parametrize("path", ["/", "/products", "/admin/", "/basket", "/no-such", "/media/a.png", "/robots.txt"])
@pytest.mark.parametrize("host", UNREADABLE)
def test_an_invalid_host_is_a_400_page(client, shop, other_shop, host, path):
    answer = client.get(path, headers={"host": host})
    assert (answer.status_code, answer["Content-Type"]) == (400, "text/html; charset=utf-8")
    assert b"<h1>Invalid request</h1>" in answer.content


@pytest.mark.parametrize("host", UNKNOWN)
def test_an_unknown_host_is_a_404_page(client, shop, other_shop, host):
    assert client.get("/", headers={"host": host}).status_code == 404


@pytest.mark.parametrize("host", UNREADABLE)
def test_the_api_never_looks_at_the_host(api, client, host):
    authorization = api.headers["Authorization"] if hasattr(api, "headers") else f"Bearer {api.token}"
    answer = client.get("/api/v1/products", headers={"host": host, "authorization": authorization})
    assert answer.status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("host", "expected"), [("a@b", 400), ("", 400), ("a b", 400), ("x" * 300, 404), ("shop.example.com:x", 400)]
)
def test_no_host_causes_an_error_over_http(served, host, expected):  # noqa: F811
    status, _headers, body = served.ask("/", Host=host)
    assert status == expected
    assert b"Traceback" not in body


@pytest.mark.parametrize("number", ["9" * 21, "9" * 5000, str(2**53), str(2**63), "99999999999", "-1", "٣"])
def test_a_number_out_of_range_is_a_404(client, shop, number):
    assert client.get(f"/sitemap-{number}.xml").status_code == 404
    for path in ("/account/orders/{}", "/account/addresses/{}", "/account/addresses/{}/delete"):
        # A stranger is asked to sign in for what could be a number.
        expected = 303 if number == "99999999999" else 404
        assert client.get(path.format(number)).status_code == expected, path


@pytest.mark.parametrize("number", ["9" * 5000, "9" * 21, "٣", "-1", ""])
def test_no_number_in_a_form_causes_an_error(client, shop, number):
    from tests.staff import make_staff, open_desk

    assert client.post("/basket/add", {"product": number, "qty": "1"}).status_code < 500
    desk = open_desk(make_staff(shop))
    assert desk.post("/admin/shop/", {"shop": number}).status_code == 404


def seen(request_factory, settings, peer: str, **said: str):
    request = request_factory.get("/", REMOTE_ADDR=peer, **said)
    VisitorAddress(lambda request: None)(request)
    return client_network(request), request.is_secure()


def test_only_a_trusted_proxy_sets_the_visitors_address(rf, settings):
    said = {"HTTP_X_FORWARDED_FOR": "198.51.100.1, 203.0.113.9", "HTTP_X_FORWARDED_PROTO": "https"}
    assert seen(rf, settings, "127.0.0.1", **said) == ("203.0.113.9", True)
    assert seen(rf, settings, "203.0.113.77", **said) == ("203.0.113.77", False)


def test_an_ipv6_visitor_is_counted_by_household(rf, settings):
    said = {"HTTP_X_FORWARDED_FOR": "2001:db8:1:2:3:4:5:6"}
    assert seen(rf, settings, "::1", **said)[0] == "2001:db8:1:2::/64"
    assert seen(rf, settings, "unix")[0] == "unknown"


@pytest.mark.slow
def test_forged_headers_do_not_evade_the_limit(shop):
    """Sign-in attempts are limited by the visitor's address."""
    statuses = [
        Client(REMOTE_ADDR="203.0.113.5")
        .post(
            "/account/sign-in",
            {"email": f"{number}@example.com", "password": "x"},
            headers={"x-forwarded-for": f"10.0.0.{number}"},
        )
        .status_code
        for number in range(70)
    ]
    assert statuses[0] != 429
    assert statuses[-1] == 429


def test_an_untrusted_proxy_is_logged_once(rf, settings, caplog):
    settings.TRUSTED_PROXIES = []
    layer = VisitorAddress(lambda request: None)
    for _ in range(3):
        layer(rf.get("/", REMOTE_ADDR="10.0.0.1", HTTP_X_FORWARDED_PROTO="https"))
    assert caplog.text.count("proxy_not_trusted") == 1
    assert "10.0.0.1" in caplog.text


def id_of_answer(peer: str, given: str) -> str:
    answer = Client(REMOTE_ADDR=peer).get("/api/v1/cart", headers={"x-request-id": given})
    assert answer.json()["request_id"] == answer["X-Request-Id"]
    return answer["X-Request-Id"]


@pytest.mark.parametrize("given", ["7b1f0a44-9d0e-4a57-8f5e-0c4a1d2e3f40", "edge.1_2-3", "x" * 64])
def test_a_trusted_proxy_gives_the_request_its_id(shop, given):
    assert id_of_answer("127.0.0.1", given) == given


@pytest.mark.parametrize(
    ("peer", "given"),
    [("203.0.113.5", "stranger"), *(("127.0.0.1", bad) for bad in ("", "x" * 65, "a b", 'a"b', "a,b", "ä"))],
)
def test_any_other_request_gets_a_new_id(shop, peer, given):
    assert re.fullmatch("[0-9a-f]{32}", id_of_answer(peer, given))


def test_a_strangers_request_id_is_no_proxy_header(rf, caplog):
    VisitorAddress(lambda request: None)(rf.get("/", REMOTE_ADDR="203.0.113.5", HTTP_X_REQUEST_ID="stranger"))
    assert "proxy_not_trusted" not in caplog.text


def test_the_audit_log_stores_a_long_id(shop):
    api = install(shop, *SCOPES).api
    api.post("/products", {"name": "Cup"}, X_Request_Id="x" * 64)
    assert entries(shop, action="product.created")[0].request_id == "x" * 64
