"""Documents in the admin: on the order's page, in their list, and the settings."""

import pytest
import time_machine
from django.test import Client
from django.urls import reverse

from storefront.documents.models import Document, InvoiceSettings
from storefront.kit import clock
from storefront.orders.fulfilling import cancel_fulfilment, fulfil_order
from storefront.orders.models import Order
from storefront.payments import actions as payments
from tests.catalogue.factories import make_product
from tests.documents.factories import issued, make_settings, paid_order, texts_of, work
from tests.factories.apps import install
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW
from tests.staff import admin_url, make_staff, open_desk

FILLED = {"is_on": "on", "legal_name": "Lighthouse GmbH", "address": "Am Kai 12\n20457 Hamburg"}


@pytest.fixture
def paid(shop, seller) -> Order:
    return paid_order(shop)


def open_settings(desk) -> InvoiceSettings:
    desk.get(admin_url(InvoiceSettings, "changelist"))
    return InvoiceSettings.objects.get()


def act(desk, row, action: str, **given):
    url = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_{action}", args=[row.pk])
    return desk.post(url, {"_form_submitted": "on"} | given) if given else desk.get(url)


def test_the_orders_page_shows_documents_and_what_can_be_done(desk, shop, paid):
    page = desk.page(paid).content.decode()
    assert ("Issue invoice" in page, "Correct invoice" in page, "Packing slip" in page) == (True, False, True)
    work()
    (invoice,) = issued(paid)
    page = desk.page(paid).content.decode()
    assert ("Issue invoice" in page, "Correct invoice" in page) == (False, True)
    assert "Invoice 2026-00001" in page
    assert reverse("admin:documents_document_pdf", args=[invoice.pk]) in page
    payments.cancel_order(shop=shop, order=paid, now=NOW)
    work()
    page = desk.page(paid).content.decode()
    assert ("Correct invoice" in page, "Packing slip" in page) == (False, False)


def test_documents_are_downloaded(desk, other_shop, paid):
    work()
    answer = act(desk, issued(paid)[0], "pdf")
    assert answer["Content-Type"] == "application/pdf"
    assert "2026-00001" in texts_of(answer.content)[0]
    assert "Packing slip" in texts_of(act(desk, paid, "packing_slip").content)[0]
    make_settings(other_shop)
    theirs = paid_order(other_shop)
    work()
    assert act(desk, issued(theirs)[0], "pdf").status_code == 404
    assert act(desk, theirs, "packing_slip").status_code == 404


def test_packing_slips_of_chosen_orders_are_one_file(desk, shop, other_shop, paid):
    second, cancelled, theirs = paid_order(shop), paid_order(shop), paid_order(other_shop)
    payments.cancel_order(shop=shop, order=cancelled, now=NOW)
    report = desk.choose(Order, "packing_slips_of_chosen", paid, second, cancelled, theirs)
    assert f"{cancelled}</a> was cancelled" in report.content.decode()
    printable = report.context_data["printable"]
    pages = texts_of(desk.choose(Order, "packing_slips_of_chosen", *printable).content)
    assert sorted(f"Packing slip {order.number}" in "".join(pages) for order in (paid, second, cancelled)) == [
        False,
        True,
        True,
    ]
    assert len(pages) == 2
    assert "None of the chosen" in desk.choose(Order, "packing_slips_of_chosen", cancelled).content.decode()


def test_invoices_of_chosen_orders_are_one_file(desk, shop, paid):
    work()
    second = paid_order(shop)
    report = desk.choose(Order, "invoices_of_chosen", paid, second).content.decode()
    assert f"{second}</a> has no invoice" in report
    work()
    pages = texts_of(desk.choose(Order, "invoices_of_chosen", paid, second).content)
    assert ["Invoice" in page for page in pages] == [True, True]


def test_chosen_documents_are_one_file(desk, shop, paid):
    paid_order(shop)
    work()
    page = desk.get(admin_url(Document, "changelist")).content.decode()
    assert ("2026-00001" in page, "2026-00002" in page, "Ada Lovelace" in page) == (True, True, True)
    answer = desk.choose(Document, "pdf_of_chosen", *Document.objects.all())
    assert len(texts_of(answer.content)) == 2


def test_more_than_a_hundred_at_once_are_refused(desk, paid, monkeypatch):
    monkeypatch.setattr("storefront.documents.admin_printing.MAX_AT_ONCE", 0)
    assert "Choose at most" in desk.choose(Order, "packing_slips_of_chosen", paid).content.decode()


def test_an_invoice_is_issued_and_corrected_by_hand(desk, paid):
    assert act(desk, paid, "issue_invoice", sure="on").status_code == 302
    assert "This order has an invoice." in desk.get(act(desk, paid, "issue_invoice", sure="on")["Location"]).text
    dialog = act(desk, paid, "correct_invoice").content.decode()
    assert "Hafenstraße 1" in dialog
    act(desk, paid, "correct_invoice", buyer="Engines Ltd\n\nVAT ID GB123456789")
    old, note, new = issued(paid)
    assert (note.invoice, new.record["replaces"]) == (old, old.number)
    assert new.record["buyer"] == ["Engines Ltd", "VAT ID GB123456789"]
    for wrong in ("", "\n".join(["x"] * 9), "x" * 201):
        act(desk, paid, "correct_invoice", buyer=wrong)
    assert len(issued(paid)) == 3


