"""The catalogue is read over `/api/v1`, as JSON, and not written there."""

import pytest

from tests.catalogue.factories import make_category, make_product


@pytest.mark.rule("R-CALL-15")
def test_products_and_categories_can_be_read_through_the_public_api_under_api_v1(api, shop):
    make_product(shop, "Mug", categories=(make_category(shop, "Cups"),))
    for path in ("/products", "/products/mug", "/categories", "/categories/cups"):
        assert api.prefix + path == f"/api/v1{path}"
        assert api.get(path).status_code == 200


@pytest.mark.rule("R-CAT-1")
@pytest.mark.parametrize("path", ["/products", "/products/mug", "/categories", "/categories/cups"])
@pytest.mark.parametrize("method", ["post", "patch", "delete", "put"])
def test_they_are_read_only_there(api, shop, path, method):
    make_product(shop, "Mug", categories=(make_category(shop, "Cups"),))
    answer = api.call(method, path, {"name": "Changed"})
    assert answer.status_code == 405
    assert set(answer["Allow"].replace(" ", "").split(",")) >= {"GET"}
    assert api.get("/products/mug").json()["data"]["name"] == "Mug"


@pytest.mark.rule("R-CALL-1")
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("get", "/products", 200),
        ("get", "/products/mug", 200),
        ("get", "/categories", 200),
        ("get", "/categories/cups", 200),
        ("get", "/cart", 200),
        ("post", "/cart", 422),
        ("patch", "/cart/p1", 422),
        ("delete", "/cart/p1", 404),
        ("delete", "/cart", 200),
        ("post", "/cart/checkout", 422),
    ],
)
def test_all_endpoints_accept_accept_application_json(api, shop, method, path, status):
    make_product(shop, "Mug", categories=(make_category(shop, "Cups"),))
    answer = api.call(method, path, {} if method in ("post", "patch") else None, Accept="application/json")
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/json")


@pytest.mark.rule("R-CALL-1")
def test_send_accept_application_json(api, shop):
    for accept in ("application/json", "text/html", "*/*"):
        answer = api.get("/products", Accept=accept)
        assert answer["Content-Type"].startswith("application/json")
