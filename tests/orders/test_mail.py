"""Mails about an order: sent only after the commit, retried, and never a reason for the order to fail."""

from decimal import Decimal

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django_tasks_db.models import DBTaskResult

from storefront.orders import jobs
from storefront.orders.fulfilling import NotLeftToFulfil, Tracking, fulfil_order
from storefront.orders.models import Order
from storefront.shops.mail import WAITS
from tests.catalogue.factories import make_product
from tests.customers.factories import make_customer
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW
from tests.worker import run_due_tasks


@pytest.fixture
def order(shop):
    shop.manual_payment_instructions = "Transfer to DE00 1234."
    shop.email = "hello@shop.example.com"
    shop.save()
    return make_order(shop, sale_line(make_product(shop, "Tom & Jerry's mug", price=Decimal("9.50")), 2))


@pytest.mark.django_db(transaction=True)
def test_worker_sends_the_order_confirmation(shop, order):
    assert mail.outbox == []
    run_due_tasks()
    message, to_the_shop = sorted(mail.outbox, key=lambda each: each.to)
    assert (message.to, to_the_shop.to) == (["ada@example.com"], ["hello@shop.example.com"])
    assert to_the_shop.subject == f"New order {order.number}: €19.00"
    assert message.subject == f"Your order {order.number} at Lighthouse"
    # Not proved yet: tests/staff/test_senders.py.
    assert (message.reply_to, "hello@shop.example.com" in message.from_email) == (["hello@shop.example.com"], False)
    for text in ("2 x Tom & Jerry's mug: €19.00", "Total: €19.00", "DE00 1234", "24103 Kiel", "Germany"):
        assert text in message.body
    assert f"{shop.base_url}/orders/{order.public_id}" in message.body


def test_mail_says_whether_the_order_is_paid_or_free(order):
    order.shipping_method, order.payment_status = "Parcel", "paid"
    body = jobs.confirmation_mail(order).body
    assert "Parcel: Free" in body
    assert "Total: €19.00, paid" in body


@pytest.mark.django_db(transaction=True)
def test_worker_sends_the_fulfilment_mail(shop, order):
    run_due_tasks()
    tracking = Tracking("DHL", "JD0146", "https://dhl.example.com/?q=JD0146&a=b")
    fulfil_order(shop=shop, order=order, pieces=[(order.lines.get().pk, 1)], tracking=tracking, now=NOW)
    run_due_tasks()
    message = mail.outbox[-1]
    # The confirmation, and the shop's own mail about the order.
    assert (len(mail.outbox), message.to) == (3, ["ada@example.com"])
    assert message.subject == f"Your order {order.number} at Lighthouse is on its way"
    for text in ("1 x Tom & Jerry's mug", "Carrier: DHL", "number: JD0146", tracking.tracking_url, "24103 Kiel"):
        assert text in message.body
    assert f"{shop.base_url}/orders/{order.public_id}" in message.body


def test_fulfilment_mail_without_delivery_says_ready_and_has_no_tracking(shop):
    order = make_order(shop, sale_line(make_product(shop, "Song", type="digital")), shipping_address=None)
    message = jobs.fulfilment_mail(fulfil_order(shop=shop, order=order, now=NOW))
    assert message.subject == f"Your order {order.number} at Lighthouse is ready"
    for text in ("Carrier", "Tracking", "Track your parcel", "Ship to", "on their way"):
        assert text not in message.body


def test_refused_fulfilment_sends_no_mail(shop, order):
    before = DBTaskResult.objects.count()
    with pytest.raises(NotLeftToFulfil):
        fulfil_order(shop=shop, order=order, pieces=[(order.lines.get().pk, 3)], now=NOW)
    assert DBTaskResult.objects.count() == before


def test_failed_mail_is_retried_and_then_given_up(order, monkeypatch):
    def refuse(self, messages):
        raise ConnectionRefusedError

    DBTaskResult.objects.all().delete()
    monkeypatch.setattr(EmailBackend, "send_messages", refuse)
    for tries in range(len(WAITS)):
        jobs.send_order_confirmation.func(order.shop_id, order.pk, tries)
        assert DBTaskResult.objects.count() == tries + 1
    jobs.send_order_confirmation.func(order.shop_id, order.pk, len(WAITS))
    assert DBTaskResult.objects.count() == len(WAITS)
    assert Order.objects.filter(pk=order.pk).exists()


def test_a_shop_name_with_a_line_break_cannot_add_a_header(shop):
    shop.name = "Evil\r\nBcc: all@example.com"
    shop.save()
    order = make_order(shop, sale_line(make_product(shop)))
    message = jobs.confirmation_mail(order).message()
    assert message["Bcc"] is None


SPAM = "Win at evil.example now"
TYPED = {"name": "Dear friend", "company": SPAM, "line1": SPAM, "line2": SPAM, "region": SPAM, "country": "DE"}


def spam(shop, **given):
    """An order whose texts are messages to the mail's recipient."""
    line = sale_line(
        make_product(shop),
        options=[
            {"id": 1, "name": "Text", "value": SPAM, "price": "0.00", "value_id": None},
            {"id": 2, "name": "Colour", "value": "Gold", "price": "0.00", "value_id": 7},
        ],
        custom_fields=[{"name": SPAM, "value": SPAM}],
    )
    address = TYPED | {"postal_code": "24103", "city": "Kiel"}
    parties = {"shipping_address": address, "billing_address": address, "shopper_note": SPAM}
    return make_order(shop, line, **parties | given)


def bodies(shop, order) -> list[str]:
    fulfilment = fulfil_order(shop=shop, order=order, now=NOW)
    return [jobs.confirmation_mail(order).body, jobs.fulfilment_mail(fulfilment).body]


@pytest.mark.parametrize("has_account", [False, True])
def test_mail_to_an_unproven_address_has_no_text_of_the_shopper(shop, has_account):
    """Nor if it is that of an account: a stranger can have placed the order without signing in."""
    if has_account:
        make_customer(shop)
    order = spam(shop)
    assert (order.customer is not None) is has_account
    confirmation, fulfilment = bodies(shop, order)
    for body in (confirmation, fulfilment):
        assert "evil" not in body
        assert "Dear friend" not in body
        assert "24103 Kiel\nGermany" in body
        assert f"/orders/{order.public_id}" in body
    assert "Colour: Gold" in confirmation


@pytest.mark.parametrize(
    "city", [SPAM, "evil.example", "Call 0900 123", "x" * 41, "You have won a nice car", "Berlin!", "http://evil"]
)
def test_town_that_could_be_a_message_is_left_out(shop, city):
    address = TYPED | {"postal_code": "Win 5000000", "city": city}
    for body in bodies(shop, spam(shop, shipping_address=address, billing_address=address)):
        assert city not in body
        assert "Win" not in body
        assert "Germany" in body


@pytest.mark.parametrize("city", ["Berlin", "Bad Homburg v. d. Höhe", "L'Haÿ-les-Roses", "東京", "Frankfurt (Oder)"])
def test_plain_town_is_kept(shop, city):
    address = TYPED | {"postal_code": "SW1A 1AA", "city": city}
    for body in bodies(shop, spam(shop, shipping_address=address, billing_address=address)):
        assert f"SW1A 1AA {city}" in body


def test_mail_to_the_customers_own_address_has_everything(shop):
    ada = make_customer(shop)
    for body in bodies(shop, spam(shop, customer_id=ada.pk, email="Ada@example.com")):
        assert "Dear friend" in body
        assert SPAM in body
    for body in bodies(shop, spam(shop, customer_id=ada.pk, email="stranger@example.com")):
        assert "evil" not in body
