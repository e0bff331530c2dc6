"""The admin's start page: figures of a period against a count by hand, what is to do, low stock."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.kit import clock
from storefront.kit.money import ZERO
from storefront.orders.figures import WRONG_DATES, Sold, change_text, chosen_period, sold_in
from storefront.orders.models import Order, OrderMail
from storefront.shops.models import Shop
from tests.catalogue.factories import make_product, make_variant
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW
from tests.staff import make_staff, open_desk

# Some of its orders are cancelled by hand.
pytestmark = pytest.mark.disagrees


def sold(shop, product, at, qty=1, **given) -> Order:
    order = make_order(shop, sale_line(product, qty), now=at)
    Order.objects.filter(pk=order.pk).update(**given)
    return order


@pytest.mark.parametrize("name", ["today", "7", "30", "month", "custom"])
def test_figures_are_those_of_a_count_by_hand(shop, other_shop, name):
    """Around a night in which the shop's clock is changed, at every hour of 70 days."""
    now = datetime(2026, 4, 5, 15, 0, tzinfo=UTC)
    mug, theirs = make_product(shop, price=Decimal("9.99"), stock_qty=5000), make_product(other_shop, stock_qty=5000)
    first = sold(shop, mug, now, qty=3)
    given = {field.attname: getattr(first, field.attname) for field in Order._meta.concrete_fields}
    del given["id"], given["public_id"]
    rows = []
    for count in range(70 * 24 // 5):
        at = now - timedelta(hours=5 * count, minutes=7)
        status, currency = ("cancelled" if count % 7 == 0 else "open"), ("USD" if count % 11 == 0 else "EUR")
        total = Decimal(count) / 100 + Decimal("0.29")
        more = {"number": 5000 + count, "placed_at": at, "status": status, "currency": currency, "total": total}
        rows.append(Order(**given | more))
    Order.objects.bulk_create(rows)
    sold(other_shop, theirs, now)
    query = {"period": name, "from": "2026-03-20", "to": "2026-03-31"}
    period = chosen_period(shop, query, now)
    orders = [row for row in Order.objects.filter(shop=shop) if row.status != "cancelled" and row.currency == "EUR"]
    for chosen in (period, period.before):
        days = [row for row in orders if chosen.first <= shop.local_time(row.placed_at).date() <= chosen.last]
        parts = sold_in(shop, chosen.spans)
        assert sum(part.count for part in parts) == len(days) > 0
        assert sum((part.total for part in parts), ZERO) == sum((row.total for row in days), ZERO)
        assert len(parts) == len(chosen.labels) == (24 if chosen.days == 1 else chosen.days)


def test_a_day_of_a_changed_clock_has_23_hours_and_wrong_dates_are_refused(shop):
    day = chosen_period(shop, {"period": "custom", "from": "2026-03-29", "to": "2026-03-29"}, NOW)
    assert len(day.spans) == 23
    assert day.labels[1:3] == ["01:00", "03:00"]
    for first, last in [("", ""), ("2026-03-02", "2026-03-01"), ("x", "2026-03-01"), ("2020-01-01", "2026-01-01")]:
        refused = chosen_period(shop, {"period": "custom", "from": first, "to": last}, NOW)
        assert (refused.name, refused.problem, refused.days) == ("30", WRONG_DATES, 30)
    assert chosen_period(shop, {"period": "nonsense"}, NOW).problem == ""


def test_a_change_is_a_percentage_of_the_period_before():
    assert [change_text(*each) for each in [(112, 100), (50, 100), (100, 100), (5, 0)]] == ["+12%", "−50%", "±0%", ""]
    assert Sold(0, ZERO, "EUR").average == ZERO
    assert Sold(3, Decimal("10.00"), "EUR").average == Decimal("3.33")
    assert Sold(3, Decimal("10.00"), "JPY").average == 3


def test_the_start_page_shows_figures_tasks_and_low_stock(desk, shop, other_shop):
    now = clock.now()
    mug = make_product(shop, "Mug", price=Decimal("10.00"), stock_qty=50)
    sold(shop, mug, now - timedelta(days=1), qty=2)
    sold(shop, mug, now - timedelta(days=3), status="fulfilled", payment_status="paid")
    sold(shop, mug, now - timedelta(days=2), status="cancelled")
    sold(shop, mug, now - timedelta(days=45))
    sold(other_shop, make_product(other_shop, "Theirs", stock_qty=0 + 1), now)
    order = Order.objects.filter(shop=shop).first()
    given = {"email": "a@example.com", "subject": "Hello", "created_at": now}
    OrderMail.objects.create(shop=shop, order=order, kind="message", failed_at=now, **given)
    make_variant(make_product(shop, "Scarf", stock_qty=0, low_stock_threshold=2), "Blue", stock_qty=2)
    make_product(shop, "Plate", stock_qty=0)
    make_product(shop, "Later", stock_qty=0, is_preorder=True, available_from=now + timedelta(days=9))
    make_product(shop, "Draft", stock_qty=0, status="draft")
    page = desk.get("/admin/")
    context, text = page.context_data, page.content.decode()
    assert context["figures"] == [
        ("Sales", "€30.00", "€10.00", "+200%"),
        ("Orders", "2", "1", "+100%"),
        ("Average order", "€15.00", "€10.00", "+50%"),
    ]
    assert [(row["name"], row["pieces"], row["total"]) for row in context["best_sellers"]] == [("Mug", 3, "€30.00")]
    assert [(each["count"], each["text"]) for each in context["to_do"]] == [
        ("2", "orders to send"),
        ("2", "orders to print"),
        ("2", "unpaid orders"),
        ("1", "order with an email that could not be sent"),
    ]
    assert [row["name"] for row in context["running_out"]] == ["Plate", "Scarf, Blue"]
    assert (context["abandoned"], context["low_stock"]) == ("0", "2")
    assert "Theirs" not in text
    assert str(WRONG_DATES) in desk.get("/admin/?period=custom&from=x").content.decode()


def test_the_start_page_asks_as_much_of_a_shop_with_many_orders(desk, shop):
    now, mug = clock.now(), make_product(shop, "Mug", stock_qty=500)

    def count() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert desk.get("/admin/").status_code == 200
        return len(asked)

    sold(shop, mug, now)
    Shop.objects.filter(pk=shop.pk).update(steps_hidden_at=now)
    count()  # The first page of the session asks more.
    few = count()
    for days in range(12):
        sold(shop, mug, now - timedelta(days=days))
    assert count() == few <= 24


def test_roles_without_figures_see_none(shop):
    page = open_desk(make_staff(shop, "packer", "fulfilment")).get("/admin/")
    assert page.context_data["figures"] == []
    assert "Abandoned" not in page.content.decode()
    assert "No orders yet." in page.content.decode()
