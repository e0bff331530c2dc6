"""Customers change their name, phone, email address and password."""

from datetime import timedelta

import pytest
import time_machine

from storefront.customers.models import Customer
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.shops.mail import WAITS
from tests.catalogue.factories import make_product
from tests.customers.factories import PASSWORD, events, make_customer
from tests.orders.factories import make_order, sale_line
from tests.website.accounts import Member, link_in
from tests.worker import run_due_tasks

pytestmark = pytest.mark.django_db(transaction=True)

NEW = "another phrase 8"


@pytest.fixture
def member(shop, mailbox, ada) -> Member:
    member = Member(shop, mailbox)
    member.sign_in()
    return member


def request_email_change(member: Member, email: str, password: str = PASSWORD):
    answer = member.post("/account/details/e-mail", {"mail-email": email, "mail-password": password})
    run_due_tasks()
    return answer


def change_password(member: Member, current: str = PASSWORD, password: str = NEW):
    answer = member.post("/account/details/password", {"word-current": current, "word-password": password})
    run_due_tasks()
    return answer


def test_saves_name_and_phone_and_records_an_event(shop, member):
    answer = member.post("/account/details", {"name": "A. Lovelace", "phone": "0431 12"})
    assert (answer.status_code, answer["Location"]) == (303, "/account/details")
    page = member.read("/account/details")
    assert 'value="A. Lovelace"' in page
    assert "Your details have been saved." in page
    ((topic, data),) = events(shop)
    assert (topic, data["name"], data["phone"]) == ("customer.updated", "A. Lovelace", "+49 43112")


@pytest.mark.parametrize("fields", [{"name": ""}, {"name": "A", "phone": "call me"}, {"name": "a\nb"}])
def test_an_invalid_field_has_its_error_beside_it(member, ada, fields):
    answer = member.post("/account/details", fields)
    assert answer.status_code == 422
    assert 'class="field__error"' in answer.content.decode()
    assert Customer.objects.get().name == "Ada Lovelace"


def test_a_new_email_address_takes_effect_when_confirmed(shop, member):
    assert request_email_change(member, "Ada@New.example").status_code == 303
    assert Customer.objects.get().email == "ada@example.com"
    (text,) = member.mailbox.texts("ada@new.example")
    answer = member.follow(link_in(text))
    assert (answer.status_code, answer["Location"]) == (303, "/account/e-mail")
    assert Customer.objects.get().email == "ada@example.com"
    assert "ada@new.example" in member.read("/account/e-mail")
    assert member.post("/account/e-mail", {}).status_code == 303
    assert Customer.objects.get().email == "ada@new.example"
    assert member.is_signed_in
    run_due_tasks()
    assert "has been changed" in member.mails()[-1]
    assert [(topic, data["email"], data["pending_email"]) for topic, data in events(shop)] == [
        ("customer.updated", "ada@example.com", "ada@new.example"),
        ("customer.updated", "ada@new.example", None),
    ]


def test_the_current_address_cancels_the_change_without_an_email(member, ada):
    request_email_change(member, "new@example.com")
    request_email_change(member, "ADA@example.com")
    assert Customer.objects.get().pending_email is None
    assert "Your email address is still ada@example.com." in member.read("/account/details")
    assert member.mails() == []


def test_guest_orders_of_the_confirmed_address_become_the_customers(shop, member, ada):
    order = make_order(shop, sale_line(make_product(shop)), email="ada@new.example")
    request_email_change(member, "ada@new.example")
    assert Order.objects.get().customer is None
    # The first email is the order confirmation.
    member.follow(link_in(member.mailbox.texts("ada@new.example")[-1]))
    member.post("/account/e-mail", {})
    assert Order.objects.get(pk=order.pk).customer == ada


def test_a_new_address_needs_the_password(member):
    answer = request_email_change(member, "ada@new.example", "wrong")
    assert answer.status_code == 422
    assert "The password is incorrect." in answer.content.decode()
    assert member.mailbox.messages == []


