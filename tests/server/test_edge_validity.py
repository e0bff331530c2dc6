"""Cached entries are valid until the next change of the shop, and never longer than 5 seconds."""

from datetime import timedelta
from decimal import Decimal
from threading import Event, Thread

import pytest
from django.contrib.auth import get_user_model
from django.db import connections, transaction
from django.urls import reverse

from storefront.catalogue import actions, stock
from storefront.catalogue.models import Category, Product
from storefront.kit import clock
from storefront.server.edge import edge as edge_module
from storefront.shops import changes
from storefront.shops.models import ApiToken, Shop
from storefront.staff import actions as shop_actions
from tests.catalogue.factories import make_category, make_product
from tests.server.edges import EdgeClient
from tests.shops.factories import make_token
from tests.staff import open_desk

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", categories=(make_category(shop, "Cups"),))


@pytest.fixture
def token(shop, mug):
    return make_token(shop, "read_products")


@pytest.fixture
def asked(token):
    return EdgeClient()


def row(token: str) -> ApiToken:
    return ApiToken.objects.get(ending=token[-4:])


def rename(shop, mug, name="Cup"):
    actions.update_product(shop=shop, product=mug, now=clock.now(), name=name)


WRITES = {
    "create": lambda shop, mug: actions.create_product(shop=shop, now=clock.now(), name="Jug", status="active"),
    "update": rename,
    "delete": lambda shop, mug: actions.delete_product(shop=shop, product=mug, now=clock.now()),
    "set status": lambda shop, mug: actions.set_status(
        shop=shop, products=Product.objects.all(), status="draft", now=clock.now()
    ),
    "sell": lambda shop, mug: stock.take_stock(shop=shop, uses=[stock.StockUse("product", mug.pk, 1)], now=clock.now()),
    "put back": lambda shop, mug: stock.put_back_stock(
        shop=shop, uses=[stock.StockUse("product", mug.pk, 1)], now=clock.now()
    ),
    "new category": lambda shop, mug: actions.create_category(shop=shop, now=clock.now(), name="Jugs"),
    "change category": lambda shop, mug: actions.update_category(
        shop=shop, category=Category.objects.get(), now=clock.now(), name="Jugs"
    ),
    "delete category": lambda shop, mug: actions.delete_category(
        shop=shop, category=Category.objects.get(), now=clock.now()
    ),
}


def content(answer) -> bytes:
    return answer.data.replace(answer.headers["X-Request-Id"].encode(), b"")


@pytest.mark.rule("R-CAT-39")
@pytest.mark.parametrize("write", WRITES)
def test_a_committed_write_is_seen_immediately_in_its_own_process(shop, mug, token, asked, write):
    paths = ["/products", "/categories", "/products/mug"]
    before = [content(asked.ask(path, token)) for path in paths]
    WRITES[write](shop, mug)
    after = [asked.ask(path, token) for path in paths]
    expected = [EdgeClient(capacity=0).ask(path, token) for path in paths]
    assert [content(answer) for answer in after] == [content(answer) for answer in expected]
    assert [content(answer) for answer in after] != before


def test_a_restored_product_is_seen_immediately(shop, mug, token, asked):
    actions.delete_product(shop=shop, product=mug, now=clock.now())
    before = changes.version(shop.pk)
    actions.restore_product(shop=shop, product=mug, now=clock.now())
    assert changes.version(shop.pk) > before


def test_a_rolled_back_write_keeps_the_cache(shop, mug, token, asked):
    asked.ask("/products", token)
    with transaction.atomic():
        rename(shop, mug)
        transaction.set_rollback(True)
    assert asked.is_hit("/products", token)


def test_another_shops_write_keeps_the_cache(shop, other_shop, token, asked):
    asked.ask("/products", token)
    before = changes.version(shop.pk)
    actions.create_product(shop=other_shop, now=clock.now(), name="Jug", status="active")
    assert changes.version(other_shop.pk) > before
    assert changes.version(shop.pk) == before


