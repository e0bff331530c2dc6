"""A new email address from an app or the staff is pending until the customer, if they have an account, confirms it."""

import pytest
from django.db import transaction

from storefront.customers import actions, links
from storefront.customers.models import Customer
from storefront.kit import clock
from storefront.orders.models import Order
from tests.answers import words_of
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.customers.factories import PASSWORD, events, make_customer
from tests.factories.apps import install
from tests.orders.factories import make_order, sale_line
from tests.races import run_concurrently
from tests.staff import make_staff, open_desk
from tests.website.accounts import Member, link_in
from tests.worker import run_due_tasks

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

OLD, NEW = "ada@example.com", "mallory@example.net"


@pytest.fixture(params=["/api/apps", "/api/v1"])
def app(request, shop) -> ApiClient:
    """An app that may write customers, but not read them."""
    return ApiClient(install(shop, "write_customers").token, prefix=request.param)


@pytest.fixture
def member(shop, mailbox, ada) -> Member:
    member = Member(shop, mailbox)
    member.sign_in()
    return member


@pytest.fixture
def mallory(shop, mailbox) -> Member:
    """A stranger who owns the new address's mailbox."""
    return Member(shop, mailbox, NEW)


def write_email(app: ApiClient, customer: Customer, email: str = NEW, **given):
    answer = app.patch(f"/customers/{customer.pk}", {"email": email} | given)
    assert answer.status_code == 200, answer.content
    run_due_tasks()
    return answer


def row(customer: Customer) -> Customer:
    return Customer.objects.get(pk=customer.pk)


def test_an_app_that_writes_its_own_address_gets_no_way_into_the_account(shop, app, ada, member, mallory):
    order = make_order(shop, sale_line(make_product(shop)), customer_id=ada.pk)
    write_email(app, ada)
    assert (row(ada).email, row(ada).pending_email) == (OLD, NEW)
    # A password link to the pending address creates a separate account, not access to Ada's.
    mallory.request_link("forgot")
    assert "no account uses this email address" in mallory.mails()[-1]
    mallory.choose_password(link_in(mallory.mails()[-1]), name="Mallory")
    assert "Ada" not in words_of(mallory.read("/account/details"))
    assert mallory.get(f"/account/orders/{order.number}").status_code == 404
    assert row(ada).can_sign_in
    assert row(ada).password == ada.password


def test_the_link_to_the_new_address_does_not_sign_in(app, ada, member, mallory):
    write_email(app, ada)
    answer = mallory.follow(link_in(mallory.mails()[0]))
    asked = mallory.get(answer["Location"])
    assert (asked.status_code, asked["Location"]) == (303, "/account/sign-in?next=%2Faccount%2Fe-mail")
    assert mallory.post("/account/e-mail", {})["Location"].startswith("/account/sign-in")
    assert row(ada).email == OLD
    assert not mallory.is_signed_in


def test_another_customers_account_cannot_confirm_the_address(shop, app, ada, member, mallory):
    make_customer(shop, "eve@example.org")
    write_email(app, ada)
    mallory.follow(link_in(mallory.mails()[0]))
    mallory.sign_in("eve@example.org")
    page = mallory.get("/account/e-mail")
    assert page.status_code == 403
    assert "this link belongs to another account" in page.content.decode()
    assert mallory.post("/account/e-mail", {}).status_code == 403
    assert set(Customer.objects.values_list("email", flat=True)) == {OLD, "eve@example.org"}


def test_sessions_end_and_the_old_address_is_notified_without_naming_the_new_one(app, ada, member):
    assert member.is_signed_in
    write_email(app, ada)
    assert not member.is_signed_in
    (notice,) = member.mails()
    assert "asked to change the email address" in notice
    assert NEW not in notice


@pytest.mark.rule("R-APP-34")
def test_the_customer_confirms_with_the_link_and_a_sign_in(shop, app, ada, member, mallory):
    order = make_order(shop, sale_line(make_product(shop)), email=NEW)
    write_email(app, ada)
    before = len(events(shop))
    member.follow(link_in(mallory.mails()[-1]))
    answer = member.post(
        member.get("/account/e-mail")["Location"], {"email": OLD, "password": PASSWORD, "next": "/account/e-mail"}
    )
    assert answer["Location"] == "/account/e-mail"
    assert NEW in member.read("/account/e-mail")
    assert row(ada).email == OLD
    assert member.post("/account/e-mail", {}).status_code == 303
    assert (row(ada).email, row(ada).pending_email) == (NEW, None)
    assert member.is_signed_in
    assert Order.objects.get(pk=order.pk).customer == ada
    ((topic, data),) = events(shop)[before:]
    assert (topic, data["email"], data["pending_email"]) == ("customer.updated", NEW, None)
    run_due_tasks()
    assert "has been changed" in member.mails()[-1]


