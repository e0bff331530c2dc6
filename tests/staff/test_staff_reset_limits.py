"""What a stranger can have done by the pages for a forgotten password: mails, sessions, and how many of them."""

import re

import pytest
from django.contrib.sessions.models import Session
from django.core import mail
from django.test import Client
from django_tasks_db.models import DBTaskResult

from storefront.staff import jobs
from tests.staff import make_staff

ASK, LINK = "/admin/password_reset/", "/admin/password_reset/link/"


def ask(email: str = "anna@example.com", place: str = "192.0.2.1"):
    return Client(REMOTE_ADDR=place).post(ASK, {"email": email})


def link_of_anna() -> tuple[str, str]:
    jobs.send_password_reset.func(None, "anna@example.com")
    return re.search(r"uid=([^&\s]+)&token=([^&\s]+)", mail.outbox[-1].body).groups()


@pytest.mark.parametrize("token", ["", "x", "x" * 30_000, "a-b" + "c" * 100, "a-b\n", "A-B", "a-b-c", "set-password/"])
def test_a_link_that_was_never_sent_is_refused_without_a_session(anna, token):
    uid, _ = link_of_anna()
    for each in (uid, "abc"):
        answer = Client().get(LINK, {"uid": each, "token": token})
        assert (answer.status_code, answer.cookies.get("storefront_session")) == (403, None)
    assert not Session.objects.exists()


def test_an_invalid_token_makes_no_session(anna, shop):
    uid, token = link_of_anna()
    make_staff(shop, "bert")
    altered = token[:-1] + ("0" if token[-1] != "0" else "1")
    wrong = [(uid, "abc123-" + "0" * 32), (uid, altered), ("abc", token), ("OTk5", token)]
    for each in wrong:
        browser = Client()
        answer = browser.get(LINK, dict(zip(("uid", "token"), each, strict=True)))
        assert answer.status_code == 303
        assert "does not work" in browser.get(answer["Location"]).content.decode()
    assert not Session.objects.exists()
    assert Client().get(LINK, {"uid": uid, "token": token}).status_code == 303
    assert Session.objects.count() == 1


def test_limits_links_to_an_address_by_hour(anna, clock):
    for email in ("anna@example.com", "nobody@example.com"):
        answers = []
        for number in range(7):
            clock.shift(61)
            answers.append(ask(email, place=f"192.0.2.{number}"))
        assert [answer.status_code for answer in answers] == [303] * 5 + [429] * 2
        assert "Too many requests. Please try again later." in answers[-1].content.decode()
        # The first of the five was 6 minutes ago.
        assert answers[-1]["Retry-After"] == str(3600 - 6 * 61)
        assert ask(email.upper()).status_code == 429
    assert DBTaskResult.objects.count() == 10
    statuses = []
    for _ in range(6):
        clock.shift(3601)
        for _ in range(6):
            statuses.append(ask(place="192.0.2.99").status_code)
            clock.shift(61)
    assert statuses == ([303] * 5 + [429]) * 6


def test_limits_requests_from_a_place_by_hour(anna, clock):
    statuses = [ask(f"{number}@example.com").status_code for number in range(22)]
    assert statuses == [303] * 20 + [429] * 2
    assert ask("anna@example.com", place="192.0.2.2").status_code == 303
    # One network is one place.
    assert [ask(f"{number}@example.com", place=f"2001:db8::{number}").status_code for number in range(21)][-1] == 429
    assert ask("0@example.com")["Retry-After"] == "3600"
    clock.shift(3601)
    assert ask("anna@example.com").status_code == 303


def test_refused_requests_do_not_count(anna, clock):
    for number in range(20):
        ask(f"{number}@example.com")
    for _ in range(10):
        assert ask("anna@example.com").status_code == 429
    clock.shift(1)
    assert [ask("anna@example.com", place="192.0.2.2").status_code for _ in range(3)] == [303, 303, 429]
