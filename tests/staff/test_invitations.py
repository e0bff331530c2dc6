"""People join a shop's staff only by a link that was sent to their own mailbox."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.messages import get_messages
from django.core import mail
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django_tasks_db.models import DBTaskResult

from storefront.kit import clock
from storefront.kit.refusals import InvalidFields
from storefront.shops.models import Shop, StaffInvitation, StaffMember, User
from storefront.staff import actions, invitations, jobs
from tests.races import run_concurrently
from tests.staff import admin_url, make_staff, open_desk
from tests.worker import run_due_tasks

NEW = {"name": "Bo Berg", "new_password1": "harbour-lane-7", "new_password2": "harbour-lane-7"}
ACCEPT = "/admin/invitation/accept/"


def invite(shop: Shop, email: str = "bo@example.com", role: str = "manager", **given: Any) -> StaffInvitation:
    now = clock.now()
    return invitations.invite_staff(shop=shop, email=email, role=role, **{"invited_by": None, "now": now} | given)


def link_to(shop: Shop, email: str = "bo@example.com", role: str = "manager") -> str:
    """The path and query of a link that a mailbox got."""
    made = invite(shop, email, role)
    link = invitations.new_link(shop=shop, invitation_id=made.pk, now=clock.now())
    return link.removeprefix(shop.base_url)


def mailed_link(receiver: str) -> str:
    run_due_tasks()
    text = [message.body for message in mail.outbox if message.to == [receiver]][-1]
    return re.search(r"https?://[^/\s]+(/admin/\S+)", text)[1]


@pytest.mark.django_db(transaction=True)
def test_a_new_person_accepts_an_owners_invitation(shop):
    desk = open_desk(make_staff(shop))
    page = desk.fill(StaffInvitation, follow=True, email="Bo@Example.com", role="fulfilment")
    assert "Invitation sent to bo@example.com." in page.content.decode()
    assert "Pending invitations" in page.content.decode()
    assert not User.objects.filter(email="bo@example.com").exists()
    browser = Client()
    assert browser.get(mailed_link("bo@example.com"))["Location"] == ACCEPT
    shown = browser.get(ACCEPT).content.decode()
    assert "Lighthouse" in shown
    assert "fulfilment" in shown
    answer = browser.post(ACCEPT, NEW)
    assert answer["Location"] == "/admin/login/"
    # Made, and not let in: one signs in as ever.
    assert browser.get("/admin/").status_code == 302
    browser.post("/admin/login/", {"username": "bo@example.com", "password": NEW["new_password1"]})
    assert browser.get("/admin/").status_code == 200
    bo = User.objects.get(email="bo@example.com")
    assert (bo.get_full_name(), bo.memberships.get().shop, bo.memberships.get().role) == ("Bo Berg", shop, "fulfilment")
    assert "Pending invitations" not in desk.get(admin_url(StaffMember, "changelist")).content.decode()


def test_adding_staff_leads_to_an_invitation(desk):
    assert desk.get(admin_url(StaffMember, "add"))["Location"] == admin_url(StaffInvitation, "add")


def test_an_invitation_creates_no_account(shop, other_shop):
    """The owner of one shop invites an address before the other does, and gains nothing by it."""
    attacker = open_desk(make_staff(shop, "mallory"))
    victim_of = open_desk(make_staff(other_shop, "olga"))
    page = attacker.fill(StaffInvitation, follow=True, email="x@b.example", role="owner")
    assert not User.objects.filter(email="x@b.example").exists()
    assert not any(Client().login(username="x@b.example", password=guess) for guess in ("", "None", "x@b.example"))
    victim_of.fill(StaffInvitation, email="x@b.example", role="owner")
    # The attacker has no link: not their own shop's, let alone the other's.
    assert "invite_" not in page.content.decode()
    assert attacker.get(ACCEPT).status_code == 403
    # Even with it, they would have to be somebody else.
    link = link_to(other_shop, "x@b.example", "owner")
    attacker.get(link)
    assert "somebody else" in attacker.get(ACCEPT).content.decode()
    attacker.post(ACCEPT, NEW)
    assert not StaffMember.objects.filter(shop=other_shop).exclude(user__username="olga").exists()
    mailbox = Client()
    mailbox.get(link)
    mailbox.post(ACCEPT, NEW)
    member = User.objects.get(email="x@b.example").memberships.get()
    assert (member.shop, member.role) == (other_shop, "owner")


def test_somebody_with_an_account_signs_in_and_accepts(shop, other_shop):
    kim = make_staff(other_shop, "kim")
    password = kim.password
    browser = Client()
    browser.get(link_to(shop, "kim@example.com"))
    page = browser.get(ACCEPT).content.decode()
    assert "Sign in" in page
    # The link alone neither lets in nor changes a password.
    browser.post(ACCEPT, NEW)
    kim.refresh_from_db()
    assert kim.password == password
    assert browser.get("/admin/").status_code == 302
    answer = browser.post(f"/admin/login/?next={ACCEPT}", {"username": "kim", "password": "lighthouse-1"})
    assert answer["Location"] == ACCEPT
    assert not shop.staff.exists()
    browser.post(ACCEPT)
    assert {(place.shop, place.role) for place in kim.memberships.all()} == {(shop, "manager"), (other_shop, "owner")}


def test_an_ended_session_cannot_accept(shop, other_shop):
    kim = make_staff(other_shop, "kim")
    browser = open_desk(kim)
    browser.get(link_to(shop, "kim@example.com"))
    kim.staff_sessions.all().delete()
    for answer in (browser.get(ACCEPT), browser.post(ACCEPT)):
        assert "already has an account. Sign in to accept." in answer.content.decode()
    assert not shop.staff.exists()


def test_somebody_else_who_is_signed_in_can_sign_out_and_continue(shop, other_shop):
    browser = open_desk(make_staff(other_shop, "kim"))
    browser.get(link_to(shop))
    assert "signed in as kim" in browser.get(ACCEPT).content.decode()
    assert browser.post(ACCEPT, NEW).status_code == 200
    assert not shop.staff.exists()
    assert browser.post("/admin/invitation/sign-out/")["Location"] == ACCEPT
    browser.post(ACCEPT, NEW)
    assert shop.staff.get().user.email == "bo@example.com"


def test_opening_the_link_does_not_accept(shop):
    link = link_to(shop)
    for _ in range(3):
        scanner = Client()
        scanner.get(link, follow=True)
        assert not scanner.head(link).cookies
    assert not shop.staff.exists()
    assert StaffInvitation.objects.get().accepted_at is None


def test_the_token_is_removed_from_the_url_and_not_stored(shop, capfd):
    link = link_to(shop)
    token = link.partition("token=")[2]
    answer = Client().get(link)
    assert (answer["Location"], answer["Cache-Control"], answer["Referrer-Policy"]) == (
        ACCEPT,
        "no-store",
        "no-referrer",
    )
    assert token not in "".join(capfd.readouterr())
    assert token not in str(StaffInvitation.objects.values().get())


def test_the_task_queue_contains_no_token(shop, desk):
    desk.fill(StaffInvitation, email="bo@example.com", role="manager")
    assert "invite_" not in str(list(DBTaskResult.objects.values()))
    assert StaffInvitation.objects.get().digest is None


def accepted(link: str, **given: str) -> int:
    browser = Client()
    browser.get(link)
    return browser.post(ACCEPT, NEW | given).status_code


def test_a_link_works_once(shop):
    link = link_to(shop)
    assert accepted(link) == 303
    assert Client().get(link).status_code == 403
    shop.staff.all().delete()
    assert accepted(link) == 403
    assert not shop.staff.exists()


def test_a_link_works_for_seven_days(shop):
    link = link_to(shop)
    with time_machine.travel(clock.now() + timedelta(days=7, seconds=1)):
        assert accepted(link) == 403
    with time_machine.travel(clock.now() + timedelta(days=6, hours=23)):
        assert accepted(link) == 303


def mailed_link_of_task(receiver: str) -> str:
    """As `mailed_link`, where the test's own transaction is what the worker would wait for."""
    pending = StaffInvitation.objects.get(email=receiver, revoked_at=None)
    jobs.send_invitation.func(pending.shop_id, pending.pk)
    text = [message.body for message in mail.outbox if message.to == [receiver]][-1]
    return re.search(r"https?://[^/\s]+(/admin/\S+)", text)[1]


