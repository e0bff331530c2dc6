"""Stock is read in both forms of the resource (decisions: Shop data endpoints)."""

import pytest
from django.db import connection

from storefront.catalogue.inventory import InventoryFilters, inventory_page
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


def test_of_a_product_with_variants_each_variant_is_an_item_and_the_product_none(shop, app):
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


def test_products_of_every_status_count_and_deleted_ones_do_not(shop, app):
    kept = [make_product(shop, status=status) for status in ("draft", "active", "archived")]
    make_variant(make_product(shop, deleted_at=NOW))
    assert ids(app.get("/inventory")) == [f"p{product.pk}" for product in kept]


def test_it_is_narrowed_by_sku_product_and_variant(shop, app):
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


def test_pages_follow_one_another_and_know_the_total(shop, app, form):
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
def test_what_cannot_be_asked_for_is_named(app, query):
    answer = app.get(f"/inventory?{query}")
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [query.partition("=")[0]]


def test_another_shops_stock_is_never_seen(shop, other_shop, app):
    theirs = make_variant(make_product(other_shop, sku="X"), sku="X")
    for query in ("", f"?product_id={theirs.product_id}", f"?variant_id={theirs.pk}", "?sku=X"):
        assert ids(app.get(f"/inventory{query}")) == []


def test_it_takes_the_scope(shop, form):
    answer = ApiClient(install(shop, "write_inventory", "read_products").token, prefix=form).get("/inventory")
    assert (answer.status_code, answer.json()["required_scopes"]) == (403, ["read_inventory"])


def test_api_tokens_read_the_public_form_alone(shop):
    token = make_token(shop, "read_inventory")
    assert ApiClient(token).get("/inventory").status_code == 200
    assert ApiClient(token, prefix="/api/apps").get("/inventory").status_code == 401


@pytest.mark.parametrize("count", [1, 20])
@pytest.mark.parametrize("query", ["", "?sku=X"])
def test_a_list_asks_at_most_five_times_however_long(shop, app, query, count, django_assert_max_num_queries):
    for _ in range(count):
        make_product(shop, sku="X")
        make_variant(make_product(shop), sku="X")
    with django_assert_max_num_queries(5):
        app.get(f"/inventory{query}")


@pytest.mark.parametrize(
    ("filters", "index"),
    [(InventoryFilters(), "product_standing"), (InventoryFilters(sku="X"), "shop_id")],
)
def test_a_page_is_read_off_an_index(shop, filters, index):
    make_variant(make_product(shop))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # A handful of rows is read and sorted faster than any index; the question is whether one would serve.
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
    from storefront.catalogue import inventory

    found = inventory._narrowed(inventory._stock(shop), shop, filters).order_by(*inventory._ORDER)
    plan = found.values_list("pk", "variants__pk")[:24].explain()
    assert index in plan, plan
    assert inventory_page(shop, filters, start=0, count=24)[1] == (1 if filters.sku is None else 0)