def test_confirming_ends_the_customers_other_sessions(shop, app, ada, mailbox, mallory):
    write_email(app, ada)
    phone, laptop = Member(shop, mailbox), Member(shop, mailbox)
    phone.sign_in(), laptop.sign_in()
    phone.follow(link_in(mallory.mails()[-1]))
    phone.post("/account/e-mail", {})
    assert (phone.is_signed_in, laptop.is_signed_in) == (True, False)


@pytest.mark.rule("R-APP-34")
def test_events_and_records_contain_the_pending_address(shop, ada):
    app = ApiClient(install(shop, "write_customers", "read_customers").token, prefix="/api/apps")
    answer = write_email(app, ada, "New@Example.NET")
    record = answer.json()["customer"]
    assert (record["email"], record["pending_email"]) == (OLD, "new@example.net")
    assert events(shop) == [("customer.updated", record)]
    assert app.get(f"/customers/{ada.pk}").json()["customer"]["pending_email"] == "new@example.net"
    assert app.get("/customers").json()["customers"][0]["pending_email"] == "new@example.net"


@pytest.mark.parametrize("again", [OLD, "ADA@Example.com"])
def test_the_current_address_cancels_the_pending_one(app, ada, mallory, again):
    write_email(app, ada)
    write_email(app, ada, again)
    assert (row(ada).email, row(ada).pending_email) == (OLD, None)
    assert mallory.follow(link_in(mallory.mails()[0])).status_code == 403


def test_the_same_pending_address_again_sends_no_email_and_ends_no_session(app, ada, member, mallory):
    write_email(app, ada)
    member.sign_in()
    write_email(app, ada, NEW.upper())
    assert len(mallory.mails()) == len(member.mails()) == 1
    assert member.is_signed_in


def test_another_new_address_invalidates_the_link_to_the_first(app, ada, member, mallory):
    write_email(app, ada)
    stale = link_in(mallory.mails()[0])
    write_email(app, ada, "third@example.com")
    assert mallory.follow(stale).status_code == 403
    # Also if the link was followed before the second change.
    write_email(app, ada)
    member.follow(link_in(mallory.mails()[-1]))
    member.sign_in()
    write_email(app, ada, "fourth@example.com")
    assert member.post("/account/e-mail", {}).status_code == 403
    assert row(ada).email == OLD


def test_refuses_an_address_that_another_customer_has(shop, app, ada):
    make_customer(shop, "bob@example.com")
    answer = app.patch(f"/customers/{ada.pk}", {"email": "Bob@example.com"})
    assert answer.status_code == 422
    assert answer.json()["errors"] == {"email": ["Another customer already has this email address."]}
    assert row(ada).pending_email is None


def test_an_address_pending_for_two_customers_goes_to_the_first_who_confirms(shop, app, ada, mallory, mailbox):
    bob = make_customer(shop, "bob@example.com")
    write_email(app, ada)
    write_email(app, bob)
    to_ada, to_bob = map(link_in, mallory.mails())
    members = [(Member(shop, mailbox, who.email), link) for who, link in ((bob, to_bob), (ada, to_ada))]
    answers = []
    for member, link in members:
        member.sign_in(member.email)
        member.follow(link)
    for member, _ in members:
        answers.append(member.post("/account/e-mail", {}).status_code)
    assert answers == [303, 403]
    assert (row(bob).email, row(ada).email) == (NEW, OLD)


@pytest.mark.rule("R-APP-34")
def test_a_customer_without_a_password_changes_at_once_without_emails(shop, app, mailbox):
    guest = make_customer(shop, OLD, password="")
    write_email(app, guest)
    assert (row(guest).email, row(guest).pending_email) == (NEW, None)
    assert mailbox.messages == []


def test_a_customer_that_an_app_created_belongs_to_the_owner_of_the_mailbox(shop, app, mailbox, mallory):
    """An app creates a customer with somebody's address, and changes it when they register."""
    victim = Member(shop, mailbox, "victim@example.com")
    make_order(shop, sale_line(make_product(shop)), email=victim.email)
    made = app.post("/customers", {"email": victim.email})
    (made,) = made.json().values()
    victim.request_link("register")
    link = link_in(victim.mails()[-1])
    # Before the account exists: the link is invalid then, and orders belong to the address.
    app.patch(f"/customers/{made['id']}", {"email": NEW})
    assert victim.follow(link).status_code == 403
    mallory.register()
    assert not Order.objects.filter(customer__isnull=False).exists()
    # After: the new address is pending.
    victim.register()
    theirs = Customer.objects.get(email=victim.email)
    app.patch(f"/customers/{theirs.pk}", {"email": "third@example.com"})
    assert (row(theirs).email, row(theirs).pending_email) == (victim.email, "third@example.com")


