"""What shows an erased customer shows the erased form: pages of admin and shop, files, API, mails, papers."""

import csv
from datetime import timedelta
from decimal import Decimal
from io import StringIO

import pytest
from django.contrib.auth.hashers import make_password
from django.core import mail
from django.db import transaction
from django.urls import reverse

from storefront.customers.models import Customer
from storefront.documents.issuing import NotInvoiceable, issue_invoice
from storefront.documents.mails import send_document_mail
from storefront.documents.models import Document, InvoiceSettings
from storefront.gift_cards.jobs import send_gift_card
from storefront.gift_cards.models import GiftCard
from storefront.kit import clock
from storefront.orders import jobs, sent_mails
from storefront.orders.models import Fulfilment, Order, OrderMail
from storefront.orders.sent_mails import NobodyToWriteTo, write_to_customer
from storefront.payments.models import Payment
from storefront.payments.providers.base import RefundReport, Report, Standing
from storefront.payments.refunds import request_refund
from storefront.payments.settling import apply_report, lock_payment
from storefront.privacy import actions
from tests.checkout.shopper import Shopper
from tests.customers.factories import PASSWORD
from tests.factories.apps import install
from tests.privacy.lives import EMAIL, TRACES, live
from tests.staff import make_staff, open_desk
from tests.worker import run_due_tasks

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def erased(shop) -> list[Order]:
    """Her orders, after she was erased."""
    live(shop)
    actions.erase_now(shop=shop, email=EMAIL, now=clock.now())
    return list(Order.objects.order_by("pk"))


@pytest.fixture
def desk(shop):
    return open_desk(make_staff(shop))


def without_traces(answer) -> str:
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    text = content.decode()
    assert answer.status_code == 200, text
    assert not [trace for trace in TRACES if trace.lower() in text.lower()]
    return text


def test_the_admins_pages(desk, shop, erased):
    for order in erased:
        page = without_traces(desk.page(order))
        assert "Customer erased" in page
        assert "Write to the customer" not in page
        assert "Cancel a fulfilment" not in page
        for deed in ("print_page", "packing_slip"):
            answer = desk.get(reverse(f"admin:orders_order_{deed}", args=[order.pk]))
            assert answer.status_code == 200
        assert without_traces(desk.page(order, "history"))
    for name in ("orders_order", "customers_customer", "payments_payment", "gift_cards_giftcard", "carts_cart"):
        without_traces(desk.get(reverse(f"admin:{name}_changelist")))
    for name in ("webhooks_event", "shops_auditentry", "privacy_datarequest"):
        without_traces(desk.get(reverse(f"admin:{name}_changelist")))
    for row in (*Payment.objects.all(), *GiftCard.objects.all()):
        without_traces(desk.page(row))
    assert "Erased" in without_traces(desk.get(reverse("admin:orders_order_changelist")))
    without_traces(desk.get("/admin/"))
    found = desk.get(reverse("admin:orders_order_changelist"), {"q": "lovelace"}).context_data["cl"]
    assert list(found.queryset) == []


def test_the_csv_of_orders(desk, erased):
    text = without_traces(desk.get(reverse("admin:orders_order_export_csv")))
    rows = list(csv.DictReader(StringIO(text.removeprefix("\ufeff"))))
    assert {row["number"] for row in rows} == {str(order.number) for order in erased}
    assert {(row["email"], row["billing_name"], row["billing_country"]) for row in rows} == {("", "", "DE")}


def test_the_api(shop, api, erased):
    ids = sorted(order.pk for order in erased)
    app = install(shop, "read_orders", "read_customers").api
    for caller, key in ((api, "data"), (app, "orders")):
        listed = caller.get("/orders").json()[key]
        assert sorted(order["id"] for order in listed) == ids
    order = app.get(f"/orders/{ids[1]}").json()["order"]
    assert (order["email"], order["phone"], order["customer_id"], order["note"]) == ("", "", None, "")
    assert (order["billing_address"]["name"], order["billing_address"]["postal_code"]) == ("", "24103")
    assert (order["lines"][2]["gift_card"]["recipient_email"], order["lines"][0]["custom_fields"]) == (None, [])
    for path in ("/orders", "/customers", "/events", f"/orders/{ids[0]}", f"/orders?email={EMAIL}"):
        without_traces(app.get(path))
    assert app.get("/customers").json()["customers"] == []


def test_the_shoppers_own_pages(shop):
    live(shop)
    Customer.objects.update(password=make_password(PASSWORD))
    ada = Shopper(shop)
    ada.sign_in()
    order = Order.objects.get(customer__isnull=False)
    assert "Lovelace" in ada.read(f"/orders/{order.public_id}")
    actions.erase_now(shop=shop, email=EMAIL, now=clock.now())
    assert ada.get("/account").status_code in (302, 303)
    assert "Lovelace" not in ada.read(f"/orders/{order.public_id}")
    Order.objects.update(placed_at=clock.now() - timedelta(days=2))
    assert ada.get(f"/orders/{order.public_id}").status_code == 403
    for email in ("", EMAIL):
        answer = ada.post(f"/orders/{order.public_id}/e-mail", {"email": email})
        assert answer.status_code != 303
    assert ada.post("/account/sign-in", {"email": EMAIL, "password": PASSWORD}).status_code != 303


def test_no_mail_is_sent_any_more(shop, erased):
    mail.outbox.clear()
    for order in erased:
        jobs.send_order_confirmation.func(shop.pk, order.pk)
        jobs.send_downloads_mail.func(shop.pk, order.pk)
        jobs.send_change_mail.func(shop.pk, order.pk, "paid")
        with pytest.raises(NobodyToWriteTo):
            write_to_customer(shop=shop, order=order, subject="Hello", body="You", now=clock.now())
    jobs.send_fulfilment_mail.func(shop.pk, Fulfilment.objects.first().pk)
    send_document_mail.func(shop.pk, Document.objects.first().pk)
    card = GiftCard.objects.get(email="")
    send_gift_card.func(shop.pk, card.pk)
    # Whoever has the card's code can still pay with it.
    assert GiftCard.objects.get(pk=card.pk).digest == card.digest
    sent_mails.send_message.func(shop.pk, 999_999)
    assert mail.outbox == []
    assert not OrderMail.objects.exists()


def test_papers_stay_and_no_new_invoice_is_made_out_to_nobody(desk, shop, erased):
    document = Document.objects.first()
    answer = desk.get(reverse("admin:documents_document_pdf", args=[document.pk]))
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/pdf")
    Document.objects.all().delete()
    InvoiceSettings.objects.update(is_on=True)
    with pytest.raises(NotInvoiceable):
        issue_invoice(shop=shop, order=erased[0], now=clock.now())


def test_what_the_provider_says_later_does_not_bring_back_what_was_paid_with(shop, erased):
    payment = Payment.objects.get(order=erased[0])
    refunds = (RefundReport(Decimal(2), "re_1"),)
    told = Report(Standing.PAID, captured=payment.captured, refunds=refunds, method="Visa •••• 7713")
    with transaction.atomic():
        locked = lock_payment(shop, payment)
        apply_report(shop=shop, payment=locked, report=told, source="look", is_fresh=True, now=clock.now())
    payment.refresh_from_db()
    assert (payment.returned, payment.method) == (Decimal(2), "")


def test_can_still_be_refunded_and_looked_up(shop, erased):
    request_refund(shop=shop, order=erased[0], now=clock.now())
    run_due_tasks()
    assert actions.erase_now(shop=shop, email=EMAIL, now=clock.now()).erased["orders"] == 0
