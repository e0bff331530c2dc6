"""The admin's page of an order and its list: timeline, mail to the customer, print, export."""

import csv
import io
from datetime import timedelta
from decimal import Decimal

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.kit import clock
from storefront.orders import jobs, sent_mails, words
from storefront.orders.fulfilling import cancel_fulfilment, fulfil_order
from storefront.orders.models import Order, OrderMail
from storefront.orders.sent_mails import TooManyMails, write_to_customer
from storefront.payments.actions import mark_paid
from storefront.payments.refunds import request_refund
from storefront.shops import mail
from storefront.shops.models import AuditEntry
from storefront.staff.admin_base import NO_SUCH_FILTER
from tests.catalogue.factories import make_product
from tests.customers.factories import add_address, make_customer
from tests.orders.factories import make_order, sale_line
from tests.races import run_concurrently
from tests.shops.factories import NOW
from tests.staff import admin_url, make_staff, open_desk


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", sku="M-1", price=Decimal("9.50"), stock_qty=500)


@pytest.fixture
def order(shop, mug) -> Order:
    return make_order(shop, sale_line(mug, 3))


def deed(order: Order, name: str) -> str:
    return admin_url(order, "change").replace("change/", f"{name}/")


def told(desk, order: Order) -> list[tuple[str, str]]:
    context = desk.page(order).context_data
    return [(each["text"], each["who"]) for each in context["happened"] + context["happened_before"]][::-1]


def test_the_timeline_tells_what_happened_and_who_did_it(desk, shop, order):
    desk.post(deed(order, "mark_paid"), {"_form_submitted": "on"})
    order.refresh_from_db()
    row = fulfil_order(shop=shop, order=order, pieces=[(order.lines.get().pk, 1)], now=NOW + timedelta(minutes=1))
    cancel_fulfilment(shop=shop, order=order, fulfilment_id=row.pk, now=NOW + timedelta(minutes=2))
    request_refund(shop=shop, order=order, amount=Decimal("5.00"), reason="Late", now=NOW + timedelta(minutes=3))
    desk.fill(order, note="Call first")
    anna = "anna@example.com"
    assert sorted(told(desk, order)) == sorted(
        [
            ("Order placed", ""),
            ("Order marked as paid", anna),
            ("Payment received: €28.50", ""),
            ("Items fulfilled", "System"),
            ("Fulfilment cancelled", "System"),
            ("Refund of €5.00 started", "System"),
            ("Order note or tags changed", anna),
        ]
    )


def test_the_page_asks_as_much_of_an_order_with_more_in_it(desk, shop, mug):
    small, large = make_order(shop, sale_line(mug)), make_order(shop, *(sale_line(mug) for _ in range(6)))
    for line in list(large.lines.all())[1:]:
        fulfil_order(shop=shop, order=large, pieces=[(line.pk, 1)], now=NOW)
    fulfil_order(shop=shop, order=make_order(shop, sale_line(mug)), now=NOW)
    desk.page(small)

    def count(order: Order) -> int:
        with CaptureQueriesContext(connection) as asked:
            assert desk.page(order).status_code == 200
        return len(asked)

    # The lines of fulfilments, and their names.
    assert count(large) <= count(small) + 2 <= 33


def test_a_mail_to_the_customer_is_sent_and_told(desk, shop, order, mailoutbox):
    text = "It leaves tomorrow.\n\nAnna"
    given = {"_form_submitted": "on", "subject": "About your order\nBcc: x@example.com", "text": text}
    assert desk.post(deed(order, "write"), given | {"text": ""}).status_code == 200
    assert not OrderMail.objects.exists()
    desk.post(deed(order, "write"), given)
    jobs.send_order_confirmation.call(order.shop_id, order.pk)
    sent_mails.send_message.call(order.shop_id, OrderMail.objects.get(kind="message").pk)
    (sent,) = [each for each in mailoutbox if "About" in each.subject]
    assert (sent.to, sent.subject) == (["ada@example.com"], "About your order Bcc: x@example.com")
    assert text in sent.body
    assert str(order.public_id) in sent.body
    assert sent.alternatives
    assert ("Email written to ada@example.com", "anna@example.com") in told(desk, order)
    assert ("This email was sent", "") in told(desk, order)
    # The order's own mails are told as well.
    assert ("Order confirmation sent to ada@example.com", "") in told(desk, order)