def test_a_new_password_cancels_the_pending_address(shop, app, ada, member, mallory):
    write_email(app, ada)
    member.request_link("forgot")
    member.choose_password(link_in(member.mails()[-1]))
    assert row(ada).pending_email is None
    assert mallory.follow(link_in(mallory.mails()[0])).status_code == 403
    assert events(shop)[-1][1]["pending_email"] is None


def test_the_details_page_shows_and_cancels_the_pending_address(shop, app, ada, member, mallory):
    write_email(app, ada)
    member.sign_in()
    page = member.read("/account/details")
    assert NEW in page
    assert "is not confirmed yet" in page
    member.post("/account/details/e-mail/pending", {"do": "send"})
    run_due_tasks()
    assert len(mallory.mails()) == 2
    assert mallory.follow(link_in(mallory.mails()[1])).status_code == 303
    events_before = len(events(shop))
    member.post("/account/details/e-mail/pending", {"do": "withdraw"})
    assert row(ada).pending_email is None
    assert "is not confirmed yet" not in member.read("/account/details")
    assert mallory.follow(link_in(mallory.mails()[1])).status_code == 403
    assert [data["pending_email"] for _, data in events(shop)[events_before:]] == [None]


def test_resending_the_email_is_limited(app, ada, member, mallory):
    write_email(app, ada)
    member.sign_in()
    for _ in range(8):
        member.post("/account/details/e-mail/pending", {"do": "send"})
    run_due_tasks()
    assert len(mallory.mails()) == 6
    assert "Too many attempts" in member.read("/account/details")


def test_resending_without_a_pending_address_sends_nothing(ada, member, mailbox):
    assert member.post("/account/details/e-mail/pending", {"do": "send"}).status_code == 303
    run_due_tasks()
    assert mailbox.messages == []


def test_an_address_entered_by_staff_is_pending_too(shop, ada, member, mallory):
    desk = open_desk(make_staff(shop, role="manager"))
    answer = desk.fill(ada, email="Mallory@Example.net", name="A. L.")
    assert answer.status_code == 302, answer.content
    run_due_tasks()
    assert (row(ada).email, row(ada).pending_email, row(ada).name) == (OLD, NEW, "A. L.")
    ((_, data),) = events(shop)
    assert (data["email"], data["pending_email"], data["name"]) == (OLD, NEW, "A. L.")
    assert not member.is_signed_in
    assert len(mallory.mails()) == len(member.mails()) == 1
    assert f"{NEW} is waiting for the customer's confirmation." in desk.page(ada).content.decode()
    desk.fill(ada, withdraw="on")
    assert row(ada).pending_email is None
    assert events(shop)[-1][1]["pending_email"] is None


def test_staff_change_a_customer_without_a_password_at_once_unless_the_address_is_taken(shop, ada):
    desk = open_desk(make_staff(shop, role="manager"))
    guest = make_customer(shop, "guest@example.com", password="")
    answer = desk.fill(guest, email=OLD)
    assert "Another customer of this shop already has this Email" in answer.content.decode()
    assert desk.fill(guest, email=NEW).status_code == 302
    assert row(guest).email == NEW
    answer = desk.fill(ada, email=NEW)
    assert "Another customer of this shop already has this Email" in answer.content.decode()
    assert row(ada).pending_email is None


def test_of_two_concurrent_new_addresses_one_link_works(shop, ada, mailbox):
    now = clock.now()
    given = [f"new{number}@example.com" for number in range(4)]
    run_concurrently(
        *(
            lambda email=email: actions.update_customer(
                shop=shop, customer_id=ada.pk, now=now, changes={"email": email}
            )
            for email in given
        )
    )
    run_due_tasks()
    pending = row(ada).pending_email
    assert pending in given
    # Only the address that is pending gets an email.
    assert [len(mailbox.texts(email)) for email in given] == [int(email == pending) for email in given]


def test_a_confirmation_during_another_change_never_saves_the_old_pending_address(shop, ada):
    for _ in range(4):
        now = clock.now()
        Customer.objects.update(email=OLD, pending_email=NEW)
        customer = row(ada)
        proof = links.Proof(NEW, links.mark_of(customer), int(now.timestamp()) + 60, customer.pk)

        def confirm(customer=customer, proof=proof, now=now):
            return actions.confirm_email_change(shop=shop, customer=customer, proof=proof, now=now)

        def write(now=now):
            return actions.update_customer(
                shop=shop, customer_id=ada.pk, now=now, changes={"email": "third@example.com"}
            )

        confirmed, _ = run_concurrently(confirm, write, refusal=links.LinkRefused)
        after = row(ada)
        assert after.pending_email == "third@example.com"
        assert after.email == (OLD if isinstance(confirmed, links.LinkRefused) else NEW)


def test_the_database_requires_a_lowercase_pending_address(ada):
    with pytest.raises(Exception, match="customer_pending_email_lower"), transaction.atomic():
        Customer.objects.filter(pk=ada.pk).update(pending_email="New@example.com")