@pytest.mark.parametrize("role", ["fulfilment", "read_only"])
def test_only_owners_and_managers_issue_by_hand(desk, paid):
    for action in ("issue_invoice", "correct_invoice"):
        assert act(desk, paid, action, buyer="X").status_code == 403
    assert issued(paid) == []
    assert act(desk, paid, "packing_slip").status_code == 200


@time_machine.travel(NOW)
def test_settings_are_saved_with_the_first_numbers(shop):
    """Those of the year in which they are saved."""
    desk = open_desk(make_staff(shop))
    row = open_settings(desk)
    assert desk.fill(row, next_invoice="412", next_credit_note="7", **FILLED).status_code == 302
    order = paid_order(shop)
    payments.cancel_order(shop=shop, order=order, now=NOW)
    work()
    assert [document.number for document in issued(order)] == ["2026-00412", "CN-2026-00007"]
    # Unchanged, the form is saved as it is.
    assert desk.fill(row, footer="Thanks.").status_code == 302
    page = desk.fill(row, next_invoice="500").content.decode()
    assert "The next number is 2026-00413, since numbers must follow each other without a gap." in page


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"is_on": "on"}, "Fill in the legal name and the address of the seller first."),
        ({"invoice_prefix": "A1"}, "It must not end with a digit or the year."),
        ({"invoice_prefix": "{year}"}, "It must not end with a digit or the year."),
        ({"credit_note_prefix": "<b>-"}, "Use letters, digits, spaces"),
        ({"next_invoice": "0"}, "greater than or equal to 1"),
        ({"next_invoice": ""}, "This field is required."),
        ({"address": "\n".join("123456789")}, "At most 8 lines."),
        ({"bank": "B" * 201}, "At most 200 characters a line."),
    ],
)
def test_wrong_settings_are_refused(desk, given, message):
    row = open_settings(desk)
    before = InvoiceSettings.objects.values().get()
    assert message in desk.fill(row, **given).content.decode()
    assert InvoiceSettings.objects.values().get() == before


def test_a_refused_form_leaves_the_numbers_as_they_were(desk, shop):
    row = open_settings(desk)
    desk.fill(row, next_invoice="412", is_on="on")
    desk.fill(row, **FILLED)
    order = paid_order(shop)
    work()
    assert issued(order)[0].number == "2026-00001"


def test_a_packing_slip_of_a_fulfilment_lists_what_is_in_it(desk, shop, other_shop):
    mug, pot = make_product(shop, "Mug", stock_qty=9), make_product(shop, "Pot", stock_qty=9)
    ebook = sale_line(make_product(shop, "Ebook", track_inventory=False), is_digital=True, uses=())
    order = make_order(shop, sale_line(mug, 3), sale_line(pot), ebook)
    made = fulfil_order(shop=shop, order=order, pieces=[(order.lines.get(name="Mug").pk, 2)], now=NOW)
    url = reverse("admin:orders_order_packing_slip", args=[order.pk])
    assert f"{url}?fulfilment={made.pk}" in desk.page(order).content.decode()
    (page,) = texts_of(desk.get(f"{url}?fulfilment={made.pk}").content)
    assert "Mug" in page
    assert "Pot" not in page
    (rest,) = texts_of(desk.get(url).content)
    assert ("Mug" in rest, "Pot" in rest, "Ebook" in rest) == (True, True, False)
    theirs = make_order(other_shop, sale_line(make_product(other_shop)))
    foreign = fulfil_order(shop=other_shop, order=theirs, now=NOW)
    cancel_fulfilment(shop=shop, order=order, fulfilment_id=made.pk, now=NOW)
    for id in (foreign.pk, made.pk, "x"):
        assert desk.get(f"{url}?fulfilment={id}").status_code == 404


def test_the_api_links_to_the_slip_of_each_fulfilment(shop):
    order = make_order(shop, sale_line(make_product(shop, "Mug", stock_qty=9), 3), sale_line(make_product(shop, "Pot")))
    made = fulfil_order(shop=shop, order=order, pieces=[(order.lines.first().pk, 2)], now=clock.now())
    api = install(shop, "read_orders").api
    left, parcel = api.get(f"/orders/{order.pk}/documents").json()["documents"]
    assert (left["fulfilment_id"], parcel["fulfilment_id"], parcel["kind"]) == (None, made.pk, "packing_slip")
    (page,) = texts_of(Client().get(parcel["url"].removeprefix(shop.base_url)).content)
    assert ("Mug" in page, "Pot" in page) == (True, False)
    altered = parcel["url"].replace(f"/{made.pk}?", f"/{made.pk + 1}?").removeprefix(shop.base_url)
    assert Client().get(altered).status_code == 403
