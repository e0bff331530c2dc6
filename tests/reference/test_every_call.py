"""What holds for every call and every error, whoever asks and however.

A database that is away needs a process of its own: tests/server/test_api_defects.py.
"""

import json
import re
from datetime import timedelta

import pytest
from django.test import Client

from storefront.kit.clock import offset_timestamp
from storefront.shops.models import AllowedOrigin, ApiToken
from tests.answers import error_of, without_id
from tests.catalogue.factories import make_category, make_option, make_product, make_variant
from tests.client import ApiClient
from tests.shops.factories import NOW, make_token

ORIGIN = "https://app.example.com"


@pytest.fixture
def errors(shop, api, stranger, settings) -> dict[int, object]:
    """An answer of each error status that a caller can bring about, asked for as a browser asks for pages."""
    html = {"Accept": "text/html"}
    limited = ApiClient(make_token(shop))
    ApiToken.objects.filter(pk=ApiToken.objects.latest("pk").pk).update(requests_per_minute=1)
    limited.get("/cart")
    token = {"Authorization": f"Bearer {api.token}", **html}
    sent = {"headers": token, "data": b"{"}
    answers = {
        400: api.http.post("/api/v1/cart", content_type="application/json", **sent),
        401: stranger.get("/products", **html),
        403: ApiClient(make_token(shop, "read_cart")).get("/products", **html),
        404: api.get("/nothing", **html),
        405: api.call("put", "/products", **html),
        413: api.post("/cart", {"x": "y" * 1024 * 1024}, **html),
        415: api.http.post("/api/v1/cart", content_type="text/plain", **sent),
        422: api.get("/products?page=0", **html),
        429: limited.get("/cart", **html),
    }
    settings.ROOT_URLCONF = "tests.server.broken_urls"
    return answers | {500: stranger.get("/broken", **html)}


@pytest.mark.rule("R-CALL-1", "R-ERR-1")
def test_every_answer_errors_included_is_json_whatever_accept_says(errors, api, shop):
    for status, answer in errors.items():
        assert answer.status_code == status
        assert answer["Content-Type"] == "application/json"
        assert set(json.loads(answer.content)) >= {"message", "code"}
    for accept in ("text/html", "application/xml", "image/png", ""):
        assert api.get("/products", Accept=accept)["Content-Type"] == "application/json"


@pytest.mark.rule("R-ERR-1")
def test_message_is_one_sentence_and_code_a_snake_case_word(errors):
    for answer in errors.values():
        body = answer.json()
        assert body["message"][0].isupper()
        assert body["message"].endswith(".")
        assert body["code"].replace("_", "").isalpha()
        assert body["code"].islower()


