"""Registering requires a link that is emailed to the address."""

from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.hashers import check_password
from django_tasks_db.models import DBTaskResult

from storefront.customers.models import Customer
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.server import environment
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.customers.factories import PASSWORD, events, make_customer
from tests.orders.factories import make_order, sale_line
from tests.website.accounts import Member, link_in

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_emailed_link_leads_to_a_password_and_signs_in(shop, member):
    answer = member.request_link("register", "Ada@Example.com")
    assert (answer.status_code, answer["Location"]) == (303, "/account/mailed")
    assert not Customer.objects.exists()
    (text,) = member.mails()
    assert text.startswith("Hello,\n\nFollow this link within one hour to choose a password")
    answer = member.choose_password(link_in(text))
    assert (answer.status_code, answer["Location"]) == (303, "/account")
    assert "Hello, Ada Lovelace" in member.read("/account")
    customer = Customer.objects.get()
    assert (customer.shop, customer.email, customer.name) == (shop, "ada@example.com", "Ada Lovelace")
    assert check_password(PASSWORD, customer.password)


def test_registering_records_one_event(shop, member):
    member.register()
    ((topic, data),) = events(shop)
    assert (topic, data["email"], data["name"]) == ("customer.created", "ada@example.com", "Ada Lovelace")
    assert "password" not in str(data)


def test_only_the_email_reveals_that_an_account_exists(shop, member, ada):
    known, unknown = member.request_link("register"), member.request_link("register", "new@example.com")
    assert (known.status_code, known["Location"], known.content) == (303, unknown["Location"], unknown.content)
    (text,) = member.mails()
    assert "You already have one." in text
    assert member.mailbox.texts("new@example.com")[0].startswith("Hello,\n\nFollow this link")


def test_a_customer_without_a_password_keeps_the_record_when_registering(shop, member):
    known = make_customer(shop, password="", name="Ada L.", note="From the market")
    member.request_link("register")
    member.choose_password(link_in(member.mails()[0]))
    customer = Customer.objects.get()
    assert (customer.pk, customer.name, customer.note) == (known.pk, "Ada L.", "From the market")
    assert member.is_signed_in


def test_registering_attaches_guest_orders_of_the_confirmed_address_only(shop, other_shop, member):
    def order(at, email):
        return make_order(at, sale_line(make_product(at)), email=email)

    mine = order(shop, "ADA@example.com")
    foreign, elsewhere = order(shop, "b@example.com"), order(other_shop, "ada@example.com")
    member.register()
    assert Order.objects.get(pk=mine.pk).customer == Customer.objects.get()
    assert Order.objects.filter(pk__in=[foreign.pk, elsewhere.pk], customer=None).count() == 2
    assert f"Order {mine.number}" in member.read("/account")


@pytest.mark.parametrize("password", ["short", "password123", "ada@example.com", ""])
def test_refuses_a_weak_password(member, password):
    member.request_link("register")
    answer = member.choose_password(link_in(member.mails()[0]), password)
    assert answer.status_code == 422
    assert 'class="field__error"' in answer.content.decode()
    assert not Customer.objects.exists()


def test_a_link_works_once(member):
    member.request_link("register")
    link = link_in(member.mails()[0])
    member.choose_password(link)
    again = Member(member.shop, member.mailbox).choose_password(link, "another phrase 8")
    assert again.status_code == 403
    assert "This link no longer works" in again.content.decode()
    assert check_password(PASSWORD, Customer.objects.get().password)


def test_a_link_that_was_followed_in_two_browsers_sets_one_password(member):
    member.request_link("register")
    link = link_in(member.mails()[0])
    other = Member(member.shop, member.mailbox)
    for browser in (member, other):
        browser.follow(link)
    fields = {"name": "Ada", "password": PASSWORD}
    assert member.post("/account/password", fields).status_code == 303
    assert other.post("/account/password", fields | {"password": "another phrase 8"}).status_code == 403
    assert check_password(PASSWORD, Customer.objects.get().password)