def test_a_response_read_before_a_write_and_finished_after_it_is_not_cached(shop, mug, token):
    """The writer commits after Django has read its response, and before the edge gets it."""
    asked, read, written = EdgeClient(), Event(), Event()
    application = asked.edge.application

    def slow(environ, start_response):
        response = application(environ, start_response)
        read.set()
        assert written.wait(10)
        return response

    def reader():
        try:
            stale.append(asked.ask("/products", token))
        finally:
            connections.close_all()

    stale: list = []
    asked.edge.application = slow
    thread = Thread(target=reader)
    thread.start()
    assert read.wait(10)
    asked.edge.application = application
    rename(shop, mug)
    written.set()
    thread.join()
    assert b"Mug" in stale[0].data
    assert b"Cup" in asked.ask("/products", token).data


@pytest.mark.rule("R-CAT-39")
def test_a_revoked_token_is_refused_immediately(shop, token, asked):
    asked.ask("/products", token)
    shop_actions.revoke_api_token(shop=shop, token=row(token), now=clock.now())
    assert asked.ask("/products", token).status_code == 401


def test_an_expired_token_is_refused_immediately(shop, token, asked, monkeypatch):
    asked.ask("/products", token)
    ends = clock.now() + timedelta(seconds=60)
    ApiToken.objects.update(expires_at=ends)
    changes.record_change(shop.pk)
    asked.ask("/products", token)
    assert asked.is_hit("/products", token)
    monkeypatch.setattr(edge_module.time, "time", lambda: ends.timestamp())
    assert not asked.is_hit("/products", token)


@pytest.mark.rule("R-CAT-39")
def test_entries_expire_after_5_seconds(shop, mug, token, asked, monkeypatch):
    asked.ask("/products", token)
    # Nobody is told: a write whose notification got lost.
    Product.objects.update(name="Cup")
    ApiToken.objects.update(scopes=["write_cart"])
    monotonic = edge_module.time.monotonic
    monkeypatch.setattr(edge_module.time, "monotonic", lambda: monotonic() + 4.5)
    assert b"Mug" in asked.ask("/products", token).data
    monkeypatch.setattr(edge_module.time, "monotonic", lambda: monotonic() + 5)
    assert asked.ask("/products", token).status_code == 403


@pytest.fixture
def owner(shop):
    """A browser signed in to the admin, as the operator, in `shop`."""
    return open_desk(get_user_model().objects.create_superuser("op", "op@example.com", "secret"))


def test_a_save_in_the_admin_is_seen_immediately(shop, token, asked, owner):
    asked.ask("/products", token)
    owner.post(reverse("admin:deployment_deployedshop_close_shop", args=[shop.pk]), {"_form_submitted": "on"})
    assert not Shop.objects.get(pk=shop.pk).is_active
    assert asked.ask("/products", token).status_code == 401


def test_a_limit_set_in_the_admin_applies_immediately(shop, token, asked, owner):
    asked.ask("/products", token)
    page = f"/admin/shops/apitoken/{row(token).pk}/change/"
    assert owner.post(page, {"name": "test", "requests_per_minute": "1"}).status_code == 302
    assert [asked.ask("/products", token).status_code for _ in range(2)] == [200, 429]


def test_a_brand_deleted_in_the_admin_is_seen_immediately(shop, mug, token, asked, owner):
    brand = shop.brands.create(name="Clay & Co")
    actions.update_product(shop=shop, product=mug, now=clock.now(), brand=brand, price=Decimal("1.00"))
    assert f'"brand_id":{brand.pk}'.encode() in asked.ask("/products", token).data
    data = {"action": "delete_selected", "_selected_action": [brand.pk], "post": "yes"}
    assert owner.post("/admin/catalogue/brand/", data).status_code == 302
    assert b'"brand_id":null' in asked.ask("/products", token).data