@pytest.mark.rule("R-ERR-1", "R-ERR-3", "R-ERR-4", "R-ERR-6", "R-ERR-8", "R-ERR-10")
def test_each_status_adds_what_its_row_says(errors):
    assert errors[401]["WWW-Authenticate"] == "Bearer"
    assert set(error_of(errors[403])) == {"message", "code", "required_scopes", "granted_scopes"}
    assert errors[405]["Allow"] == "GET, HEAD, OPTIONS"
    assert set(error_of(errors[422])) == {"message", "code", "errors"}
    headers = ("Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
    assert all(errors[429][name].isdigit() for name in headers)
    for status in (400, 401, 404, 405, 413, 415, 429):
        more = {"line", "column"} if status == 400 else set()
        assert set(error_of(errors[status])) == {"message", "code"} | more


@pytest.mark.rule("R-ERR-11")
def test_500_a_defect_names_only_a_request_id(errors):
    assert set(error_of(errors[500])) == {"message", "code"}
    assert errors[500]["X-Request-Id"] in errors[500].json()["message"]
    assert b"ZeroDivision" not in errors[500].content


@pytest.mark.rule("R-CALL-5")
def test_webhook_registration_timestamps_have_a_numeric_offset_and_no_fraction():
    assert offset_timestamp(NOW + timedelta(milliseconds=5)) == "2026-11-21T07:30:00+00:00"


# Which shop a page means.


def seen_at(host: str) -> tuple[int, bool]:
    answer = Client(headers={"host": host}).get("/")
    return answer.status_code, b"Lighthouse" in answer.content


@pytest.mark.rule("R-CALL-12")
def test_a_page_means_the_shop_whose_domain_the_host_names_port_ignored(shop, other_shop):
    assert seen_at("shop.example.com") == seen_at("shop.example.com:8000") == (200, True)
    assert seen_at("other.example.com") == (200, False)


@pytest.mark.rule("R-CALL-12")
def test_where_a_deployment_has_a_single_shop_any_host_means_it(shop):
    assert seen_at("localhost:8000") == (200, True)


@pytest.mark.rule("R-CALL-12")
def test_else_a_404_page(shop, other_shop):
    assert seen_at("elsewhere.example.com") == (404, False)


@pytest.mark.rule("R-CALL-11")
def test_the_api_never_looks_at_the_host(api, shop, other_shop):
    make_product(shop, "Mug")
    answers = {api.get("/products", Host=host).content for host in ("shop.example.com", "other.example.com", "a b")}
    assert len(answers) == 1
    assert b"Mug" in answers.pop()


# Bodies.


@pytest.mark.rule("R-ERR-2")
@pytest.mark.parametrize("body", [b"[]", b'"x"', b"1", b"null"])
def test_a_wrong_top_level_type_is_a_400(api, body):
    headers = {"Authorization": f"Bearer {api.token}"}
    answer = api.http.post("/api/v1/cart", body, content_type="application/json", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed_json")


# HEAD, OPTIONS.


@pytest.mark.rule("R-CALL-13")
@pytest.mark.parametrize("path", ["/products", "/products/mug", "/categories", "/categories/cups", "/cart"])
def test_head_works_where_get_does(api, shop, path):
    make_product(shop, "Mug", categories=(make_category(shop, "Cups"),))
    got, head = api.get(path), api.call("head", path)
    assert (head.status_code, head.content) == (200, b"")
    assert head["Content-Length"] == str(len(got.content))


@pytest.mark.rule("R-CALL-14")
@pytest.mark.parametrize(("method", "path"), [("GET", "/products"), ("POST", "/cart"), ("DELETE", "/cart/p1")])
def test_preflights_are_answered_for_the_origins_a_shop_allows(stranger, shop, method, path):
    AllowedOrigin.objects.create(shop=shop, origin=ORIGIN)
    answer = stranger.call("options", path, Origin=ORIGIN, Access_Control_Request_Method=method)
    assert answer["Access-Control-Allow-Origin"] == ORIGIN
    assert method in answer["Access-Control-Allow-Methods"]
    assert {"Authorization", "X-Cart-Token"} <= set(answer["Access-Control-Allow-Headers"].split(", "))


@pytest.mark.rule("R-CALL-14")
def test_no_origin_is_allowed_by_default(stranger, shop):
    answer = stranger.call("options", "/products", Origin=ORIGIN, Access_Control_Request_Method="GET")
    assert "Access-Control-Allow-Origin" not in answer


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


@pytest.mark.rule("R-ERR-5")
def test_404_unknown_route_or_resource(api):
    for path in ("/nothing", "/products/nothing", "/products/999999", "/categories/nothing"):
        assert set(assert_error(api.get(path), 404, "not_found")) == {"message", "code"}


@pytest.mark.rule("R-ERR-5")
def test_404_another_shops_resource_looks_exactly_the_same(api, other_shop):
    theirs = make_product(other_shop)
    assert without_id(api.get(f"/products/{theirs.id}")) == without_id(api.get("/products/999999"))


@pytest.mark.rule("R-LIM-1")
def test_413_body_too_large(api):
    assert_error(api.post("/cart", {"x": "y" * 1024 * 1024}), 413, "too_large")


@pytest.mark.rule("R-ERR-8")
def test_422_invalid_fields(api):
    errors = assert_error(api.post("/cart", {"qty": 0}), 422, "invalid_fields")["errors"]
    assert errors == {"product_id": ["product_id is required."], "qty": ["qty must be 1 or more."]}


@pytest.mark.rule("R-ERR-8", "R-ERR-9", "R-CART-27", "R-CART-28")
def test_422_a_refused_add_names_what_was_asked_for(api, shop, mug):
    """The row adds `errors` to every 422, a refusal as well as an invalid field."""
    shirt, ring, paper = make_product(shop), make_product(shop), make_product(shop, billing_interval="month")
    make_variant(shirt)
    option = make_option(ring, "Engraving", required=True)
    refused = {
        "product_unavailable": ("product_id", api.post("/cart", {"product_id": 999_999, "qty": 1})),
        "insufficient_stock": ("qty", add(api, mug, qty=3)),
        "subscription_not_sold": ("product_id", add(api, paper)),
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
