"""Placed orders: copies, numbers, stock, event and mail."""

from decimal import Decimal

import pytest
from django.core import mail
from django.db import transaction
from django_tasks_db.models import DBTaskResult

from storefront.catalogue.stock import InsufficientStock
from storefront.orders import actions
from storefront.orders.models import Order, OrderCounter
from storefront.payments.models import Payment
from storefront.webhooks.models import Event
from tests.addresses import ADDRESS
from tests.catalogue.factories import make_product, make_variant
from tests.orders.factories import Promise, make_order, sale, sale_line
from tests.shops.factories import NOW
from tests.worker import run_due_tasks


def test_an_order_keeps_copies_that_do_not_change_with_the_catalogue(shop):
    mug = make_product(shop, "Mug", price=Decimal("9.50"), sku="M1")
    order = make_order(shop, sale_line(mug, 2))
    mug.name, mug.price, mug.sku = "Cup", Decimal("99.00"), "C1"
    mug.save()
    line = order.lines.get()
    assert (line.name, line.sku, line.unit_price, line.line_total) == ("Mug", "M1", Decimal("9.50"), Decimal("19.00"))
    assert (order.total, order.currency, order.shipping_address) == (Decimal("19.00"), "EUR", ADDRESS)


def test_numbers_increase_by_one_in_each_shop(shop, other_shop):
    here = [make_order(shop, sale_line(make_product(shop))).number for _ in range(3)]
    there = make_order(other_shop, sale_line(make_product(other_shop))).number
    assert here == [1001, 1002, 1003]
    assert there == 1001


def test_a_refusal_leaves_no_gap_in_the_numbers_and_sells_nothing(shop):
    mug, pot = make_product(shop, "Mug", stock_qty=5), make_product(shop, "Pot", stock_qty=1)
    make_order(shop, sale_line(mug))
    with pytest.raises(InsufficientStock, match="Only 1 left of Pot"):
        make_order(shop, sale_line(mug, 2), sale_line(pot, 2))
    assert make_order(shop, sale_line(mug)).number == 1002
    mug.refresh_from_db()
    assert mug.stock_qty == 3
    assert OrderCounter.objects.get(shop=shop).last_number == 1002


def test_each_line_records_the_stock_it_took(shop):
    blue = make_variant(make_product(shop, "Shirt"), "Blue")
    uncounted = make_product(shop, "Sticker", track_inventory=False)
    order = make_order(shop, sale_line(blue, 2), sale_line(uncounted, 3))
    shirt, sticker = order.lines.all()
    assert shirt.stock_taken == [{"stock": "variant", "id": blue.pk, "qty": 2}]
    assert sticker.stock_taken == []


def test_event_has_the_whole_order_with_money_as_strings(shop):
    mug = make_product(shop, "Mug", price=Decimal("9.50"), sku="M1")
    order = make_order(shop, sale_line(mug, 2), promise=Promise("manual", Decimal("19.00")))
    event = Event.objects.get(shop=shop, topic="order.placed")
    assert event.topic == "order.placed"
    record = event.data
    assert (record["id"], record["number"], record["currency"]) == (order.pk, 1001, "EUR")
    assert {name: record[name] for name in ("subtotal", "discount", "shipping", "tax", "total")} == {
        "subtotal": "19.00",
        "discount": "0.00",
        "shipping": "0.00",
        "tax": "0.00",
        "total": "19.00",
    }
    assert record["shipping_address"] == record["billing_address"] == ADDRESS
    assert record["placed_at"] == "2026-11-21T07:30:00.000000Z"
    assert [(line["sku"], line["qty"], line["unit_price"]) for line in record["lines"]] == [("M1", 2, "9.50")]
    assert "public_id" not in record


def test_refused_order_records_no_event_and_sends_no_mail(shop):
    with pytest.raises(InsufficientStock):
        make_order(shop, sale_line(make_product(shop, stock_qty=0)))
    assert not Event.objects.exists()
    assert not Order.objects.exists()
    assert not DBTaskResult.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_free_order_has_its_event_and_mail(shop, other_shop):
    leaflet = make_product(shop, "Leaflet", price=Decimal("0.00"))
    with transaction.atomic():
        what = sale(sale_line(leaflet))
        order = actions.create_order(shop=shop, sale=what, taken=[], payment_method="", now=NOW)
        actions.announce_order(shop=shop, order=order, sale=what, now=NOW)
    assert (order.payment_status, Payment.objects.count()) == ("paid", 0)
    (event,) = Event.objects.filter(topic__startswith="order.")
    assert (event.shop, event.topic, event.data["id"]) == (shop, "order.placed", order.pk)
    assert event.data["payment_status"] == "paid"
    run_due_tasks()
    (message,) = mail.outbox
    assert (message.to, message.subject) == (["ada@example.com"], f"Your order {order.number} at Lighthouse")