def test_mails_are_limited_and_a_failing_one_is_given_up_after_the_last_try(desk, shop, order, monkeypatch, settings):
    monkeypatch.setattr(sent_mails, "MAX_PER_HOUR", 2)
    given = {"shop": shop, "order": order, "subject": "Hello", "body": "Hello"}
    first, _ = (write_to_customer(**given, now=NOW) for _ in range(2))
    with pytest.raises(TooManyMails):
        write_to_customer(**given, now=NOW + timedelta(minutes=59))
    write_to_customer(**given, now=NOW + timedelta(minutes=61))
    settings.EMAIL_BACKEND, settings.EMAIL_HOST = "django.core.mail.backends.smtp.EmailBackend", "127.0.0.1"
    settings.EMAIL_PORT = 9
    for tries in range(len(mail.WAITS) + 1):
        first.refresh_from_db()
        assert first.failed_at is None
        sent_mails.send_message.call(first.shop_id, first.pk, tries)
    first.refresh_from_db()
    assert (first.sent_at, first.failed_at is not None) == (None, True)
    assert ("This email could not be sent", "") in told(desk, order)
    found = desk.get(admin_url(Order, "changelist"), {"view": "mail_failed"}).context_data["cl"].result_list
    assert [row.pk for row in found] == [order.pk]
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    page = desk.post(deed(order, "write"), {"_form_submitted": "on", "subject": "x", "text": "y"}, follow=True)
    assert "Email is not set up here" in page.content.decode()


@pytest.mark.slow
def test_views_of_the_list(desk, shop, mug):
    now = clock.now()
    later = sale_line(mug, available_from=now + timedelta(days=3))
    orders = {
        "to_send": make_order(shop, sale_line(mug)),
        "waiting": make_order(shop, later),
        "sent": make_order(shop, sale_line(mug)),
        "cancelled": make_order(shop, sale_line(mug)),
    }
    for name in ("waiting", "sent"):
        mark_paid(shop=shop, order=orders[name], now=now)
    fulfil_order(shop=shop, order=orders["sent"], now=now)
    desk.post(deed(orders["cancelled"], "cancel"), {"_form_submitted": "on"})
    orders["unpaid"] = orders["to_send"]
    for view, order in orders.items():
        found = desk.get(admin_url(Order, "changelist"), {"view": view}).context_data["cl"].result_list
        assert [row.pk for row in found] == [order.pk], view


def test_what_cannot_be_printed_is_named_before_the_rest_is(desk, shop, mug):
    one, gone = make_order(shop, sale_line(mug)), make_order(shop, sale_line(mug))
    Order.objects.filter(pk=gone.pk).update(status="cancelled")
    answer = desk.choose(Order, "packing_slips_of_chosen", one, gone)
    text = answer.content.decode()
    assert f"#{gone.number}</a> was cancelled" in text
    assert "Print the other 1" in text
    assert f'name="_selected_action" value="{one.pk}"' in text
    assert desk.choose(Order, "packing_slips_of_chosen", one)["Content-Type"] == "application/pdf"
    assert "has no invoice" in desk.choose(Order, "invoices_of_chosen", one).content.decode()
    page = desk.get(deed(one, "print")).content.decode()
    assert f"order #{one.number}" in page
    assert "M-1" in page


