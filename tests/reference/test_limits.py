"""Limits of sizes, pages and lifetimes."""

from datetime import timedelta

import pytest
import time_machine

from tests.catalogue.factories import make_category, make_product
from tests.shops.factories import NOW


@pytest.fixture
def many(shop):
    for _ in range(130):
        make_product(shop)


@pytest.mark.rule("R-LIM-2")
def test_products_per_page_are_24_by_default(api, many):
    body = api.get("/products").json()
    assert (body["per_page"], len(body["data"])) == (24, 24)


@pytest.mark.rule("R-LIM-2")
def test_products_per_page_follow_per_page(api, many):
    assert len(api.get("/products?per_page=7").json()["data"]) == 7


@pytest.mark.rule("R-LIM-2")
def test_a_request_for_100_per_page_is_answered_with_100(api, many):
    body = api.get("/products?per_page=100").json()
    assert (body["per_page"], len(body["data"])) == (100, 100)


@pytest.mark.rule("R-LIM-2")
def test_above_100_per_page_is_taken_as_100(api, many):
    body = api.get("/products?per_page=500").json()
    assert (body["per_page"], len(body["data"]), body["last_page"]) == (100, 100, 2)


@pytest.mark.rule("R-LIM-3")
@pytest.mark.parametrize("parameter", ["per_page", "page"])
@pytest.mark.parametrize("value", ["0", "-1", "1.5", "many", ""])
def test_pages_and_sizes_below_1_or_not_integers_are_refused(api, parameter, value):
    answer = api.get(f"/products?{parameter}={value}")
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [parameter]


@pytest.mark.rule("R-CAT-33")
def test_categories_are_unpaginated_all_in_one_response(api, shop):
    for number in range(130):
        make_category(shop, f"Category {number}")
    assert len(api.get("/categories?per_page=5&page=2").json()["data"]) == 130


@pytest.mark.rule("R-CART-8")
@pytest.mark.parametrize(("seconds", "lives"), [(-1, True), (0, False)])
def test_a_cart_lives_seven_days_from_the_last_write(api, shop, seconds, lives):
    product = make_product(shop)
    with time_machine.travel(NOW, tick=False) as clock:
        token = api.post("/cart", {"product_id": product.id, "qty": 1}).json()["cart_token"]
        clock.shift(timedelta(days=7, seconds=seconds))
        assert (api.get("/cart", cart=token).json()["cart_token"] == token) is lives


@pytest.mark.rule("R-LINK-1")
def test_a_checkout_link_is_valid_for_3600_seconds(api, shop):
    product = make_product(shop)
    token = api.post("/cart", {"product_id": product.id, "qty": 1}).json()["cart_token"]
    assert api.post("/cart/checkout", cart=token).json()["expires_in"] == 3600


@pytest.mark.rule("R-LIM-1")
def test_a_body_has_at_most_1_mib(api):
    assert api.post("/cart", {"x": "y" * 1024 * 1024}).status_code == 413


@pytest.mark.rule("R-CALL-21")
def test_an_idempotency_key_has_at_most_255_characters(api):
    assert api.post("/cart", {"product_id": 1, "qty": 1}, Idempotency_Key="x" * 256).status_code == 422


@pytest.mark.rule("R-LIM-4")
def test_a_search_has_at_most_200_characters(api):
    assert api.get(f"/products?q={'x' * 200}").status_code == 200
    assert api.get(f"/products?q={'x' * 201}").status_code == 422
