"""Forms of values on the wire, in one of each answer that has records."""

import json
import re
from decimal import Decimal

import pytest

from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
MONEY = re.compile(r"\d+\.\d\d")
PRICES = {"price", "compare_price", "cost_price", "setup_fee", "min_custom_price", "damaged_price"} | {
    "price_snapshot",
    "line_total",
    "subtotal",
    "shipping",
    "tax",
    "discount",
    "total",
}


@pytest.fixture
def product(shop):
    product = make_product(
        shop, "Müsli", categories=(make_category(shop),), setup_fee=Decimal("1.5"), weight=Decimal("0.25")
    )
    make_variant(product)
    make_option(product)
    make_media(product)
    return product


@pytest.fixture
def answers(api, shop, product) -> list[dict]:
    """One of each answer that has records in it."""
    mug = make_product(shop, "Mug")
    added = api.post("/cart", {"product_id": mug.id, "qty": 3})
    reads = ["/products", f"/products/{product.id}", "/categories", "/categories/cups"]
    cart = api.get("/cart", cart=added.json()["cart_token"])
    return [added.json(), cart.json(), *(api.get(path).json() for path in reads)]


def members(value):
    """Every member of every object inside, by name."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield name, part
            yield from members(part)
    elif isinstance(value, list):
        for part in value:
            yield from members(part)


@pytest.mark.rule("R-CALL-2")
def test_money_is_always_a_decimal_string_never_a_json_number(answers):
    # The envelope and the cart both have a `total`; the envelope's is a count.
    prices = [
        (name, value) for answer in answers for name, value in members(answer.get("data")) if name in PRICES and value
    ]
    assert {name for name, _ in prices} >= {"price", "compare_price", "cost_price", "setup_fee", "line_total", "total"}
    assert [item for item in prices if not (isinstance(item[1], str) and MONEY.fullmatch(item[1]))] == []


@pytest.mark.rule("R-CALL-2")
def test_no_json_number_is_a_fraction(answers):
    def refuse(text):
        pytest.fail(f"a fraction on the wire: {text}")

    for answer in answers:
        json.loads(json.dumps(answer), parse_float=refuse)


@pytest.mark.rule("R-CALL-3")
def test_weight_is_a_decimal_string_of_three_fraction_digits(api, product):
    assert api.get(f"/products/{product.id}").json()["data"]["weight"] == "0.250"


@pytest.mark.rule("R-CALL-4")
def test_timestamps_are_iso_8601_utc_with_six_fraction_digits_and_z(answers):
    times = [value for answer in answers for name, value in members(answer) if name.endswith("_at") and value]
    assert times
    assert [value for value in times if not TIMESTAMP.fullmatch(value)] == []


@pytest.mark.rule("R-CALL-11")
def test_all_paths_are_relative_to_the_shops_base_url_and_never_to_the_host(api, product):
    answer = api.get("/products", Host="evil.example", X_Forwarded_Host="evil.example", X_Forwarded_Proto="http")
    body = answer.json()
    assert body["path"] == "https://shop.example.com/api/v1/products"
    assert b"evil.example" not in answer.content


@pytest.mark.rule("R-CALL-1")
def test_answers_are_utf_8(api, product):
    assert "Müsli".encode() in api.get(f"/products/{product.id}").content


@pytest.mark.rule("R-CALL-8")
@pytest.mark.parametrize("identifier", ["0", "-1", "1.5", "9007199254740992", "9" * 400, "1e3", "०", "٣"])
def test_anything_but_a_positive_integer_up_to_2_53_in_an_id_position_is_a_404(api, product, identifier):
    assert api.get(f"/products/{identifier}").status_code == 404
    assert api.get(f"/categories/{identifier}").status_code == 404


@pytest.mark.rule("R-CALL-9")
def test_unknown_query_parameters_are_ignored(api, product):
    assert api.get("/products?colour=blue&utm_source=x").json()["total"] == 1


@pytest.mark.rule("R-CALL-9")
def test_unknown_request_members_are_ignored(api, shop):
    body = {"product_id": make_product(shop).id, "qty": 1, "colour": "blue"}
    assert api.post("/cart", body).status_code == 201


@pytest.mark.rule("R-CALL-10")
def test_a_post_that_makes_a_resource_answers_201_and_all_else_200(api, shop):
    product = make_product(shop)
    added = api.post("/cart", {"product_id": product.id, "qty": 1})
    cart = added.json()["cart_token"]
    assert added.status_code == 201
    assert api.patch(f"/cart/p{product.id}", {"qty": 2}, cart=cart).status_code == 200
    assert api.post("/cart/checkout", cart=cart).status_code == 200


@pytest.mark.rule("R-CALL-10")
@pytest.mark.parametrize("path", ["/cart/p{id}", "/cart"])
def test_a_delete_answers_200_with_a_body(api, shop, path):
    product = make_product(shop)
    cart = api.post("/cart", {"product_id": product.id, "qty": 1}).json()["cart_token"]
    answer = api.delete(path.format(id=product.id), cart=cart)
    assert answer.status_code == 200
    assert answer.json()["message"]


@pytest.mark.rule("R-CALL-15")
def test_the_public_api_is_versioned_in_the_path(api):
    assert api.get("/products").status_code == 200
    api.prefix = "/api"
    assert api.get("/products").status_code == 404
