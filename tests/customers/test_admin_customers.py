"""Customers in the admin: their orders, their addresses, and the password reset."""

import re
from decimal import Decimal

import pytest
from django.core import mail

from storefront.customers.models import Address, Customer
from storefront.shops.models import AuditEntry
from tests.addresses import ADDRESS
from tests.carts.factories import make_group
from tests.catalogue.factories import make_product
from tests.customers.factories import add_address, events, make_customer
from tests.orders.factories import make_order, sale_line
from tests.staff import Desk, admin_url
from tests.worker import run_due_tasks


@pytest.fixture
def role() -> str:
    return "manager"


@pytest.fixture
def ada(shop) -> Customer:
    return make_customer(shop, name="Ada Lovelace")


def press_reset(desk: Desk, customer: Customer):
    url = admin_url(customer, "change").replace("change/", "send_password_reset/")
    return desk.post(url, {"_form_submitted": "on"}, follow=True)


def test_customer_page_links_the_orders(shop, desk, ada):
    order = make_order(shop, sale_line(make_product(shop, price=Decimal("19.00"))), customer_id=ada.pk)
    page = desk.page(ada).content.decode()
    assert "€19.00" in page
    assert admin_url(order, "change") in page
    assert "1 order, €0.00 paid" in page
    assert "Password set" in page


@pytest.mark.slow
def test_saving_records_an_event_with_the_addresses(shop, desk, ada):
    group = make_group(shop)
    home, work = add_address(ada), add_address(ada, city="Plön")
    events_before = len(events(shop))
    answer = desk.fill(ada, group=group.pk, name="A. L.", addresses__1__is_default="on", addresses__0__is_default="")
    assert answer.status_code == 302, answer.content
    ((topic, data),) = events(shop)[events_before:]
    assert (topic, data["name"], data["group"]["id"]) == ("customer.updated", "A. L.", group.pk)
    assert [(row["id"], row["is_default"]) for row in data["addresses"]] == [(work.pk, True), (home.pk, False)]


def test_refuses_two_default_addresses(desk, ada):
    add_address(ada), add_address(ada)
    answer = desk.fill(ada, addresses__0__is_default="on", addresses__1__is_default="on")
    assert answer.status_code == 200
    assert "Only one address can be the default address." in answer.content.decode()


def test_saving_without_changes_records_no_event(shop, desk, ada):
    add_address(ada)
    events_before = len(events(shop))
    desk.fill(ada)
    assert len(events(shop)) == events_before
    assert Address.objects.get().is_default


def test_a_new_customer_records_an_event(shop, desk):
    fields = {"email": "New@Example.com", "name": "New"}
    answer = desk.fill(Customer, **fields)
    assert answer.status_code == 302, answer.content
    ((topic, data),) = events(shop)
    assert (topic, data["email"]) == ("customer.created", "new@example.com")


def test_refuses_an_unknown_country(desk, ada):
    add_address(ada)
    answer = desk.fill(ada, addresses__0__country="XX")
    assert "Enter a country code" in answer.content.decode()
    assert Address.objects.get().country == ADDRESS["country"]


@pytest.mark.django_db(transaction=True)
def test_a_button_emails_a_password_link(shop, desk, ada):
    assert press_reset(desk, ada).status_code == 200
    assert AuditEntry.objects.filter(action="customer.password_mail_sent", object_id=ada.pk).count() == 1
    run_due_tasks()
    (message,) = mail.outbox
    assert message.to == ["ada@example.com"]
    assert re.search(rf"{shop.base_url}/account/link\?\S+signature=", message.body)


def test_sends_no_email_to_another_shops_customer(other_shop, desk):
    secret = make_customer(other_shop, "secret@example.com")
    assert press_reset(desk, secret).status_code == 404
