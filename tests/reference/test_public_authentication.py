"""Who may call the public API: bearer tokens, scopes, and the 401 and 403 answers."""

from datetime import timedelta

import pytest

from storefront.kit import clock, tokens
from storefront.shops.models import ApiToken, Shop
from storefront.shops.scopes import SCOPES
from storefront.staff import actions
from tests.answers import error_of
from tests.catalogue.factories import make_category, make_product
from tests.client import ApiClient
from tests.shops.factories import make_token

READS = ["/products", "/products/mug", "/categories", "/categories/cups"]
CALLS = [
    *(("get", path) for path in READS),
    ("get", "/cart"),
    ("post", "/cart"),
    ("patch", "/cart/p1"),
    ("delete", "/cart/p1"),
    ("delete", "/cart"),
    ("post", "/cart/checkout"),
]


@pytest.fixture(autouse=True)
def catalogue(shop):
    make_product(shop, "Mug", categories=(make_category(shop, "Cups"),))


def assert_unauthenticated(answer, code):
    error = error_of(answer)
    assert (answer.status_code, set(error), error["code"]) == (401, {"message", "code"}, code)
    assert error["message"].startswith("Unauthenticated. ")
    assert answer["WWW-Authenticate"] == "Bearer"


@pytest.mark.rule("R-CALL-16")
def test_the_credential_is_a_bearer_token_in_the_authorization_header(shop, stranger):
    token = make_token(shop)
    assert stranger.get("/products", Authorization=f"Bearer {token}").status_code == 200


@pytest.mark.rule("R-CALL-16")
@pytest.mark.parametrize("scheme", ["bearer", "BEARER", "bEaReR"])
def test_the_word_bearer_is_read_in_any_case(shop, stranger, scheme):
    assert stranger.get("/products", Authorization=f"{scheme} {make_token(shop)}").status_code == 200


@pytest.mark.rule("R-ERR-3")
def test_no_credential_is_a_401(stranger):
    for method, path in CALLS:
        assert_unauthenticated(stranger.call(method, path), "token_missing")


@pytest.mark.rule("R-ERR-3")
@pytest.mark.parametrize(
    ("form", "code"),
    [
        ("", "token_missing"),
        ("Bearer", "token_malformed"),
        ("Bearer ", "token_malformed"),
        ("{token}", "token_malformed"),
        ("Basic {token}", "token_malformed"),
        ("Token {token}", "token_malformed"),
        ("Bearer {token}x", "token_malformed"),
        ("Bearer {token}, Bearer {token}", "token_malformed"),
        ("Bearer {token},Basic eDp4", "token_malformed"),
        ("Basic eDp4,Bearer {token}", "token_malformed"),
        ("Bearer {token} {token}", "token_malformed"),
        ("Bearer\t{token}", "token_malformed"),
        ("Bearer api_" + "x" * 43, "token_unknown"),
        ("Bearer app_" + "x" * 43, "token_unknown"),
        ("Bearer " + "x" * 10_000, "token_malformed"),
        ("Bearer \x00", "token_malformed"),
    ],
)
def test_a_malformed_or_unknown_credential_is_a_401(shop, stranger, form, code):
    assert_unauthenticated(stranger.get("/products", Authorization=form.format(token=make_token(shop))), code)


@pytest.mark.rule("R-CALL-16")
@pytest.mark.parametrize("name", ["token", "access_token", "api_token", "Authorization"])
def test_a_token_in_the_query_is_no_credential(shop, stranger, name):
    assert_unauthenticated(stranger.get(f"/products?{name}={make_token(shop)}"), "token_missing")


@pytest.mark.rule("R-CALL-16")
def test_a_token_in_a_cookie_or_a_body_is_no_credential(shop, stranger):
    token = make_token(shop)
    stranger.http.cookies["Authorization"] = token
    assert_unauthenticated(stranger.post("/cart", {"product_id": 1, "qty": 1, "access_token": token}), "token_missing")


@pytest.mark.rule("R-CALL-16")
def test_a_token_of_another_kind_is_no_credential(shop, stranger):
    for kind in ("cart", "secret"):
        answer = stranger.get("/products", Authorization=f"Bearer {tokens.new_token(kind)}")
        assert_unauthenticated(answer, "token_malformed")