def test_sending_again_ends_the_previous_link(shop, desk):
    before = link_to(shop)
    row = StaffInvitation.objects.get()
    desk.post(admin_url(row, "send_again"), {"_form_submitted": "on"})
    assert StaffInvitation.objects.count() == 2
    assert accepted(before) == 403
    browser = Client()
    browser.get(mailed_link_of_task("bo@example.com"))
    assert browser.post(ACCEPT, NEW).status_code == 303


def test_withdrawing_ends_the_link_also_for_a_browser_that_opened_it(shop, desk):
    browser = Client()
    browser.get(link_to(shop))
    row = StaffInvitation.objects.get()
    desk.post(admin_url(row, "withdraw"), {"_form_submitted": "on"})
    assert browser.get(ACCEPT).status_code == 403
    assert browser.post(ACCEPT, NEW).status_code == 403
    # A mail that still waited in the queue is not sent.
    jobs.send_invitation.func(row.shop_id, row.pk)
    assert not mail.outbox


@pytest.mark.parametrize("change", ["demoted", "removed"])
def test_invitations_of_a_former_owner_end(shop, change):
    make_staff(shop)
    mallory = make_staff(shop, "mallory")
    made = invite(shop, "second@mallory.example", "owner", invited_by=mallory)
    member = shop.staff.get(user=mallory)
    if change == "demoted":
        actions.change_role(shop=shop, member=member, role="manager", now=clock.now())
    else:
        actions.remove_staff(shop=shop, members=[member.pk], now=clock.now())
    made.refresh_from_db()
    assert made.revoked_at is not None


