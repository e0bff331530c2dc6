"""Staff follow mailed links in a browser: a forgotten password, and invitations of people who have an account."""

import re

import pytest
from django.core import mail
from playwright.sync_api import Page, expect

from storefront.kit import clock
from storefront.shops.models import StaffMember
from storefront.staff import invitations
from tests.browser.test_staff_sign_in import enter_password
from tests.shops.factories import make_shop
from tests.staff import make_staff
from tests.worker import run_due_tasks

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(params=["one host", "three hosts"])
def admin(request, live_server, settings) -> str:
    """The URL of the admin's host."""
    if request.param == "one host":
        return live_server.url
    request.getfixturevalue("own_hosts")
    return f"http://{settings.ADMIN_HOST}"


def link_of(shop, email: str) -> str:
    made = invitations.invite_staff(shop=shop, email=email, role="manager", invited_by=None, now=clock.now())
    return invitations.new_link(shop=shop, invitation_id=made.pk, now=clock.now())


def press(page: Page, name: str) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name=name).click()


@pytest.mark.walk
def test_a_forgotten_password_is_chosen_anew(street, visit, admin):
    make_staff(street)
    page = visit().open(f"{admin}/admin/password_reset/")
    page.get_by_label("Email").fill("anna@example.com")
    with page.expect_navigation():
        page.locator("form button[type=submit]").click()
    run_due_tasks()
    page.goto(re.search(r"https?://\S+", mail.outbox[-1].body)[0])
    assert "token" not in page.url
    for field in page.locator("input[type=password]").all():
        field.fill("harbour-lane-7")
    press(page, "Set password")
    page.get_by_label("Email address").fill("anna")
    page.get_by_label("Password").fill("harbour-lane-7")
    press(page, "Sign in")
    expect(page.get_by_role("heading", name="To do")).to_be_visible()


@pytest.mark.walk
def test_somebody_with_an_account_joins_another_shop(street, visit, admin):
    anna = make_staff(make_shop("other.example.com"))
    make_staff(street, "bert")
    link = link_of(street, "anna@example.com")
    visitor = visit()
    page = visitor.open(link)
    page.get_by_role("link", name="Sign in").click()
    page.get_by_label("Email address").fill("anna")
    page.get_by_label("Password").fill("lighthouse-1")
    press(page, "Sign in")
    press(page, "Accept")
    expect(page.get_by_text(f"You have joined the staff of {street}.")).to_be_visible()
    assert StaffMember.objects.filter(user=anna, shop=street, role="manager").exists()


def test_somebody_else_signs_out_first(street, visit, admin):
    make_staff(make_shop("other.example.com"))
    make_staff(street, "bert")
    link = link_of(street, "bert2@example.com")
    visitor = visit()
    page = enter_password(visitor, f"{admin}/admin/")
    page.goto(link)
    expect(page.get_by_text("this invitation is for somebody else")).to_be_visible()
    press(page, "Sign out and continue")
    expect(page.get_by_role("button", name="Create account and accept")).to_be_visible()
