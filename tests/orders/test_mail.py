"""The mails about an order: due when what they tell of stands, tried again, and never in its way."""

from decimal import Decimal

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django_tasks_db.models import DBTaskResult

from storefront.catalogue.stock import InsufficientStock
from storefront.orders import jobs
from storefront.orders.fulfilling import NotLeft, Tracking, fulfil_order
from storefront.orders.models import Order
from storefront.shops.mail import WAITS
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW


def run_due_tasks() -> None:
    from django_tasks_db.management.commands.db_worker import Worker

    Worker(
        queue_names=["*"],
        interval=0,
        batch=True,
        backend_name="default",
        startup_delay=False,
        max_tasks=None,
        worker_id="tests",
        excluded_queue_names=[],
    ).run()


@pytest.fixture
def order(shop):
    shop.manual_payment_instructions = "Transfer to DE00 1234."
    shop.email = "hello@shop.example.com"
    shop.save()
    return make_order(shop, sale_line(make_product(shop, "Tom & Jerry's mug", price=Decimal("9.50")), 2))


@pytest.mark.django_db(transaction=True)
def test_the_worker_mails_what_was_ordered(shop, order):
    assert mail.outbox == []
    run_due_tasks()
    (message,) = mail.outbox
    assert message.to == ["ada@example.com"]
    assert message.subject == f"Your order {order.number} at Lighthouse"
    assert "hello@shop.example.com" in message.from_email
    for text in ("2 x Tom & Jerry's mug: €19.00", "Total: €19.00", "DE00 1234", "10115 Berlin", "Germany"):
        assert text in message.body
    assert f"{shop.base_url}/orders/{order.public_id}" in message.body


def test_the_mail_says_what_is_paid_and_what_is_free(order):
    order.shipping_method, order.payment_status = "Parcel", "paid"
    body = jobs.confirmation_mail(order).body
    assert "Parcel: free" in body
    assert "Total: €19.00, paid" in body


def test_a_refused_order_mails_nothing(shop):
    with pytest.raises(InsufficientStock):
        make_order(shop, sale_line(make_product(shop, stock_qty=0)))
    assert not DBTaskResult.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_the_worker_mails_what_is_on_its_way(shop, order):
    run_due_tasks()
    tracking = Tracking("DHL", "JD0146", "https://dhl.example.com/?q=JD0146&a=b")
    fulfil_order(shop=shop, order=order, pieces=[(order.lines.get().pk, 1)], tracking=tracking, now=NOW)
    run_due_tasks()
    message = mail.outbox[-1]
    assert (len(mail.outbox), message.to) == (2, ["ada@example.com"])
    assert message.subject == f"Your order {order.number} at Lighthouse is on its way"
    for text in ("1 x Tom & Jerry's mug", "Carrier: DHL", "number: JD0146", tracking.tracking_url, "10115 Berlin"):
        assert text in message.body
    assert f"{shop.base_url}/orders/{order.public_id}" in message.body


def test_what_is_not_sent_is_ready_and_cannot_be_followed(shop):
    order = make_order(shop, sale_line(make_product(shop, "Song", type="digital")), shipping_address=None)
    message = jobs.fulfilment_mail(fulfil_order(shop=shop, order=order, now=NOW))
    assert message.subject == f"Your order {order.number} at Lighthouse is ready"
    for text in ("Carrier", "Tracking", "Follow", "Delivery to", "on its way"):
        assert text not in message.body


def test_a_parcel_that_was_refused_mails_nothing(shop, order):
    before = DBTaskResult.objects.count()
    with pytest.raises(NotLeft):
        fulfil_order(shop=shop, order=order, pieces=[(order.lines.get().pk, 3)], now=NOW)
    assert DBTaskResult.objects.count() == before


def test_a_mail_server_that_is_away_is_asked_again_later_and_then_given_up(order, monkeypatch):
    def refuse(self, messages):
        raise ConnectionRefusedError

    DBTaskResult.objects.all().delete()
    monkeypatch.setattr(EmailBackend, "send_messages", refuse)
    for tries in range(len(WAITS)):
        jobs.send_order_confirmation.func(order.pk, tries)
        assert DBTaskResult.objects.count() == tries + 1
    jobs.send_order_confirmation.func(order.pk, len(WAITS))
    assert DBTaskResult.objects.count() == len(WAITS)
    assert Order.objects.filter(pk=order.pk).exists()


def test_a_shop_name_with_a_line_break_cannot_add_a_header(shop):
    shop.name = "Evil\r\nBcc: all@example.com"
    shop.save()
    order = make_order(shop, sale_line(make_product(shop)))
    message = jobs.confirmation_mail(order).message()
    assert message["Bcc"] is None