def test_an_address_with_an_account_and_one_without_look_the_same(desk, shop, other_shop):
    make_staff(other_shop, "kim")
    shown, counts = [], []
    desk.fill(StaffInvitation, follow=True, email="before@example.com", role="manager")
    for email in ("kim@example.com", "bo@example.com"):
        with CaptureQueriesContext(connection) as queries:
            answer = desk.post(admin_url(StaffInvitation, "add"), {"email": email, "role": "manager"})
        counts.append(len(queries))
        shown.append([str(message).replace(email, "") for message in get_messages(answer.wsgi_request)])
        desk.get(admin_url(StaffMember, "changelist"))
    assert shown[0] == shown[1] == ["Invitation sent to ."]
    assert counts[0] == counts[1]


def test_refuses_to_invite_somebody_on_the_staff(desk, shop):
    page = desk.fill(StaffInvitation, follow=True, email="anna@example.com", role="manager")
    assert "is already a staff member of this shop." in page.content.decode()
    assert not StaffInvitation.objects.exists()


@pytest.mark.parametrize("email", ["", "bo", "a" * 140 + "@example.com", "bo@example.com\nBcc: x@example.com"])
def test_refuses_an_invalid_email_address(shop, email):
    with pytest.raises(InvalidFields) as refused:
        invite(shop, email)
    assert set(refused.value.errors) == {"email"}


def test_limits_invitations_a_day(shop, other_shop):
    for number in range(invitations.MAX_PER_DAY):
        invite(shop, f"{number}@example.com")
    with pytest.raises(invitations.TooManyInvitations):
        invite(shop, "one-more@example.com")
    invite(other_shop, "one-more@example.com")
    invite(shop, "tomorrow@example.com", now=clock.now() + timedelta(days=1, minutes=1))


@pytest.mark.parametrize(
    "given",
    [
        {"new_password1": "short", "new_password2": "short"},
        {"new_password1": "password", "new_password2": "password"},
        {"new_password2": "another-one-8"},
        {"new_password1": "bo@example.com", "new_password2": "bo@example.com"},
        {"new_password1": "x" * 201, "new_password2": "x" * 201},
        {"name": ""},
    ],
)
def test_refuses_a_weak_password(shop, given):
    assert accepted(link_to(shop), **given) == 422
    assert not User.objects.exists()
    assert StaffInvitation.objects.get().accepted_at is None


def test_another_shops_invitations_are_not_found(desk, other_shop):
    theirs = invite(other_shop)
    for view in ("change", "send_again", "withdraw", "history"):
        assert desk.get(admin_url(theirs, view)).status_code == 404
        status = 403 if view == "change" else 404
        assert desk.post(admin_url(theirs, view), {"_form_submitted": "on"}).status_code == status, view
    theirs.refresh_from_db()
    assert theirs.revoked_at is None


@pytest.mark.django_db(transaction=True)
def test_concurrent_acceptances_make_one_staff_member(shop):
    link = link_to(shop)
    browsers = [Client() for _ in range(4)]
    for browser in browsers:
        browser.get(link)
    answers = run_concurrently(*(lambda browser=browser: browser.post(ACCEPT, NEW).status_code for browser in browsers))
    # The others are told that the invitation is used or that the account exists, by when they come.
    assert answers.count(303) == 1
    assert max(answers) < 500
    assert StaffMember.objects.count() == User.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_acceptances_of_one_account_make_one_staff_member(shop, other_shop):
    kim = make_staff(other_shop, "kim")
    made = invite(shop, "kim@example.com")
    invitations.new_link(shop=shop, invitation_id=made.pk, now=clock.now())
    made.refresh_from_db()
    accept = invitations.accept_invitation
    calls = [lambda: accept(invitation=made, user=kim, now=clock.now())] * 4
    answers = run_concurrently(*calls, refusal=invitations.InvitationOver)
    assert answers.count(None) == 1
    assert shop.staff.filter(user=kim).count() == 1


def test_the_command_prints_the_link_if_no_mail_is_sent(shop, settings, capsys):
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    call_command("invitestaff", shop=shop.domain, email="ada@example.com", role="owner")
    link = capsys.readouterr().out.strip()
    assert link.startswith("https://shop.example.com/admin/invitation/?token=invite_")
    assert accepted(link.removeprefix(shop.base_url)) == 303
    assert shop.staff.get().role == "owner"


def test_the_command_sends_mail_if_it_is_set_up(shop, capsys):
    call_command("invitestaff", shop=shop.domain, email="ada@example.com", role="owner")
    assert capsys.readouterr().out == ""
    call_command("invitestaff", "--print-link", shop=shop.domain, email="ada@example.com", role="owner")
    assert "token=invite_" in capsys.readouterr().out


def test_without_mail_the_admin_says_how_to_get_the_link(desk, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    page = desk.fill(StaffInvitation, follow=True, email="bo@example.com", role="manager").content.decode()
    assert "storefront invitestaff --shop shop.example.com --email bo@example.com --role manager" in page


def test_the_pages_are_on_the_admins_host():
    assert reverse("admin:invitation") == ACCEPT
