"""Customers in the admin: with what they bought, their addresses, and a mail to choose a password."""

import re
from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.core import mail

from storefront.customers.models import Address, Customer
from tests.carts.factories import make_group
from tests.catalogue.factories import make_product
from tests.customers.factories import ADDRESS, add_address, events, make_customer
from tests.orders.factories import make_order, sale_line
from tests.staff import Desk, admin_url, make_staff, open_desk
from tests.worker import run_due_tasks


@pytest.fixture
def desk(shop) -> Desk:
    return open_desk(make_staff(shop, role="staff"))


@pytest.fixture
def ada(shop) -> Customer:
    return make_customer(shop, name="Ada Lovelace")


def press_reset(desk: Desk, customer: Customer):
    url = admin_url(customer, "change").replace("change/", "send_password_reset/")
    return desk.post(url, {"_form_submitted": "on"}, follow=True)


def test_the_page_shows_what_was_bought_with_links(shop, desk, ada):
    order = make_order(shop, sale_line(make_product(shop, price=Decimal("19.00"))), customer_id=ada.pk)
    page = desk.page(ada).content.decode()
    assert "€19.00" in page
    assert admin_url(order, "change") in page
    assert "1 in all, €0.00 paid" in page
    assert "Signs in with a password" in page


def test_saving_tells_of_the_change_with_the_addresses(shop, desk, ada):
    group = make_group(shop)
    home, work = add_address(ada), add_address(ada, city="Plön")
    told = len(events(shop))
    answer = desk.fill(ada, group=group.pk, name="A. L.", addresses__1__is_default="on", addresses__0__is_default="")
    assert answer.status_code == 302, answer.content
    ((topic, data),) = events(shop)[told:]
    assert (topic, data["name"], data["group"]["id"]) == ("customer.updated", "A. L.", group.pk)
    assert [(row["id"], row["is_default"]) for row in data["addresses"]] == [(work.pk, True), (home.pk, False)]


def test_two_usual_addresses_are_refused(desk, ada):
    add_address(ada), add_address(ada)
    answer = desk.fill(ada, addresses__0__is_default="on", addresses__1__is_default="on")
    assert answer.status_code == 200
    assert "Only one address can be the usual one." in answer.content.decode()


def test_saving_without_a_change_tells_nothing(shop, desk, ada):
    add_address(ada)
    told = len(events(shop))
    desk.fill(ada)
    assert len(events(shop)) == told
    assert Address.objects.get().is_default


def test_a_new_customer_is_told_of(shop, desk):
    fields = {"email": "New@Example.com", "name": "New"}
    answer = desk.fill(Customer, **fields)
    assert answer.status_code == 302, answer.content
    ((topic, data),) = events(shop)
    assert (topic, data["email"]) == ("customer.created", "new@example.com")


def test_an_address_needs_a_country_that_there_is(desk, ada):
    add_address(ada)
    answer = desk.fill(ada, addresses__0__country="XX")
    assert "Expected the code of a country" in answer.content.decode()
    assert Address.objects.get().country == ADDRESS["country"]


@pytest.mark.django_db(transaction=True)
def test_a_button_mails_a_link_to_choose_a_password(shop, desk, ada):
    assert press_reset(desk, ada).status_code == 200
    assert LogEntry.objects.filter(change_message="The mail is on its way.").exists()
    run_due_tasks()
    (message,) = mail.outbox
    assert message.to == ["ada@example.com"]
    assert re.search(rf"{shop.base_url}/account/link\?\S+signature=", message.body)


def test_another_shops_customer_gets_no_mail(other_shop, desk):
    secret = make_customer(other_shop, "secret@example.com")
    assert press_reset(desk, secret).status_code == 404
