"""The paginated envelope of the product list, and the list's search and order."""

from datetime import timedelta
from decimal import Decimal

import pytest

from tests.catalogue.factories import make_category, make_product
from tests.shops.factories import NOW

BASE = "https://shop.example.com/api/v1/products"
MEMBERS = """
current_page data first_page_url from last_page last_page_url links next_page_url path per_page prev_page_url to total
"""
KEYS = MEMBERS.split()


@pytest.fixture
def page(api, shop):
    for number in range(5):
        make_product(shop, f"Mug {number}")
    return api.get("/products?per_page=2&page=2").json()


@pytest.mark.rule("R-CAT-16")
def test_the_envelope_has_these_fields(page):
    assert list(page) == KEYS
    for integer in ("current_page", "from", "last_page", "per_page", "to", "total"):
        assert type(page[integer]) is int
    assert (page["current_page"], page["from"], page["to"], page["last_page"], page["total"]) == (2, 3, 4, 3, 5)
    assert [type(record) for record in page["data"]] == [dict, dict]
    assert page["path"] == BASE


@pytest.mark.rule("R-CAT-17")
def test_links_include_a_previous_entry_one_per_page_and_a_next_entry(page):
    assert [link["label"] for link in page["links"]] == ["&laquo; Previous", "1", "2", "3", "Next &raquo;"]
    assert [link["page"] for link in page["links"]] == [1, 1, 2, 3, 3]
    assert [link["active"] for link in page["links"]] == [False, False, True, False, False]
    assert all(list(link) == ["url", "label", "page", "active"] for link in page["links"])


@pytest.mark.rule("R-CAT-16")
def test_next_and_previous_page_urls_are_null_where_there_is_none(api, page):
    assert api.get("/products").json()["next_page_url"] is None
    assert api.get("/products").json()["prev_page_url"] is None
    assert page["next_page_url"]
    assert page["prev_page_url"]


@pytest.mark.rule("R-CAT-18")
def test_urls_take_the_form_base_url_api_v1_products_page_n(api, shop):
    for number in range(25):
        make_product(shop, f"Mug {number}")
    body = api.get("/products").json()
    assert body["first_page_url"] == f"{BASE}?page=1"
    assert body["last_page_url"] == body["next_page_url"] == f"{BASE}?page=2"
    assert body["links"][2]["url"] == f"{BASE}?page=2"


@pytest.mark.rule("R-CAT-18")
def test_following_a_link_keeps_the_filters_and_the_page_size(api, page):
    body = api.get("/products?page=1&per_page=2&sort=name&q=mug").json()
    assert body["next_page_url"] == f"{BASE}?q=mug&sort=name&per_page=2&page=2"
    following = api.get(body["next_page_url"].partition("/api/v1")[2]).json()
    assert [record["name"] for record in following["data"]] == ["Mug 2", "Mug 3"]
    assert following["current_page"] == 2


def names(answer) -> list[str]:
    return [record["name"] for record in answer.json()["data"]]


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


@pytest.mark.rule("R-CAT-23")
@pytest.mark.parametrize(
    ("sort", "expected"),
    [("newest", "CAB"), ("price_asc", "BCA"), ("price_desc", "ACB"), ("name", "ABC")],
)
def test_sort_is_one_of_newest_price_asc_price_desc_name(api, shop, sort, expected):
    for days, (name, price) in enumerate([("B", "1.00"), ("A", "10.00"), ("C", "9.00")]):
        make_product(shop, name, price=Decimal(price), created_at=NOW + timedelta(days=days))
    assert "".join(names(api.get(f"/products?sort={sort}"))) == expected


@pytest.mark.rule("R-CAT-26")
def test_clients_page_using_last_page(api, shop):
    for _ in range(11):
        make_product(shop)
    last = api.get("/products?per_page=3").json()["last_page"]
    pages = [api.get(f"/products?per_page=3&page={page}").json()["data"] for page in range(1, last + 1)]
    assert [len(page) for page in pages] == [3, 3, 3, 2]
    assert len({record["id"] for page in pages for record in page}) == 11