def test_orders_and_customers_are_exported_as_they_are_filtered(desk, shop, other_shop, mug):
    with time_machine.travel(NOW, tick=False):
        evil = make_order(shop, sale_line(mug, 2), sale_line(mug), shopper_note="=1+1", email="a@example.com")
    make_order(shop, sale_line(mug), email="b@example.com")
    make_order(other_shop, sale_line(make_product(other_shop)))
    answer = desk.get("/admin/orders/order/export.csv/", {"q": "a@example.com"})
    assert answer.streaming
    rows = list(csv.DictReader(io.StringIO(answer.getvalue().decode("utf-8-sig"))))
    assert [(row["number"], row["line_sku"], row["line_qty"]) for row in rows] == [
        (str(evil.number), "M-1", "2"),
        (str(evil.number), "M-1", "1"),
    ]
    assert rows[0]["shopper_note"] == "'=1+1"
    assert (rows[0]["total"], rows[0]["billing_city"]) == ("28.50", "Kiel")
    assert len(list(csv.reader(io.StringIO(desk.get("/admin/orders/order/export.csv/").getvalue().decode())))) == 4
    ada = make_customer(shop, name="@Ada")
    add_address(ada, is_default=True)
    make_customer(other_shop, "theirs@example.com")
    text = desk.get("/admin/customers/customer/export.csv/").getvalue().decode("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["email"], row["name"], row["address_city"], row["orders"]) == (ada.email, "'@Ada", "Kiel", "0")
    entries = AuditEntry.objects.filter(shop=shop, action__endswith=".exported").order_by("id")
    assert [(entry.action, entry.after) for entry in entries] == [
        ("orders.exported", {"query": "q=a%40example.com"}),
        ("orders.exported", {"query": ""}),
        ("customers.exported", {"query": ""}),
    ]
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    assert desk.get("/admin/orders/order/export.csv/", headers=elsewhere).status_code == 403
    assert open_desk(make_staff(shop, "bo", "fulfilment")).get("/admin/orders/order/export.csv/").status_code == 403


@pytest.mark.slow
def test_an_export_is_never_less_than_the_list(desk, shop, mug, monkeypatch):
    for number in range(3):
        make_order(shop, sale_line(mug), email=f"a{number}@example.com")
    orders, customers = "/admin/orders/order/export.csv/", "/admin/customers/customer/export.csv/"
    for page in ("0", "999999999", "2"):
        assert len(desk.get(orders, {"p": page}).getvalue().decode().splitlines()) == 4
        assert desk.get(customers, {"p": page}).status_code == 200
    for url in (orders, customers):
        for query in ("foo=1", "shop__domain=x", "_to_field=shop"):
            answer = desk.get(f"{url}?{query}", follow=True)
            assert str(NO_SUCH_FILTER) in answer.content.decode(), (url, query)
    monkeypatch.setattr(words, "MAX_ORDERS_PER_WORD", 2)
    answer = desk.get(orders, {"q": "M-1"}, follow=True)
    assert "Too many orders match to export all of them." in answer.content.decode()
    assert desk.get(orders, {"q": "a1@"}).streaming
    assert desk.get(orders).streaming


def test_the_list_of_failed_mails_is_what_the_start_page_counts(desk, shop, other_shop, order, mug):
    now, long_ago = clock.now(), clock.now() - timedelta(days=15)
    theirs = make_order(other_shop, sale_line(make_product(other_shop)))
    older = make_order(shop, sale_line(mug))
    for one, at in ((order, now), (order, now), (older, long_ago), (theirs, now)):
        given = {"kind": "message", "email": "a@example.com", "subject": "Hello", "created_at": at, "failed_at": at}
        OrderMail.objects.create(shop=one.shop, order=one, **given)
    told = next(each for each in desk.get("/admin/").context_data["to_do"] if "mail_failed" in each["url"])
    assert told["count"] == "1"
    assert list(desk.get(told["url"]).context_data["cl"].result_list) == [order]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_mails_written_at_once_are_all_counted(shop, order, monkeypatch):
    monkeypatch.setattr(sent_mails, "MAX_PER_HOUR", 2)
    given = {"shop": shop, "order": order, "subject": "Hello", "body": "Hello", "now": NOW}
    results = run_concurrently(*[lambda: write_to_customer(**given)] * 5, refusal=TooManyMails)
    assert sum(isinstance(each, OrderMail) for each in results) == OrderMail.objects.count() == 2
