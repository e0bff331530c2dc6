"""Each kind of error once, by its status. Other files hold them in depth."""

import re

import pytest

from storefront.shops.models import ApiToken
from tests.answers import error_of, without_id
from tests.catalogue.factories import make_option, make_product, make_variant
from tests.client import ApiClient
from tests.shops.factories import make_token


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", stock_qty=2)


def add(api, product, qty=1, cart=None, **members):
    return api.post("/cart", {"product_id": product.id, "qty": qty, **members}, cart=cart)


def assert_error(answer, status, code):
    body = error_of(answer)
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/json"
    assert body["code"] == code
    # A sentence for people, or a few.
    assert re.fullmatch(r"[A-Z][^\n]+[.!?]", body["message"])
    return body


# By what brings them about.


@pytest.mark.rule("R-ERR-4")
def test_a_call_without_the_scope_required_is_a_403_with_both_lists(shop):
    body = ApiClient(make_token(shop, "read_cart")).get("/products").json()
    assert body["message"] == "Insufficient scope for this endpoint."
    assert body["required_scopes"] == ["read_products"]
    assert body["granted_scopes"] == ["read_cart"]


@pytest.mark.rule("R-LINK-9")
def test_a_checkout_link_altered_in_any_part_is_a_403(api, mug, client):
    token = add(api, mug).json()["cart_token"]
    url = api.post("/cart/checkout", cart=token).json()["checkout_url"]
    path = url.removeprefix("https://shop.example.com")
    assert client.get(path[:-1] + ("0" if path[-1] != "0" else "1"), headers={"Host": "x"}).status_code == 403


@pytest.mark.rule("R-CART-4")
@pytest.mark.parametrize("token", ["cart_" + "x" * 43, "malformed", ""])
def test_an_unknown_or_malformed_cart_token_on_a_read_is_no_error(api, token):
    answer = api.get("/cart", X_Cart_Token=token)
    assert answer.status_code == 200
    assert answer.json()["cart_token"] is None
    assert answer.json()["data"]["items"] == []


@pytest.mark.rule("R-CART-5")
@pytest.mark.parametrize("token", ["cart_" + "x" * 43, "malformed"])
def test_an_unknown_or_malformed_cart_token_on_a_write_is_treated_as_none(api, mug, token):
    answer = add(api, mug, cart=token)
    assert answer.status_code == 201
    assert answer.json()["cart_token"] != token


@pytest.mark.rule("R-CART-25")
def test_adding_a_draft_product_is_refused(api, shop):
    assert_error(add(api, make_product(shop, status="draft")), 422, "product_unavailable")


@pytest.mark.rule("R-CART-31")
def test_adding_beyond_stock_is_refused(api, mug):
    assert assert_error(add(api, mug, qty=3), 422, "insufficient_stock")["available"] == 2


@pytest.mark.rule("R-CART-26")
def test_adding_without_a_required_option_is_refused_by_the_options_name(api, mug):
    make_option(mug, "Engraving", required=True)
    assert "Engraving" in assert_error(add(api, mug), 422, "option_required")["message"]


@pytest.mark.rule("R-LINK-5")
def test_checkout_on_an_empty_cart_is_refused(api):
    assert_error(api.post("/cart/checkout"), 422, "empty_cart")


# By status.


@pytest.mark.rule("R-ERR-2")
def test_400_malformed_json(api):
    answer = api.http.post(
        "/api/v1/cart", b"{", content_type="application/json", headers={"Authorization": f"Bearer {api.token}"}
    )
    assert set(assert_error(answer, 400, "malformed_json")) == {"message", "code", "line", "column"}


@pytest.mark.rule("R-ERR-3")
def test_401_no_credential(stranger):
    answer = stranger.get("/products")
    assert assert_error(answer, 401, "token_missing")["message"].startswith("Unauthenticated. ")
    assert answer["WWW-Authenticate"] == "Bearer"