def test_only_an_email_reveals_that_another_customer_has_the_address(shop, member):
    make_customer(shop, "bob@example.com")
    known, free = request_email_change(member, "bob@example.com"), request_email_change(member, "free@example.com")
    assert (known.status_code, known["Location"]) == (free.status_code, free["Location"])
    assert "You already have another account with it" in member.mailbox.texts("bob@example.com")[0]
    assert Customer.objects.filter(email="ada@example.com").exists()


def test_refuses_an_address_that_another_customer_got_meanwhile(shop, member):
    request_email_change(member, "new@example.com")
    member.follow(link_in(member.mailbox.texts("new@example.com")[0]))
    make_customer(shop, "new@example.com")
    assert member.post("/account/e-mail", {}).status_code == 403


def test_a_link_to_a_new_address_works_once_and_chooses_no_password(member):
    request_email_change(member, "new@example.com")
    link = link_in(member.mailbox.texts("new@example.com")[0])
    member.follow(link)
    assert member.post("/account/password", {"password": NEW}).status_code == 403
    member.post("/account/e-mail", {})
    assert member.follow(link).status_code == 403


def test_a_new_password_ends_the_other_sessions_and_keeps_this_one(shop, member):
    phone = Member(shop, member.mailbox)
    phone.sign_in()
    assert change_password(member).status_code == 303
    assert member.is_signed_in
    assert not phone.is_signed_in
    assert phone.post("/account/sign-in", {"email": "ada@example.com", "password": PASSWORD}).status_code == 422
    phone.sign_in(password=NEW)
    assert "has been changed" in member.mails()[-1]


@pytest.mark.parametrize(
    ("current", "new", "words"),
    [("wrong", NEW, "The password is incorrect."), (PASSWORD, "short", "too short"), (PASSWORD, "", "required")],
)
def test_a_new_password_requires_the_current_one_and_strength(member, current, new, words):
    answer = change_password(member, current, new)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert words in page
    assert f'value="{new or current}"' not in page
    member.post("/account/sign-out", {})
    member.sign_in()


def test_password_attempts_in_the_account_are_limited_as_at_sign_in(member):
    for _ in range(10):
        last = change_password(member, "wrong")
    assert "The password is incorrect." in last.content.decode()
    assert "Too many attempts." in change_password(member, "wrong").content.decode()
    # The correct password is not checked either.
    assert "Too many attempts." in change_password(member).content.decode()


def test_a_password_reset_ends_every_session(shop, member):
    phone = Member(shop, member.mailbox)
    assert phone.request_link("forgot").status_code == 303
    (text,) = phone.mails()
    answer = phone.choose_password(link_in(text), NEW)
    assert (answer.status_code, answer["Location"]) == (303, "/account")
    assert phone.is_signed_in
    assert not member.is_signed_in


def test_only_an_email_reveals_that_an_address_has_no_account(shop, member):
    known, unknown = member.request_link("forgot"), member.request_link("forgot", "bob@example.com")
    assert (known.status_code, known["Location"]) == (unknown.status_code, unknown["Location"])
    assert "no account uses this email address" in member.mailbox.texts("bob@example.com")[0]


def test_an_unreachable_mail_server_is_tried_again_with_a_new_link(member, settings):
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 9
    member.request_link("forgot")
    settings.EMAIL_PORT = port
    run_due_tasks()
    assert member.mails() == []
    with time_machine.travel(clock.now() + WAITS[0] + timedelta(seconds=5)):
        run_due_tasks()
        assert member.choose_password(link_in(member.mails()[0]), NEW).status_code == 303


def test_the_two_fields_for_the_current_password_have_different_labels(member):
    page = member.read("/account/details")
    for purpose in ("email address", "password"):
        assert (
            page.count(f'Current password<span class="visually-hidden">, to change your {purpose}</span></label>') == 1
        )
