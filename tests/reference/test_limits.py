"""Limits of sizes, pages and lifetimes."""

import pytest

from tests.catalogue.factories import make_product


@pytest.mark.rule("R-LIM-2")
def test_products_per_page_are_24_by_default_and_100_at_most(api, shop):
    for _ in range(101):
        make_product(shop)
    for query, size, last in (
        ("", 24, 5),
        ("?per_page=7", 7, 15),
        ("?per_page=100", 100, 2),
        ("?per_page=500", 100, 2),
    ):
        body = api.get(f"/products{query}").json()
        assert (body["per_page"], len(body["data"]), body["last_page"]) == (size, size, last)


@pytest.mark.rule("R-LIM-3")
@pytest.mark.parametrize("parameter", ["per_page", "page"])
@pytest.mark.parametrize("value", ["0", "-1", "1.5", "many", ""])
def test_pages_and_sizes_below_1_or_not_integers_are_refused(api, parameter, value):
    answer = api.get(f"/products?{parameter}={value}")
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [parameter]


@pytest.mark.rule("R-CALL-21")
def test_an_idempotency_key_has_at_most_255_characters(api):
    assert api.post("/cart", {"product_id": 1, "qty": 1}, Idempotency_Key="x" * 256).status_code == 422


@pytest.mark.rule("R-LIM-4")
def test_a_search_has_at_most_200_characters(api):
    assert api.get(f"/products?q={'x' * 200}").status_code == 200
    assert api.get(f"/products?q={'x' * 201}").status_code == 422
