"""Stock is read through both APIs (R-APP-35)."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.catalogue.inventory.queries import InventoryFilters, inventory_page
from storefront.kit.clock import timestamp
from tests.catalogue.factories import make_product, make_variant
from tests.client import ApiClient
from tests.factories.apps import install
from tests.shops.factories import NOW, make_token


@pytest.fixture(params=["/api/apps", "/api/v1"])
def form(request) -> str:
    return request.param


@pytest.fixture
def app(shop, form) -> ApiClient:
    return ApiClient(install(shop, "read_inventory").token, prefix=form)


def listed(answer) -> list[dict]:
    assert answer.status_code == 200, answer.content
    body = answer.json()
    return body["inventory"] if "inventory" in body else body["data"]


def ids(answer) -> list[str]:
    return [item["id"] for item in listed(answer)]


def test_a_product_without_variants_is_one_item(shop, app):
    mug = make_product(shop, "Mug", sku="M-1", stock_qty=7, damaged_qty=2, low_stock_threshold=3)
    assert listed(app.get("/inventory")) == [
        {
            "id": f"p{mug.pk}",
            "product_id": mug.pk,
            "variant_id": None,
            "sku": "M-1",
            "name": "Mug",
            "track_inventory": True,
            "allow_backorders": False,
            "stock_qty": 7,
            "damaged_qty": 2,
            "low_stock_threshold": 3,
            "updated_at": timestamp(NOW),
        }
    ]


def test_each_variant_is_an_item_instead_of_its_product(shop, app):
    shirt = make_product(shop, "Shirt", sku="S", stock_qty=99, low_stock_threshold=4, damaged_qty=1)
    late = make_variant(shirt, "Red", sku="S-R", sort_order=1, stock_qty=2, allow_backorders=True)
    early = make_variant(shirt, "Blue", sku="S-B", track_inventory=False)
    found = listed(app.get("/inventory"))
    assert [item["id"] for item in found] == [f"p{shirt.pk}-v{early.pk}", f"p{shirt.pk}-v{late.pk}"]
    assert [(item["name"], item["sku"], item["stock_qty"]) for item in found] == [
        ("Shirt – Blue", "S-B", 5),
        ("Shirt – Red", "S-R", 2),
    ]
    assert [(item["track_inventory"], item["allow_backorders"]) for item in found] == [(False, False), (True, True)]
    assert {(item["low_stock_threshold"], item["damaged_qty"]) for item in found} == {(4, 1)}


def test_products_of_every_status_are_listed_and_deleted_ones_are_not(shop, app):
    kept = [make_product(shop, status=status) for status in ("draft", "active", "archived")]
    make_variant(make_product(shop, deleted_at=NOW))
    assert ids(app.get("/inventory")) == [f"p{product.pk}" for product in kept]


def test_filters_by_sku_product_and_variant(shop, app):
    mug, jug = make_product(shop, "Mug", sku="X"), make_product(shop, "Jug", sku="J")
    shirt = make_product(shop, "Shirt", sku="X")
    blue, red = make_variant(shirt, "Blue", sku="X"), make_variant(shirt, "Red", sku="J")
    items = {row: f"p{row.pk}" for row in (mug, jug)} | {row: f"p{shirt.pk}-v{row.pk}" for row in (blue, red)}
    for query, rows in (
        ("sku=X", [mug, blue]),
        ("sku=J", [jug, red]),
        ("sku=x", []),
        (f"product_id={jug.pk}", [jug]),
        (f"product_id={shirt.pk}", [blue, red]),
        (f"variant_id={red.pk}", [red]),
        (f"product_id={shirt.pk}&sku=J", [red]),
        (f"product_id={jug.pk}&variant_id={red.pk}", []),
        (f"product_id={jug.pk + 1000}", []),
    ):
        answer = app.get(f"/inventory?{query}")
        assert ids(answer) == [items[row] for row in rows], query
        body = answer.json()
        assert body.get("pagination", body)["total"] == len(rows)


def test_pages_are_consecutive_and_have_the_total(shop, app, form):
    shirt = make_product(shop)
    variants = [make_variant(shirt, f"V{number}") for number in range(3)]
    mug = make_product(shop)
    pages = [app.get(f"/inventory?per_page=2&page={page}") for page in (1, 2, 3)]
    assert [ids(page) for page in pages] == [
        [f"p{shirt.pk}-v{variant.pk}" for variant in variants[:2]],
        [f"p{shirt.pk}-v{variants[2].pk}", f"p{mug.pk}"],
        [],
    ]
    body = pages[0].json()
    where = body.get("pagination", body)
    assert (where["total"], where["last_page"]) == (4, 2)
    assert where["next_page_url"] == f"{shop.base_url}{form}/inventory?per_page=2&page=2"


@pytest.mark.parametrize("query", ["product_id=x", "variant_id=0", "sku=", "sku=" + "a" * 256, "page=0", "sku=a%00"])
def test_an_invalid_parameter_is_named(app, query):
    answer = app.get(f"/inventory?{query}")
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [query.partition("=")[0]]


def test_another_shops_stock_is_never_seen(shop, other_shop, app):
    theirs = make_variant(make_product(other_shop, sku="X"), sku="X")
    for query in ("", f"?product_id={theirs.product_id}", f"?variant_id={theirs.pk}", "?sku=X"):
        assert ids(app.get(f"/inventory{query}")) == []


def test_reading_needs_the_scope(shop, form):
    answer = ApiClient(install(shop, "write_inventory", "read_products").token, prefix=form).get("/inventory")
    assert (answer.status_code, answer.json()["required_scopes"]) == (403, ["read_inventory"])


def test_api_tokens_work_only_in_the_public_api(shop):
    token = make_token(shop, "read_inventory")
    assert ApiClient(token).get("/inventory").status_code == 200
    assert ApiClient(token, prefix="/api/apps").get("/inventory").status_code == 401


@pytest.mark.parametrize("count", [1, 20])
@pytest.mark.parametrize("query", ["", "?sku=X"])
def test_a_list_takes_at_most_five_queries_at_any_length(shop, app, query, count, django_assert_max_num_queries):
    for _ in range(count):
        make_product(shop, sku="X")
        make_variant(make_product(shop), sku="X")
    with django_assert_max_num_queries(5):
        answer = app.get(f"/inventory{query}")
    assert len(listed(answer)) == min(2 * count, 24)


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL chooses by what it knows of the rows")
@pytest.mark.parametrize(
    ("filters", "count", "index"),
    [(InventoryFilters(), 1, "product_standing"), (InventoryFilters(sku="X"), 0, "shop_id")],
)
def test_a_page_uses_an_index(shop, filters, count, index):
    make_variant(make_product(shop))
    with CaptureQueriesContext(connection) as asked:
        assert inventory_page(shop, filters, start=0, count=24)[1] == count
    (page,) = [query["sql"] for query in asked if "LIMIT 24" in query["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {page}")
        plan = "\n".join(str(row[-1]) for row in cursor.fetchall())
    assert index in plan, plan
