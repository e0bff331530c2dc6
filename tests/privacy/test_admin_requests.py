"""The pages under *Settings > Data*, and the way there from a customer's page."""

from datetime import timedelta

import pytest
from django.urls import reverse

from storefront.kit import clock
from storefront.orders.models import Order
from storefront.privacy import actions
from storefront.privacy.jobs import KEPT_FILE
from storefront.privacy.models import DataRequest
from storefront.shops.models import StaffSession
from tests.audit.entries import entries
from tests.catalogue.factories import make_product
from tests.customers.factories import make_customer
from tests.orders.factories import make_order, sale_line
from tests.privacy.lives import EMAIL, live
from tests.staff import make_staff, open_desk
from tests.worker import run_due_tasks

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def asked(shop, email: str = EMAIL) -> DataRequest:
    return actions.open_request(shop=shop, email=email, now=clock.now())


def url(row: DataRequest, deed: str) -> str:
    return reverse(f"admin:privacy_datarequest_{deed}", args=[row.pk])


def erase(desk, row: DataRequest, email: str = EMAIL):
    return desk.post(url(row, "erase"), {"_form_submitted": "on", "email": email})


def told(desk, row: DataRequest) -> str:
    """What the page of the request says, with its messages."""
    return desk.page(row).content.decode()


def test_looking_up_an_address_shows_what_there_is_and_what_becomes_of_it(desk, shop, other_shop):
    live(shop)
    live(other_shop)
    answer = desk.fill(DataRequest, email=" Ada@Example.com ", follow=True)
    page = answer.content.decode()
    row = DataRequest.objects.get()
    assert (row.email, row.user.username, row.shop) == (EMAIL, "anna", shop)
    assert '<th scope="row">Orders</th><td>2</td>' in page
    assert '<th scope="row">Invoices and credit notes</th><td>3</td><td>Kept unchanged' in page
    assert "Nothing is left to do: this person can be erased." in page
    assert "Lovelace" not in page


def test_looking_up_an_address_again_opens_the_same_request(desk, shop, other_shop):
    theirs, row = asked(other_shop), asked(shop)
    answer = desk.fill(DataRequest, email=EMAIL)
    assert answer["Location"] == url(row, "change")
    assert set(DataRequest.objects.all()) == {theirs, row}
    assert desk.page(theirs).status_code == 404


def test_what_is_no_address_is_refused(desk):
    page = desk.fill(DataRequest, email="ada")
    assert "Enter a valid email address." in page.content.decode()
    assert not DataRequest.objects.exists()


def test_names_what_keeps_the_person_and_erases_nothing(desk, shop):
    order = make_order(shop, sale_line(make_product(shop, "Mug")))
    row = asked(shop)
    link = reverse("admin:orders_order_change", args=[order.pk])
    assert f'<a href="{link}">Order #{order.number} is not paid.</a>' in told(desk, row)
    erase(desk, row)
    assert "Nothing was erased. Order #1001 is not paid." in told(desk, row)
    assert DataRequest.objects.get().state == "open"


def test_erasing_asks_for_the_address_and_shows_what_was_done(desk, shop):
    live(shop)
    row = asked(shop)
    assert "This is not the address of this request." in erase(desk, row, "bob@example.com").content.decode()
    assert erase(desk, row).status_code == 302
    assert "This page updates automatically" in told(desk, row)
    ask = {"headers": {"hx-request": "true"}}
    assert "HX-Refresh" not in desk.get(url(row, "change"), **ask)
    run_due_tasks()
    assert desk.get(url(row, "change"), **ask)["HX-Refresh"] == "true"
    page = told(desk, row)
    assert "<li>Orders: 2</li>" in page
    assert EMAIL not in page
    assert "Erase this person" not in page
    assert Order.objects.filter(erased_at=None).count() == 0


def test_an_export_is_made_and_downloaded(desk, shop):
    live(shop)
    row = asked(shop)
    assert desk.get(url(row, "download")).status_code == 404
    desk.post(url(row, "make_export"), {"_form_submitted": "on"})
    run_due_tasks()
    assert "Download the file" in told(desk, row)
    answer = desk.get(url(row, "download"))
    assert b"".join(answer.streaming_content)[:2] == b"PK"
    assert answer["Content-Type"] == "application/zip"
    assert "no-store" in answer["Cache-Control"]
    assert desk.get(url(row, "download"), headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert [entry.action for entry in entries(shop) if entry.object_type == "data_request"] == [
        *("data_request.created", "data_request.exported", "data_request.downloaded"),
    ]
    # Also before the sweep has deleted it.
    DataRequest.objects.update(exported_at=clock.now() - KEPT_FILE)
    assert desk.get(url(row, "download")).status_code == 404


def test_each_deed_asks_to_confirm_who_one_is(desk, shop):
    row = asked(shop)
    StaffSession.objects.update(confirmed_at=clock.now() - timedelta(hours=1))
    for deed in ("erase", "make_export", "download"):
        for answer in (desk.get(url(row, deed)), desk.post(url(row, deed))):
            assert answer["Location"].startswith("/admin/confirm/?next=")
    assert DataRequest.objects.get().state == "open"


def test_a_customers_page_leads_there(desk, shop):
    customer = make_customer(shop)
    answer = desk.post(reverse("admin:customers_customer_personal_data", args=[customer.pk]), {"_form_submitted": "on"})
    row = DataRequest.objects.get()
    assert (answer.status_code, answer["Location"], row.email) == (302, url(row, "change"), EMAIL)


@pytest.mark.parametrize("role", ["fulfilment", "read_only"])
def test_is_for_owners_and_managers(shop, role):
    row, desk = asked(shop), open_desk(make_staff(shop, role=role))
    for deed in ("change", "erase", "make_export", "download"):
        assert desk.get(url(row, deed)).status_code == 403
    assert desk.get(reverse("admin:privacy_datarequest_changelist")).status_code == 403


def test_another_shops_request_is_a_404(desk, other_shop):
    row = asked(other_shop)
    assert desk.get(url(row, "change")).status_code == 404
    for deed in ("erase", "make_export", "download"):
        assert desk.post(url(row, deed), {"_form_submitted": "on", "email": EMAIL}).status_code == 404
    assert DataRequest.objects.get().state == "open"
