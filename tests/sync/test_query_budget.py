"""How many statements an answer to `after` takes, however many records it has; and that its reads use indexes."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.kit import clock
from storefront.sync.models import Change
from tests.catalogue.factories import make_public
from tests.client import ApiClient
from tests.customers.factories import make_customer
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import make_token
from tests.sync.copying import Copy

pytestmark = pytest.mark.django_db(transaction=True)

# Of the first pass, of changes, and of an answer without any; beyond the token's check.
BUDGET = {
    "products": (2, 4, 3),
    "inventory": (3, 4, 2),
    "orders": (3, 3, 2),
    "customers": (4, 4, 2),
}


@pytest.mark.parametrize("kind", BUDGET)
def test_statements_of_an_answer(shop, other_shop, kind):
    for owner in (shop, other_shop):
        for n in range(5):
            customer = make_customer(owner, f"ada{n}@example.com", password="")
            make_order(owner, sale_line(make_public(owner)), customer_id=customer.pk)
    copy = Copy(ApiClient(make_token(shop, f"read_{kind}")), f"/{kind}")
    with CaptureQueriesContext(connection) as check:
        copy.api.get(f"/{kind}?after=x")

    def statements() -> int:
        with CaptureQueriesContext(connection) as asked:
            copy.step()
        return len(asked) - len(check)

    first = statements()
    copy.follow()
    for owner in (shop, other_shop):
        owner.products.update(sku="S")
        owner.orders.update(note="N")
        owner.customers.update(note="N")
    changed = statements()
    assert len(copy.records) == 5
    copy.follow()
    assert (first, changed, statements()) == BUDGET[kind]


def test_changes_are_read_by_their_index(shop, other_shop):
    """Among many changes of other shops and from before the cursor."""
    product = make_public(shop)
    rows = [
        Change(shop=owner, kind="product", object_id=product.pk, xact=0, at=clock.now())
        for owner in (shop, other_shop)
        for _ in range(1000)
    ]
    Change.objects.bulk_create(rows)
    copy = Copy(ApiClient(make_token(shop, "read_products")), "/products").follow()
    product.save()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE sync_change")
    plans = []

    def explain(execute, statement, params, many, context):
        if "FROM sync_change c WHERE" in statement and not statement.startswith("EXPLAIN"):
            with connection.cursor() as cursor:
                if connection.vendor == "postgresql":
                    # Sorting is cheaper for these few rows. Without it, the index is seen to give the order.
                    cursor.execute("SET enable_sort = off; SET enable_seqscan = off")
                cursor.execute(f"EXPLAIN {'QUERY PLAN ' if connection.vendor == 'sqlite' else ''}{statement}", params)
                plans.append("\n".join(str(row[-1]) for row in cursor.fetchall()))
                if connection.vendor == "postgresql":
                    cursor.execute("RESET enable_sort; RESET enable_seqscan")
        return execute(statement, params, many, context)

    with connection.execute_wrapper(explain):
        copy.step()
    (plan,) = plans
    # In a partition, the index has the name of its columns.
    assert "change_in_order" in plan or "_shop_id_kind_xact_id_idx" in plan
    assert "Sort  (cost" not in plan
    assert "TEMP B-TREE" not in plan
