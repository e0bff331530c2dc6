"""Lists of orders and the orders of a guest use an index on both databases."""

from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.orders.history import attach_guest_orders
from storefront.orders.models import Order
from storefront.orders.queries import OrderFilter, order_page
from tests.catalogue.factories import make_product
from tests.customers.factories import make_customer
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW

# Its orders have no lines.
pytestmark = pytest.mark.disagrees

BY_MOMENT, BY_STATUS, BY_EMAIL, BY_REFERENCE, BY_LINK = (index.name for index in Order._meta.indexes[:5])


def plan_of(statement: str, *, may_sort: bool = False) -> str:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(f"EXPLAIN QUERY PLAN {statement}")
        else:
            # For few rows a scan is faster than an index; the test is whether an index can be used.
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
            cursor.execute(f"SET LOCAL enable_sort = {'on' if may_sort else 'off'}")
            cursor.execute(f"EXPLAIN {statement}")
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


@pytest.fixture
def orders(shop) -> None:
    """Enough orders, few of them open, that PostgreSQL prefers one index to the other."""
    order = make_order(shop, sale_line(make_product(shop)))
    given = {field.attname: getattr(order, field.attname) for field in Order._meta.concrete_fields}
    rows = (given | {"id": None, "public_id": uuid4(), "number": 10_000 + place} for place in range(1000))
    Order.objects.bulk_create(Order(**row | {"status": "cancelled"}) for row in rows)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE orders_order")


@pytest.mark.parametrize(
    ("status", "placed_since", "index"),
    [(None, None, BY_MOMENT), (None, NOW, BY_MOMENT), ("open", None, BY_STATUS), ("open", NOW, BY_STATUS)],
)
def test_order_list_uses_the_index_of_its_filter(shop, orders, status, placed_since, index):
    with CaptureQueriesContext(connection) as asked:
        order_page(shop, wanted=OrderFilter(status=status, placed_since=placed_since), start=1000, count=24)
    (page,) = [query["sql"] for query in asked if "LIMIT 24" in query["sql"]]
    plan = plan_of(page)
    assert index in plan
    assert "TEMP B-TREE" not in plan
    assert "Sort" not in plan


@pytest.mark.slow
@pytest.mark.rule("R-LINK-24")
@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        (OrderFilter(email="Grace@example.com"), BY_EMAIL),
        (OrderFilter(client_reference="s-1"), BY_REFERENCE),
        (OrderFilter(cart=uuid4()), BY_LINK),
    ],
)
def test_a_few_orders_are_found_by_the_index_of_what_names_them(shop, orders, wanted, index):
    with CaptureQueriesContext(connection) as asked:
        order_page(shop, wanted=wanted, start=0, count=24)
    (page,) = [query["sql"] for query in asked if "LIMIT 24" in query["sql"]]
    assert index in plan_of(page, may_sort=True)


def test_guest_orders_are_found_by_the_email_index(shop):
    customer = make_customer(shop)
    with CaptureQueriesContext(connection) as asked:
        attach_guest_orders(shop=shop, customer=customer, now=NOW)
    (written,) = [query["sql"] for query in asked if query["sql"].startswith('UPDATE "orders_order"')]
    assert BY_EMAIL in plan_of(written)
