"""Rows of the stock ledger that a sale wrote lead to the order, once it is placed."""

from decimal import Decimal

import pytest
from django.urls import reverse

from storefront.catalogue.models import StockAdjustment
from storefront.payments.models import OrderDraft
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW
from tests.staff import admin_url
from tests.verifying import everything_agrees as everything_agrees

# Its rows are made by hand.
pytestmark = pytest.mark.disagrees


def sold(shop, mug, order=None) -> StockAdjustment:
    """A row of a sale, whose draft became the order."""
    draft = OrderDraft.objects.create(
        shop=shop,
        digest="d",
        email="a@b.example",
        sale={},
        basket={},
        total=Decimal("1.00"),
        currency="EUR",
        state="placed" if order else "ended",
        order=order,
        created_at=NOW,
        expires_at=NOW,
    )
    return StockAdjustment.objects.create(
        shop=shop, product=mug, kind="sold", delta=-1, stock_after=5, reference=f"draft {draft.pk}", made_at=NOW
    )


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", stock_qty=9)


def test_a_sale_names_its_order(desk, shop, mug):
    order = make_order(shop, sale_line(make_product(shop)))
    row = sold(shop, mug, order)
    link = f'<a href="{reverse("admin:orders_order_change", args=[order.pk])}">order {order.number}</a>'
    for url in (admin_url(StockAdjustment, "changelist"), admin_url(row, "change"), admin_url(mug, "change")):
        assert link in desk.get(url).content.decode()


def test_a_draft_without_an_order_stays_a_draft(desk, shop, mug):
    row = sold(shop, mug)
    assert row.reference in desk.get(admin_url(StockAdjustment, "changelist")).content.decode()


def test_a_draft_of_another_shop_is_not_followed(desk, shop, other_shop, mug):
    order = make_order(other_shop, sale_line(make_product(other_shop)))
    theirs = sold(other_shop, make_product(other_shop, "Cup"), order)
    StockAdjustment.objects.create(
        shop=shop, product=mug, kind="sold", delta=-1, stock_after=5, reference=theirs.reference, made_at=NOW
    )
    page = desk.get(admin_url(StockAdjustment, "changelist")).content.decode()
    assert theirs.reference in page
    assert f"order {order.number}" not in page


@pytest.mark.parametrize("reference", ["draft prices.csv", "draft ", f"draft {'9' * 40}", "draft 5 <b>"])
def test_other_references_stay_as_they_are(desk, shop, mug, reference):
    StockAdjustment.objects.create(
        shop=shop, product=mug, kind="imported", delta=1, stock_after=5, reference=reference, made_at=NOW
    )
    page = desk.get(admin_url(StockAdjustment, "changelist")).content.decode()
    assert reference.strip().replace("<", "&lt;").replace(">", "&gt;") in page


def test_the_orders_number_finds_its_rows(desk, shop, mug):
    order = make_order(shop, sale_line(make_product(shop)))
    found, other = sold(shop, mug, order), sold(shop, mug)
    page = desk.get(admin_url(StockAdjustment, "changelist"), {"q": str(order.number)}).content.decode()
    assert f"order {order.number}</a>" in page
    assert other.reference not in page
    assert found.reference not in page


def test_a_return_names_order_and_reason(desk, shop, mug):
    StockAdjustment.objects.create(
        shop=shop,
        product=mug,
        kind="returned",
        delta=1,
        stock_after=5,
        reference="order 1001",
        reason="Wrong colour",
        made_at=NOW,
    )
    page = desk.get(admin_url(StockAdjustment, "changelist")).content.decode()
    assert ": order 1001, Wrong colour" in page
