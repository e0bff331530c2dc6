"""Every response has security headers, whichever part of the server makes it."""

import pytest

from storefront.server.security_headers import security_headers
from tests.server.edges import EdgeClient
from tests.shops.factories import make_token

PATHS = ["/", "/no-such", "/admin/login/", "/api/v1/products", "/api/no-such", "/media/a.png", "/media/none.png"]
YEAR = "max-age=31536000"


@pytest.fixture
def media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    for name in ("a.png", "a.svg", "a.html"):
        (tmp_path / name).write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")


@pytest.mark.parametrize("path", PATHS)
def test_every_response_has_security_headers(client, shop, media, path):
    headers = client.get(path).headers
    assert (headers["X-Content-Type-Options"], headers["Referrer-Policy"]) == ("nosniff", "same-origin")
    assert headers["Cross-Origin-Resource-Policy"] in ("same-origin", "cross-origin")
    assert "Strict-Transport-Security" not in headers


@pytest.mark.parametrize("path", PATHS)
def test_https_responses_have_hsts(client, shop, media, settings, path):
    settings.HTTPS = True
    assert client.get(path).headers["Strict-Transport-Security"] == YEAR
    settings.HSTS_SECONDS = 0
    assert "Strict-Transport-Security" not in client.get(path).headers


@pytest.mark.parametrize("path", ["/", "/no-such", "/admin/login/", "/media/none.png"])
def test_pages_may_not_use_camera_or_location(client, shop, media, path):
    policy = client.get(path).headers["Permissions-Policy"]
    assert "camera=()" in policy
    assert "geolocation=()" in policy
    assert "microphone=()" in policy


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.html"])
def test_a_file_runs_no_scripts_and_may_be_embedded(client, shop, media, name):
    headers = client.get(f"/media/{name}").headers
    assert headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert headers["Cross-Origin-Resource-Policy"] == "cross-origin"


def test_the_error_page_of_a_file_has_a_pages_headers(client, shop, media):
    headers = client.get("/media/none.png").headers
    assert headers["Content-Security-Policy"].startswith("default-src 'self'")
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


@pytest.mark.django_db(transaction=True)
def test_cached_responses_have_security_headers_too(settings):
    from tests.shops.factories import make_shop

    settings.HTTPS = True
    token, asked = make_token(make_shop()), EdgeClient()
    first, second = asked.ask("/products", token), asked.ask("/products", token)
    assert asked.hits == 1
    for name, value in security_headers("api", True, settings.HSTS_SECONDS):
        assert (first.headers[name], second.headers[name]) == (value, value)
