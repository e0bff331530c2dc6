"""Who gets an order's documents: its shopper, and programs with the right scope. Nobody else."""

from datetime import timedelta
from urllib.parse import urlsplit

import pytest
import time_machine
from django.test import Client

from storefront.documents.models import Document
from storefront.orders.models import Order
from storefront.payments import actions as payments
from tests.checkout.shopper import Shopper
from tests.client import ApiClient
from tests.customers.factories import make_customer
from tests.documents.factories import issued, make_settings, paid_order, refund, texts_of, work
from tests.factories.apps import install
from tests.shops.factories import NOW

LATER = NOW + timedelta(days=2)


@pytest.fixture
def invoice(shop, seller) -> Document:
    order = paid_order(shop)
    work()
    return issued(order)[0]


@pytest.fixture
def shopper(shop) -> Shopper:
    return Shopper(shop)


@pytest.fixture(params=["/api/apps", "/api/v1"])
def app(shop, request) -> ApiClient:
    return ApiClient(install(shop, "read_orders").token, prefix=request.param)


def path(document: Document) -> str:
    return f"/orders/{document.order.public_id}/documents/{document.pk}"


def listed(app: ApiClient, order: Order) -> list[dict]:
    body = app.get(f"/orders/{order.pk}/documents").json()
    return body.get("documents") or body["data"]


def fetch(url: str):
    parts = urlsplit(url)
    return Client(headers={"host": parts.netloc}).get(parts.path, QUERY_STRING=parts.query)


def test_the_orders_page_links_to_its_documents(shopper, invoice):
    with time_machine.travel(NOW):
        assert path(invoice) in shopper.read(f"/orders/{invoice.order.public_id}")
        answer = shopper.get(path(invoice))
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/pdf")
    assert answer["Content-Disposition"] == 'inline; filename="invoice-2026-00001.pdf"'
    assert (answer["Cache-Control"], answer["X-Content-Type-Options"]) == ("no-store", "nosniff")
    assert "2026-00001" in texts_of(answer.content)[0]


def test_after_a_day_it_asks_for_the_email(shopper, invoice):
    with time_machine.travel(LATER):
        answer = shopper.get(path(invoice))
        assert (answer.status_code, b"%PDF" in answer.content) == (403, False)
        shopper.post(f"/orders/{invoice.order.public_id}/e-mail", {"email": "ada@example.com"})
        assert shopper.get(path(invoice)).status_code == 200


def test_the_account_shows_the_customers_own(shop, shopper, seller):
    ada, ben = make_customer(shop), make_customer(shop, "ben@example.com")
    orders = [paid_order(shop, customer_id=each.pk) for each in (ada, ben)]
    work()
    own, other = (issued(order)[0] for order in orders)
    with time_machine.travel(LATER):
        shopper.sign_in()
        assert path(own) in shopper.read(f"/account/orders/{own.order.number}")
        assert shopper.get(path(own)).status_code == 200
        assert shopper.get(path(other)).status_code == 403


def test_documents_of_other_orders_and_shops_are_not_found(shop, other_shop, shopper, invoice):
    make_settings(other_shop)
    second, theirs = paid_order(shop), paid_order(other_shop)
    work()
    with time_machine.travel(NOW):
        for document in (*issued(second), *issued(theirs)):
            wrong = f"/orders/{invoice.order.public_id}/documents/{document.pk}"
            assert shopper.get(wrong).status_code == 404
        assert shopper.get(path(issued(theirs)[0])).status_code == 404
        assert shopper.get(f"/orders/{invoice.order.public_id}/documents/{10**30}").status_code == 404
        assert Shopper(other_shop).get(path(invoice)).status_code == 404


@pytest.mark.slow
def test_programs_list_documents_with_links(app, invoice):
    refund(invoice.order, "2.00")
    work()
    with time_machine.travel(NOW, tick=False):
        first, note, slip = listed(app, invoice.order)
        assert {name: first[name] for name in ("kind", "number", "amount", "currency", "invoice_id", "refund_id")} == {
            "kind": "invoice",
            "number": "2026-00001",
            "amount": "9.50",
            "currency": "EUR",
            "invoice_id": None,
            "refund_id": None,
        }
        made = invoice.order.refunds.get()
        assert (note["kind"], note["amount"], note["invoice_id"]) == ("credit_note", "2.00", invoice.pk)
        assert (note["refund_id"], slip["kind"], slip["id"]) == (made.pk, "packing_slip", None)
        titles = [texts_of(fetch(each["url"]).content)[0] for each in (first, note, slip)]
    assert ["2026-00001" in titles[0], "CN-2026-00001" in titles[1], "Packing slip" in titles[2]] == [True] * 3


def test_links_end_and_cannot_be_altered(app, invoice, other_shop):
    with time_machine.travel(NOW, tick=False):
        url = listed(app, invoice.order)[0]["url"]
        other = paid_order(invoice.shop)
        work()
        for wrong in (
            url.replace(f"documents/{invoice.pk}", f"documents/{issued(other)[0].pk}"),
            url.replace("expires=", "expires=9"),
            url.partition("?")[0],
            url.replace("signature=", "signature=0"),
        ):
            assert fetch(wrong).status_code == 403
    with time_machine.travel(NOW + timedelta(hours=1, seconds=1)):
        assert fetch(url).status_code == 403


def test_programs_without_the_scope_or_of_another_shop_get_nothing(shop, other_shop, app, invoice):
    blind = ApiClient(install(shop, "read_products").token, prefix="/api/apps")
    assert blind.get(f"/orders/{invoice.order_id}/documents").status_code == 403
    theirs = ApiClient(install(other_shop, "read_orders").token, prefix="/api/apps")
    assert theirs.get(f"/orders/{invoice.order_id}/documents").status_code == 404
    assert app.get("/orders/999999/documents").status_code == 404


def test_a_cancelled_order_has_no_packing_slip(app, invoice):
    payments.cancel_order(shop=invoice.shop, order=invoice.order, now=NOW)
    assert [each["kind"] for each in listed(app, invoice.order)] == ["invoice"]
