"""Installed apps read products of any status (R-APP-31)."""

from datetime import timedelta

import pytest

from storefront.catalogue.models import BundleItem, Product
from tests.answers import error_of, without_id
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.client import ApiClient
from tests.factories.apps import install
from tests.shops.factories import NOW, make_token


@pytest.fixture
def app(shop) -> ApiClient:
    return install(shop, "read_products").api


def names(answer) -> list[str]:
    return [product["name"] for product in answer.json()["products"]]


def whole(app, product: Product) -> dict:
    answer = app.get(f"/products/{product.pk}")
    assert answer.status_code == 200
    return answer.json()["product"]


def test_a_published_product_reads_as_in_the_public_api(shop, app, api):
    mug = make_product(shop, "Mug", categories=(make_category(shop),), translations={"de": {"name": "Becher"}})
    make_variant(mug, image=make_media(mug))
    make_option(mug)
    public = api.get(f"/products/{mug.pk}").json()["data"]
    record = whole(app, mug)
    assert record.pop("bundle_items") == []
    assert record == public
    assert list(record) == list(public)


def test_the_list_has_the_records_of_the_public_list(shop, app, api):
    make_media(make_product(shop, "Mug"))
    assert app.get("/products").json()["products"] == api.get("/products").json()["data"]


def test_products_of_every_status_are_read_and_deleted_ones_are_not(shop, app):
    products = [make_product(shop, status, status=status) for status in ("draft", "active", "archived")]
    gone = make_product(shop, "Gone", deleted_at=NOW)
    assert sorted(names(app.get("/products"))) == ["active", "archived", "draft"]
    assert [whole(app, product)["status"] for product in products] == ["draft", "active", "archived"]
    assert app.get(f"/products/{gone.pk}").status_code == 404


def test_the_single_read_has_inactive_categories_and_bundle_items(shop, app):
    hidden = make_category(shop, "Hidden", is_active=False)
    bundle = make_product(shop, "Set", type="bundle", categories=(hidden,))
    blue = make_variant(make_product(shop, "Mug"))
    item = BundleItem.objects.create(shop=shop, bundle=bundle, product=blue.product, variant=blue, qty=2)
    record = whole(app, bundle)
    assert [category["slug"] for category in record["categories"]] == ["hidden"]
    assert record["bundle_items"] == [
        {"id": item.pk, "product_id": blue.product_id, "variant_id": blue.pk, "qty": 2, "sort_order": 0}
    ]


def test_the_newest_change_comes_first(shop, app):
    for name, hours in (("old", 1), ("new", 3), ("middle", 2)):
        make_product(shop, name, updated_at=NOW + timedelta(hours=hours))
    assert names(app.get("/products")) == ["new", "middle", "old"]


def test_ties_are_ordered_by_id_and_pages_do_not_overlap(shop, app):
    for number in range(5):
        make_product(shop, f"P{number}")
    pages = [app.get(f"/products?per_page=2&page={page}") for page in (1, 2, 3, 4)]
    assert [names(page) for page in pages] == [["P4", "P3"], ["P2", "P1"], ["P0"], []]
    assert pages[1].json()["pagination"] == {
        "current_page": 2,
        "last_page": 3,
        "per_page": 2,
        "total": 5,
        "next_page_url": f"{shop.base_url}/api/apps/products?per_page=2&page=3",
        "prev_page_url": f"{shop.base_url}/api/apps/products?per_page=2&page=1",
    }


def test_filters_apply_and_stay_in_page_urls(shop, app):
    make_product(shop, "Blue mug", status="draft", sku="M-1", description="For tea")
    make_product(shop, "Blue jug", status="active")
    make_product(shop, "Red mug", status="draft", updated_at=NOW + timedelta(hours=2))
    assert names(app.get("/products?status=active")) == ["Blue jug"]
    assert names(app.get("/products?q=MUG+blu")) == ["Blue mug"]
    assert names(app.get("/products?q=m-1")) == names(app.get("/products?q=tea")) == ["Blue mug"]
    assert names(app.get("/products?q=%25")) == []
    assert names(app.get("/products?updated_since=2026-11-21T08:00:00Z")) == ["Red mug"]
    where = app.get("/products?status=draft&q=mug&per_page=1").json()["pagination"]
    assert where["total"] == 2
    assert where["next_page_url"] == f"{shop.base_url}/api/apps/products?status=draft&q=mug&per_page=1&page=2"


@pytest.mark.parametrize(
    "query", ["status=sold", "q=" + "a" * 201, "updated_since=today", "page=0", "per_page=x", "q=a%00"]
)
def test_an_invalid_parameter_is_named(app, query):
    answer = app.get(f"/products?{query}")
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [query.partition("=")[0]]


@pytest.mark.parametrize("id", ["0", "-1", "mug", "9" * 30, "12345678"])
def test_an_unknown_product_is_a_404(shop, app, id):
    make_product(shop, "Mug")
    answer = app.get(f"/products/{id}")
    assert (answer.status_code, error_of(answer)) == (404, {"message": "Not found.", "code": "not_found"})


def test_another_shops_product_looks_like_an_unknown_one(app, other_shop):
    secret = make_product(other_shop, "Secret")
    known, unknown = app.get(f"/products/{secret.pk}"), app.get(f"/products/{secret.pk + 1000}")
    assert known.status_code == 404
    assert without_id(known) == without_id(unknown)
    assert names(app.get("/products")) == names(app.get("/products?q=secret")) == []


def test_reading_needs_the_scope_and_an_app_token(shop):
    make_product(shop)
    for path in ("/products", "/products/1"):
        answer = install(shop, "write_products").api.get(path)
        assert (answer.status_code, answer.json()["required_scopes"]) == (403, ["read_products"])
        assert ApiClient(make_token(shop), prefix="/api/apps").get(path).status_code == 401


@pytest.mark.parametrize("count", [1, 20])
def test_a_list_takes_four_queries_and_a_read_two_at_any_size(shop, app, count, django_assert_num_queries):
    for _ in range(count):
        mug = make_product(shop, categories=(make_category(shop, f"C{Product.objects.count()}"),))
        make_media(mug)
    for number in range(count):
        make_variant(mug, f"V{number}", image=make_media(mug))
        make_option(mug, f"O{number}")
    with django_assert_num_queries(4):
        listed = app.get("/products?status=active&q=product").json()["products"]
    assert len(listed) == count
    with django_assert_num_queries(2):
        found = whole(app, mug)
    assert [len(found[children]) for children in ("variants", "options", "media")] == [count, count, count + 1]