def test_a_link_expires_after_an_hour(member):
    member.request_link("register")
    link = link_in(member.mails()[0])
    for late, status in ((timedelta(minutes=59), 303), (timedelta(minutes=61), 403)):
        with time_machine.travel(clock.now() + late):
            assert Shopper(member.shop).follow(link).status_code == status


def test_a_followed_link_expires_after_an_hour_too(member):
    member.request_link("register")
    member.follow(link_in(member.mails()[0]))
    with time_machine.travel(clock.now() + timedelta(minutes=61)):
        assert member.post("/account/password", {"name": "Ada", "password": PASSWORD}).status_code == 403


@pytest.mark.parametrize("change", ["email", "cut", "none"])
def test_an_altered_link_is_refused(member, change):
    member.request_link("register")
    link = link_in(member.mails()[0])
    altered = {
        "email": link.replace("ada%40", "eve%40"),
        "cut": link[:-1],
        "none": link.partition("?")[0],
    }[change]
    assert altered != link
    assert member.follow(altered).status_code == 403


def test_refuses_another_shops_link(member, other_shop):
    member.request_link("register")
    visitor = Shopper(other_shop)
    path_and_query = link_in(member.mails()[0]).split("://", 1)[1].split("/", 1)[1]
    assert visitor.follow(f"{other_shop.base_url}/{path_and_query}").status_code == 403


def test_a_followed_link_opens_nothing_at_another_shop_in_the_same_browser(member, other_shop):
    member.request_link("register")
    member.follow(link_in(member.mails()[0]))
    answer = member.browser.get("/account/password", headers={"host": other_shop.domain})
    assert answer.status_code == 403


def test_a_head_request_to_a_link_opens_nothing(member):
    member.request_link("register")
    member.follow(link_in(member.mails()[0]), "head")
    assert member.get("/account/password").status_code == 403


def test_the_link_is_in_no_log_queue_or_referrer(member, caplog):
    member.request_link("register")
    link = link_in(member.mails()[0])
    answer = member.follow(link)
    assert answer["Referrer-Policy"] == "no-referrer"
    assert answer["Cache-Control"] == "no-store"
    signature = link.rpartition("=")[2]
    assert "?" not in answer["Location"]
    # Except in the database's statement log, which only developers see.
    logged = "\n".join(record.getMessage() for record in caplog.records if not record.name.startswith("django.db"))
    assert signature not in logged
    assert signature not in str(list(DBTaskResult.objects.values()))


def test_emails_are_limited_per_address_and_per_network(shop, member, settings):
    settings.LIMITS = settings.LIMITS | {"accounts": environment.limits("UNSET", "20/hour")}
    answers = [member.request_link("register").status_code for _ in range(6)]
    assert answers == [303] * 5 + [429]
    assert len(member.mails()) == 5
    # Links for a new password count apart.
    assert [member.request_link("forgot").status_code for _ in range(5)] == [303] * 5
    assert len(member.mails()) == 10
    late = member.request_link("forgot")
    assert late.status_code == 429
    assert len(member.mails()) == 10
    assert int(late["Retry-After"]) > 0
    assert "Please try again in" in late.content.decode()
    for number in range(20):
        last = member.post("/account/register", {"email": f"{number}@example.com"})
    assert last.status_code == 429


def test_refuses_an_invalid_email_address(member):
    answer = member.request_link("register", "nobody")
    assert answer.status_code == 422
    assert member.mails() == []


def test_the_next_page_reports_what_did_not_fit_into_the_basket(shop, member):
    mug = make_product(shop, "Mug", stock_qty=4)
    member.post("/basket/add", {"product": mug.pk, "qty": 4})
    member.request_link("register")
    type(mug).objects.filter(pk=mug.pk).update(stock_qty=1)
    answer = member.choose_password(link_in(member.mails()[-1]))
    assert "<li>Mug: 1 of 4</li>" in member.read(answer["Location"])
