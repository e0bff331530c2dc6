"""Strangers keep no shopper out of an account: neither by guessing the password, nor by asking for links."""

from datetime import timedelta

import pytest
import time_machine

from storefront.kit import clock
from tests.checkout.shopper import Shopper
from tests.customers.factories import PASSWORD
from tests.website.accounts import link_in

pytestmark = pytest.mark.django_db(transaction=True)

FIELDS = {"email": "ada@example.com", "password": PASSWORD}


@pytest.mark.slow
def test_a_mailed_link_signs_in_while_sign_ins_are_limited(shop, member, ada):
    for number in range(11):
        for _ in range(5):
            wrong = FIELDS | {"password": "wrong"}
            Shopper(shop).browser.post("/account/sign-in", wrong, REMOTE_ADDR=f"203.0.113.{number}")
    refused = member.post("/account/sign-in", FIELDS)
    assert refused.status_code == 429
    assert "ask for a link by email" in refused.content.decode()
    member.request_link("forgot")
    assert member.choose_password(link_in(member.mails()[-1]), "another phrase 8").status_code == 303
    assert member.is_signed_in
    # This browser is known now.
    member.post("/account/sign-out", {})
    assert member.post("/account/sign-in", FIELDS | {"password": "another phrase 8"}).status_code == 303


@pytest.mark.slow
def test_who_asks_for_mails_to_an_address_leaves_its_owner_a_link_that_works(shop, ada):
    """A link is valid for an hour, so whenever none is sent, one of the last hour is in the mailbox. Other mails to the
    address do not count."""

    def ask(page: str) -> int:
        place = f"192.0.2.{minutes // 10}"
        return Shopper(shop).browser.post(f"/account/{page}", {"email": ada.email}, REMOTE_ADDR=place).status_code

    start, sent = clock.now(), 0
    for minutes in range(0, 24 * 60, 10):
        with time_machine.travel(start + timedelta(minutes=minutes), tick=False):
            ask("register")
            sent = minutes if ask("forgot") == 303 else sent
            assert minutes - sent < 60


@pytest.mark.slow
def test_others_in_the_network_do_not_keep_a_link_from_working(shop, member, ada):
    member.request_link("forgot")
    for number in range(61):
        Shopper(shop).post("/account/forgot", {"email": f"{number}@example.com"})
    assert Shopper(shop).post("/account/forgot", {"email": "bob@example.com"}).status_code == 429
    assert member.choose_password(link_in(member.mails()[0]), "another phrase 8").status_code == 303
    assert member.is_signed_in
