"""HEAD, OPTIONS and CORS (R-CALL-13, R-CALL-14)."""

import pytest

from storefront.shops.models import AllowedOrigin
from tests.catalogue.factories import make_product

ORIGIN = "https://www.example.com"


@pytest.fixture
def origin(shop) -> str:
    AllowedOrigin.objects.create(shop=shop, origin=ORIGIN)
    return ORIGIN


@pytest.mark.rule("R-CALL-13")
@pytest.mark.parametrize("path", ["/products", "/products/mug", "/products/nothing", "/categories", "/cart", "/x"])
def test_head_is_get_without_its_body(wsgi, api, shop, path):
    make_product(shop, "Mug")
    headers = {"Authorization": f"Bearer {api.token}"}
    got, asked = (call(f"/api/v1{path}", headers=headers) for call in (wsgi.get, wsgi.head))
    assert asked.status_code == got.status_code
    assert asked.data == b""
    assert int(asked.headers["Content-Length"]) == len(got.data) > 0
    own = {"X-Request-Id"}
    assert {item for item in asked.headers if item[0] not in own} == {i for i in got.headers if i[0] not in own}


def test_head_is_conditional_too(api, shop):
    etag = api.get("/products")["ETag"]
    answer = api.call("head", "/products", If_None_Match=etag)
    assert answer.status_code == 304
    assert answer["ETag"] == etag


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/api/openapi.json", "/api/docs"])
def test_head_works_for_the_description(wsgi, path):
    answer = wsgi.head(path)
    assert (answer.status_code, answer.data) == (200, b"")


def test_options_names_the_methods_of_a_path(stranger):
    answer = stranger.call("options", "/cart")
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer["Allow"] == "DELETE, GET, HEAD, OPTIONS, POST"
    assert "Content-Type" not in answer


def test_options_of_an_unknown_path_is_a_404(stranger):
    assert stranger.call("options", "/nothing").status_code == 404


def preflight(client, origin, path="/cart", method="POST"):
    return client.call("options", path, Origin=origin, Access_Control_Request_Method=method)


@pytest.mark.rule("R-CALL-14")
def test_a_preflight_from_an_allowed_origin_is_answered(stranger, origin):
    answer = preflight(stranger, origin)
    assert answer.status_code == 204
    assert answer["Access-Control-Allow-Origin"] == origin
    assert "POST" in answer["Access-Control-Allow-Methods"]
    assert {"Authorization", "Content-Type", "X-Cart-Token", "Idempotency-Key"} <= set(
        answer["Access-Control-Allow-Headers"].split(", ")
    )
    assert answer["Vary"] == "Origin"


@pytest.mark.parametrize("asking", ["https://evil.example", "http://www.example.com", f"{ORIGIN}:8443", "null", ""])
def test_a_preflight_from_another_origin_is_not_allowed(stranger, origin, asking):
    answer = preflight(stranger, asking)
    assert answer.status_code == 204
    assert not [header for header in answer.headers if header.startswith("Access-Control")]


def test_no_origin_is_allowed_by_default(stranger, shop):
    assert "Access-Control-Allow-Origin" not in preflight(stranger, ORIGIN)


def test_a_script_of_an_allowed_origin_can_read_the_answer(api, origin):
    answer = api.get("/products", Origin=origin)
    assert answer["Access-Control-Allow-Origin"] == origin
    assert {"ETag", "X-RateLimit-Remaining", "X-Request-Id"} <= set(answer["Access-Control-Expose-Headers"].split(", "))
    assert "Access-Control-Allow-Credentials" not in answer


def test_a_script_of_an_allowed_origin_can_read_errors(api, stranger, origin):
    for client, path in ((api, "/nothing"), (stranger, "/products")):
        assert client.get(path, Origin=origin)["Access-Control-Allow-Origin"] == origin


def test_another_shops_origin_does_not_open_this_shop(other_api, origin):
    assert "Access-Control-Allow-Origin" not in other_api.get("/products", Origin=origin)


def test_answers_vary_by_origin_whether_or_not_one_was_sent(api, origin):
    assert "Origin" in api.get("/products")["Vary"]


@pytest.mark.rule("R-CALL-14")
def test_the_app_api_is_not_open_to_browsers(stranger, origin):
    stranger.prefix = "/api/apps"
    answer = preflight(stranger, origin, "/shop")
    assert not [header for header in answer.headers if header.startswith("Access-Control")]