@pytest.mark.rule("R-ERR-4")
def test_403_scope_missing(shop):
    answer = ApiClient(make_token(shop, "read_cart")).get("/products")
    assert set(assert_error(answer, 403, "insufficient_scope")) == {
        "message",
        "code",
        "required_scopes",
        "granted_scopes",
    }


@pytest.mark.rule("R-ERR-5")
def test_404_unknown_route_or_resource(api):
    for path in ("/nothing", "/products/nothing", "/products/999999", "/categories/nothing"):
        assert set(assert_error(api.get(path), 404, "not_found")) == {"message", "code"}


@pytest.mark.rule("R-ERR-5")
def test_404_another_shops_resource_looks_exactly_the_same(api, other_shop):
    theirs = make_product(other_shop)
    assert without_id(api.get(f"/products/{theirs.id}")) == without_id(api.get("/products/999999"))


@pytest.mark.rule("R-ERR-6")
def test_405_wrong_method(api):
    answer = api.delete("/products")
    assert_error(answer, 405, "method_not_allowed")
    assert answer["Allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.rule("R-LIM-1")
def test_413_body_too_large(api):
    assert_error(api.post("/cart", {"x": "y" * 1024 * 1024}), 413, "too_large")


@pytest.mark.rule("R-ERR-7")
def test_415_wrong_media_type(api):
    answer = api.http.post(
        "/api/v1/cart", b"a=1", content_type="text/plain", headers={"Authorization": f"Bearer {api.token}"}
    )
    assert_error(answer, 415, "unsupported_media_type")


@pytest.mark.rule("R-ERR-8")
def test_422_invalid_fields(api):
    errors = assert_error(api.post("/cart", {"qty": 0}), 422, "invalid_fields")["errors"]
    assert errors == {"product_id": ["product_id is required."], "qty": ["qty must be 1 or more."]}


@pytest.mark.rule("R-ERR-8", "R-ERR-9", "R-CART-27", "R-CART-28")
def test_422_a_refused_add_names_what_was_asked_for(api, shop, mug):
    """The row adds `errors` to every 422, a refusal as well as an invalid field."""
    shirt, ring = make_product(shop), make_product(shop)
    make_variant(shirt)
    option = make_option(ring, "Engraving", required=True)
    refused = {
        "product_unavailable": ("product_id", api.post("/cart", {"product_id": 999_999, "qty": 1})),
        "insufficient_stock": ("qty", add(api, mug, qty=3)),
        "variant_required": ("variant_id", add(api, shirt)),
        "option_required": ("options", add(api, ring)),
        "invalid_option": ("options", add(api, ring, options={str(option.pk): 999_999})),
        "invalid_custom_price": ("custom_price", add(api, mug, custom_price="5.00")),
    }
    for code, (field, answer) in refused.items():
        body = assert_error(answer, 422, code)
        assert body["errors"] == {field: [body["message"]]}


@pytest.mark.rule("R-ERR-8")
def test_422_a_refused_change_names_what_was_asked_for(api, mug):
    token = add(api, mug).json()["cart_token"]
    body = assert_error(api.patch(f"/cart/p{mug.id}", {"qty": 3}, cart=token), 422, "insufficient_stock")
    assert list(body) == ["message", "code", "errors", "available"]
    assert (body["errors"], body["available"]) == ({"qty": [body["message"]]}, 2)


@pytest.mark.rule("R-ERR-8")
def test_422_a_refused_checkout_names_what_was_asked_for(api):
    body = assert_error(api.post("/cart/checkout"), 422, "empty_cart")
    assert body["errors"] == {"cart": [body["message"]]}


@pytest.mark.rule("R-ERR-10", "R-LIM-11")
def test_429_rate_limit(shop):
    client = ApiClient(make_token(shop))
    ApiToken.objects.update(requests_per_minute=1)
    client.get("/cart")
    answer = client.get("/cart")
    assert_error(answer, 429, "rate_limited")
    for header in ("Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"):
        assert answer[header].isdigit()
