"""Every path and every method under /api is answered in JSON."""

import pytest

from tests.answers import error_of
from tests.catalogue.factories import make_product


def test_a_known_path_is_answered(api):
    answer = api.get("/products")
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/json"


MEANT = {
    "/api/v2/products": "/api/v1/products",
    "/api/products": "/api/v1/products",
    "/api/v1.0/cart": "/api/v1/cart",
    "/api/v1/products/": "/api/v1/products",
    "/api/v2/products/mug/": "/api/v1/products/mug",
    "/api/v1/products%2F": "/api/v1/products",
    "/api/docs/": "/api/docs",
}


@pytest.mark.rule("R-ERR-5")
@pytest.mark.parametrize(
    "path",
    [
        *MEANT,
        "/api",
        "/api/",
        "/api/v1",
        "/api/v1/",
        "/api/v1/nothing",
        "/api/v1//products",
        "/api//v1/products",
        "/api/v1/products/1/2",
        "/api/v1/../v1/products",
        "/api/v1/%00",
        "/api/v1/products/%00",
        "/api/v1/products/%ff%fe",
        "/api/v1/products/%F0%9F%8F%AE",
        "/api/v1/" + "y" * 20_000,
    ],
)
@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete", "trace"])
def test_an_unknown_path_is_a_json_404(api, path, method):
    api.prefix = ""
    answer = api.call(method, path)
    if path.startswith(("/api/v1/products/%f", "/api/v1/products/%F")) and method != "get":
        assert answer.status_code == 405
    else:
        meant = MEANT.get(path)
        message = f"Not found. Did you mean {meant}?" if meant else "Not found."
        assert answer.status_code == 404
        assert error_of(answer) == {"message": message, "code": "not_found"}
    assert answer["Content-Type"] == "application/json"


def test_an_unknown_path_needs_no_token(stranger):
    assert stranger.get("/nothing").status_code == 404


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "*/*", "nonsense", ""])
def test_accept_changes_nothing(api, accept):
    assert api.get("/nothing", Accept=accept)["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("post", "/products", "GET, HEAD, OPTIONS"),
        ("delete", "/categories/1", "GET, HEAD, OPTIONS"),
        ("put", "/cart", "DELETE, GET, HEAD, OPTIONS, POST"),
        ("get", "/cart/p1", "DELETE, OPTIONS, PATCH"),
        ("head", "/cart/p1", "DELETE, OPTIONS, PATCH"),
        ("get", "/cart/checkout", "OPTIONS, POST"),
        ("trace", "/products", "GET, HEAD, OPTIONS"),
        ("post", "/../openapi.json", None),
    ],
)
def test_a_wrong_method_is_a_405_that_names_the_right_ones(api, method, path, allow):
    answer = api.call(method, path)
    if allow is None:
        assert answer.status_code == 404
        return
    assert answer.status_code == 405
    assert answer["Allow"] == allow
    if method != "head":
        message = f"This method is not allowed here. Allowed: {allow}."
        assert error_of(answer) == {"message": message, "code": "method_not_allowed"}


def test_a_wrong_method_needs_no_token(stranger):
    assert stranger.delete("/products").status_code == 405


def test_a_missing_credential_is_reported_before_a_missing_resource(stranger):
    assert stranger.get("/products/no-such-thing").status_code == 401


def test_a_missing_credential_is_reported_before_an_unreadable_body(stranger):
    answer = stranger.http.post("/api/v1/cart", b"{", content_type="text/plain")
    assert answer.status_code == 401


def test_responses_set_no_cookie_and_never_redirect(api):
    for path in ("/products", "/nothing", "/cart"):
        answer = api.get(path)
        assert not answer.cookies
        assert answer.status_code not in range(300, 400)


def test_every_response_has_the_request_id(api, shop):
    product = make_product(shop)
    ids = {api.get(path)["X-Request-Id"] for path in ("/products", f"/products/{product.id}", "/nothing")}
    assert len(ids) == 3


def test_responses_are_not_cacheable_by_default(api):
    assert api.get("/cart")["Cache-Control"] == "no-store"
    assert api.get("/nothing")["Cache-Control"] == "no-store"
    assert api.get("/products")["Cache-Control"] == "private, max-age=0, must-revalidate"
