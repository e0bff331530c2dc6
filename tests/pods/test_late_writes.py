"""A request that began before its shop moved to another pod and goes on after it: the announced 503, never a 500."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from storefront.kit import clock
from storefront.pods.deployment import Pod
from storefront.pods.models import ShopMove
from storefront.server.moving import gate, shelf
from storefront.server.moving.sides import Side, connect
from storefront.server.moving.stop import without_triggers
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.client import ApiClient
from tests.factories.apps import install
from tests.kit.test_time_partitions import url
from tests.orders.factories import make_order, sale_line

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="pods are PostgreSQL databases"),
    pytest.mark.django_db(transaction=True),
]


@contextmanager
def moved_before(shop, word: str) -> Iterator[None]:
    """The shop is moved away right before the first statement of a request that has this word."""
    side, seen = Side(Pod(0, (), url()), connect(Pod(0, (), url()))), []
    given = {"domain": shop.domain, "source": 0, "target": 5, "step": ShopMove.Step.COPYING, "step_at": clock.now()}
    ShopMove.objects.create(shop_id=shop.pk, **given)
    gate.close(side, shop.pk)

    def switch(execute: Callable[..., Any], sql: str, *more: Any) -> Any:
        if word in sql and not seen:
            seen.append(sql)
            side.run("UPDATE pods_shopmove SET step = 'moved'")
            with without_triggers(side):
                shelf.put_shop_aside(side, shop.pk)
            shelf.put_rows_aside(side, shop.pk)
        return execute(sql, *more)

    try:
        with connection.execute_wrapper(switch):
            yield
        assert seen
    finally:
        gate.open(side, shop.pk)
        side.run(f"DROP SCHEMA IF EXISTS {shelf.schema(shop.pk)} CASCADE")
        side.connection.close()


def test_a_page_that_no_longer_finds_what_it_read(shop, other_shop, api):
    shopper = Shopper(shop, shows_errors=False)
    shopper.bring(api, {"product_id": make_product(shop, stock_qty=9).pk})
    shopper.fill_details()
    fields = shopper.payment_fields()
    with moved_before(shop, "pricing_taxrate"):
        answer = shopper.post("/checkout/payment", fields)
    assert (answer.status_code, answer["Retry-After"]) == (503, "2")


def test_a_call_that_no_longer_finds_what_it_read(shop, other_shop):
    order = make_order(shop, sale_line(make_product(shop, stock_qty=9)))
    app = ApiClient(install(shop, "read_orders", "write_orders").token, prefix="/api/apps")
    with moved_before(shop, "INSERT INTO"):
        answer = app.patch(f"/orders/{order.pk}", {"client_reference": "A-1"})
    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
