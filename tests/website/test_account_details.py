"""Name, phone, e-mail address and password, changed by the customer alone."""

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


def ask_for(member: Member, email: str, password: str = PASSWORD):
    answer = member.post("/account/details/e-mail", {"mail-email": email, "mail-password": password})
    run_due_tasks()
    return answer


def change_password(member: Member, current: str = PASSWORD, password: str = NEW):
    answer = member.post("/account/details/password", {"word-current": current, "word-password": password})
    run_due_tasks()
    return answer


def test_name_and_phone_are_changed_and_told(shop, member):
    answer = member.post("/account/details", {"name": "A. Lovelace", "phone": "0431 12"})
    assert (answer.status_code, answer["Location"]) == (303, "/account/details")
    page = member.read("/account/details")
    assert 'value="A. Lovelace"' in page
    assert "Your details are saved." in page
    ((topic, data),) = events(shop)
    assert (topic, data["name"], data["phone"]) == ("customer.updated", "A. Lovelace", "0431 12")


@pytest.mark.parametrize("fields", [{"name": ""}, {"name": "A", "phone": "call me"}, {"name": "a\nb"}])
def test_what_does_not_fit_is_said_beside_the_field(member, ada, fields):
    answer = member.post("/account/details", fields)
    assert answer.status_code == 422
    assert 'class="field__error"' in answer.content.decode()
    assert Customer.objects.get().name == "Ada Lovelace"


def test_a_new_address_counts_once_its_mailbox_says_so(shop, member):
    assert ask_for(member, "Ada@New.example").status_code == 303
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
    assert "has another e-mail address from now on" in member.mails()[-1]
    ((topic, data),) = events(shop)
    assert (topic, data["email"]) == ("customer.updated", "ada@new.example")


def test_guest_orders_of_the_proven_address_come_with_it(shop, member, ada):
    order = make_order(shop, sale_line(make_product(shop)), email="ada@new.example")
    ask_for(member, "ada@new.example")
    assert Order.objects.get().customer is None
    # The order's own confirmation came before.
    member.follow(link_in(member.mailbox.texts("ada@new.example")[-1]))
    member.post("/account/e-mail", {})
    assert Order.objects.get(pk=order.pk).customer == ada


def test_a_new_address_needs_the_password(member):
    answer = ask_for(member, "ada@new.example", "wrong")
    assert answer.status_code == 422
    assert "This is not your password." in answer.content.decode()
    assert member.mailbox.messages == []


def test_an_address_that_another_customer_has_is_told_to_its_mailbox_alone(shop, member):
    make_customer(shop, "bob@example.com")
    known, free = ask_for(member, "bob@example.com"), ask_for(member, "free@example.com")
    assert (known.status_code, known["Location"]) == (free.status_code, free["Location"])
    assert "Another account of yours has it already" in member.mailbox.texts("bob@example.com")[0]
    assert Customer.objects.filter(email="ada@example.com").exists()


def test_an_address_that_was_taken_since_is_refused(shop, member):
    ask_for(member, "new@example.com")
    member.follow(link_in(member.mailbox.texts("new@example.com")[0]))
    make_customer(shop, "new@example.com")
    assert member.post("/account/e-mail", {}).status_code == 403


def test_a_link_to_a_new_address_works_once_and_chooses_no_password(member):
    ask_for(member, "new@example.com")
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
    assert "was changed just now" in member.mails()[-1]


@pytest.mark.parametrize(
    ("current", "new", "words"),
    [("wrong", NEW, "This is not your password."), (PASSWORD, "short", "too short"), (PASSWORD, "", "required")],
)
def test_a_new_password_needs_the_old_one_and_some_strength(member, current, new, words):
    answer = change_password(member, current, new)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert words in page
    assert f'value="{new or current}"' not in page
    member.post("/account/sign-out", {})
    member.sign_in()


def test_guessing_the_password_inside_is_as_slow_as_at_the_door(member):
    for _ in range(10):
        last = change_password(member, "wrong")
    assert "That was tried too often." in last.content.decode()


def test_a_forgotten_password_is_replaced_by_mail_and_every_session_ends(shop, member):
    phone = Member(shop, member.mailbox)
    assert phone.ask("forgot").status_code == 303
    (text,) = phone.mails()
    answer = phone.choose_password(link_in(text), NEW)
    assert (answer.status_code, answer["Location"]) == (303, "/account")
    assert phone.is_signed_in
    assert not member.is_signed_in


def test_who_forgot_and_is_no_customer_is_told_by_mail_alone(shop, member):
    known, unknown = member.ask("forgot"), member.ask("forgot", "bob@example.com")
    assert (known.status_code, known["Location"]) == (unknown.status_code, unknown["Location"])
    assert "no account has this address" in member.mailbox.texts("bob@example.com")[0]


def test_a_mail_server_that_is_away_is_asked_again_later_with_a_new_link(member, settings):
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 9
    member.ask("forgot")
    settings.EMAIL_PORT = port
    run_due_tasks()
    assert member.mails() == []
    with time_machine.travel(clock.now() + WAITS[0] + timedelta(seconds=5)):
        run_due_tasks()
        assert member.choose_password(link_in(member.mails()[0]), NEW).status_code == 303
