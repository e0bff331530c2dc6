from decimal import Decimal

import pytest

from storefront.orders.models import Order
from storefront.payments import actions as payments
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.factories.apps import install
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW
from tests.verifying import everything_agrees as everything_agrees


@pytest.fixture(params=["/api/apps", "/api/v1"])
def form(request) -> str:
    """Runs the test for the App API and for the public API."""
    return request.param


@pytest.fixture
def app(shop, form) -> ApiClient:
    """An installed app that may read and write orders, and nothing else."""
    return ApiClient(install(shop, "read_orders", "write_orders").token, prefix=form)


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", price=Decimal("9.50"), sku="M1", stock_qty=10)


@pytest.fixture
def order(shop, mug) -> Order:
    """Three mugs and a pot, 48.50 in all, not paid."""
    pot = make_product(shop, "Pot", price=Decimal("20.00"), stock_qty=10)
    return make_order(shop, sale_line(mug, 3), sale_line(pot))


@pytest.fixture
def paid(shop, order) -> Order:
    return payments.mark_paid(shop=shop, order=order, now=NOW)


def one(answer) -> dict:
    """The single record of a response of either API."""
    (record,) = answer.json().values()
    return record


def many(answer) -> list[dict]:
    body = answer.json()
    return body["orders"] if "orders" in body else body["data"]