@pytest.mark.rule("R-CALL-18")
def test_an_expired_token_is_a_401(shop, stranger):
    now = clock.now()
    made = {"shop": shop, "scopes": list(SCOPES), "name": "test"}
    _, short = actions.create_api_token(**made, now=now - timedelta(days=2), expires_in=timedelta(days=1))
    _, long = actions.create_api_token(**made, now=now, expires_in=timedelta(days=1))
    assert_unauthenticated(stranger.get("/products", Authorization=f"Bearer {short}"), "token_expired")
    assert stranger.get("/products", Authorization=f"Bearer {long}").status_code == 200


@pytest.mark.rule("R-CALL-18")
def test_a_revoked_token_is_a_401_from_the_next_request_on(shop, api):
    assert api.get("/products").status_code == 200
    actions.revoke_api_token(shop=shop, token=ApiToken.objects.get(), now=clock.now())
    assert_unauthenticated(api.get("/products"), "token_unknown")


@pytest.mark.rule("R-CALL-18")
def test_a_token_of_a_closed_shop_is_a_401(shop, api):
    Shop.objects.update(is_active=False)
    assert_unauthenticated(api.get("/products"), "token_unknown")


@pytest.mark.rule("R-CALL-18")
def test_only_the_digest_of_a_token_is_kept(shop):
    token = make_token(shop)
    row = ApiToken.objects.get()
    assert row.digest == tokens.digest(token)
    assert token not in str(ApiToken.objects.values().get())


@pytest.mark.rule("R-CAT-5")
@pytest.mark.parametrize("path", READS)
def test_the_read_scope_for_products_is_read_products(shop, path):
    assert_only(shop, "read_products", "get", path)


@pytest.mark.rule("R-CART-1")
def test_the_cart_scope_for_get_is_read_cart(shop):
    assert_only(shop, "read_cart", "get", "/cart")


@pytest.mark.rule("R-CART-1")
@pytest.mark.parametrize(("method", "path"), [call for call in CALLS if "cart" in call[1] and call[0] != "get"])
def test_the_cart_scope_for_changes_is_write_cart(shop, method, path):
    assert_only(shop, "write_cart", method, path)


# What a call without body and cart answers once its scope is there, where that is not 200.
LET_THROUGH = {
    ("post", "/cart"): 422,
    ("patch", "/cart/p1"): 422,
    ("delete", "/cart/p1"): 404,
    ("post", "/cart/checkout"): 422,
}


def assert_only(shop, needed, method, path):
    """This scope alone lets the call through, and all the others together do not."""
    others = sorted(set(SCOPES) - {needed})
    assert ApiClient(make_token(shop, needed)).call(method, path).status_code == LET_THROUGH.get((method, path), 200)
    refused = ApiClient(make_token(shop, *others)).call(method, path)
    assert refused.status_code == 403
    assert error_of(refused) == {
        "message": "Insufficient scope for this endpoint.",
        "code": "insufficient_scope",
        "required_scopes": [needed],
        "granted_scopes": others,
    }


@pytest.mark.rule("R-CALL-19")
@pytest.mark.parametrize(("writing", "path"), [("write_cart", "/cart"), ("write_products", "/products")])
def test_writing_does_not_imply_reading(shop, writing, path):
    assert ApiClient(make_token(shop, writing)).get(path).status_code == 403


@pytest.mark.rule("R-CALL-13")
def test_head_needs_the_scope_of_get(shop):
    assert ApiClient(make_token(shop, "read_cart")).call("head", "/products").status_code == 403
    assert ApiClient(make_token(shop, "read_products")).call("head", "/products").status_code == 200


@pytest.mark.rule("R-CALL-19")
def test_the_scope_is_looked_at_before_the_body_and_the_thing_itself(shop):
    client = ApiClient(make_token(shop, "read_cart"))
    assert client.post("/cart", {"qty": "none"}).status_code == 403
    assert client.get("/products/no-such-thing").status_code == 403


@pytest.mark.rule("R-CART-2")
def test_the_cart_is_identified_by_the_x_cart_token_header(shop, api):
    product = make_product(shop)
    token = api.post("/cart", {"product_id": product.id, "qty": 1}).json()["cart_token"]
    assert api.get("/cart", cart=token).json()["cart_token"] == token
    assert api.get(f"/cart?cart_token={token}").json()["cart_token"] is None
