"""The four calls of the catalogue, and the parameters of the list."""

import pytest

from tests.catalogue.factories import make_category, make_product


def names(answer) -> list[str]:
    return [record["name"] for record in answer.json()["data"]]


@pytest.mark.rule("R-CAT-27")
def test_get_product_takes_the_numeric_id_or_the_slug_and_answers_data(api, shop):
    mug = make_product(shop, "Mug")
    for key in (mug.id, "mug"):
        body = api.get(f"/products/{key}").json()
        assert list(body) == ["data"]
        assert {"categories", "variants"} <= set(body["data"])


@pytest.mark.rule("R-CAT-33")
def test_get_categories_answers_data_flat_unpaginated_all_at_once(api, shop):
    parent = None
    for number in range(130):
        parent = make_category(shop, f"C{number}", parent if number % 10 else None)
    body = api.get("/categories?page=2&per_page=5").json()
    assert list(body) == ["data"]
    assert len(body["data"]) == 130
    assert all("products_count" in category and "children" not in category for category in body["data"])


@pytest.mark.rule("R-CAT-20")
def test_q_matches_name_description_sku_and_tags(api, shop):
    make_product(shop, "Teapot")
    make_product(shop, "Cup", description="<p>Fits the teapot</p>")
    make_product(shop, "Lid", sku="TEAPOT-LID")
    make_product(shop, "Stand", tags=["teapot"])
    make_product(shop, "Lamp", short_description="teapot", barcode="teapot")
    assert sorted(names(api.get("/products?q=teapot"))) == ["Cup", "Lid", "Stand", "Teapot"]


@pytest.mark.rule("R-LIM-2")
def test_per_page_is_the_page_size_default_24(api, shop):
    for _ in range(25):
        make_product(shop)
    assert len(api.get("/products").json()["data"]) == 24
    assert len(api.get("/products?per_page=7").json()["data"]) == 7


@pytest.mark.rule("R-CAT-26")
def test_clients_page_using_last_page(api, shop):
    for _ in range(11):
        make_product(shop)
    last = api.get("/products?per_page=3").json()["last_page"]
    pages = [api.get(f"/products?per_page=3&page={page}").json()["data"] for page in range(1, last + 1)]
    assert [len(page) for page in pages] == [3, 3, 3, 2]
    assert len({record["id"] for page in pages for record in page}) == 11
