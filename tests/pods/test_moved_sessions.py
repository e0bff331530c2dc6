"""Shoppers stay signed in when a shop moves, also at the secure host, where one session can name shops of several
pods."""

import json
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection
from django.test import override_settings

from storefront.pods.deployment import read_pods
from storefront.server.moving.sessions import Sessions
from storefront.server.moving.sides import opened
from tests.customers.factories import PASSWORD
from tests.pods.deployments import HOSTS, POD, SECRET_KEY
from tests.pods.moves import Pods

pytestmark = [
    pytest.mark.proof,
    pytest.mark.timeout(900),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="pods are PostgreSQL databases"),
]
FOUND = "SELECT session_data, expire_date FROM django_session WHERE session_key = %s"
SOON, LATER = (datetime.now(UTC).replace(microsecond=0) + timedelta(days=days) for days in (1, 2))
CUSTOMERS = """
from storefront.shops.models import Shop
from tests.customers.factories import make_customer
for shop in Shop.objects.filter(pk__in=SHOPS):
    make_customer(shop)
"""
# What a browser with these cookies sees at the secure host, and the cookies that it has then.
VISIT = """
import json
from django.test import Client
browser = Client(headers={"host": "secure.test"})
browser.cookies.load(COOKIES)
for domain in SIGNS_IN:
    given = {"email": "ada@example.com", "password": PASSWORD}
    assert browser.post(f"/{domain}/account/sign-in", given).status_code == 303
seen = [browser.get(f"/{domain}/account").status_code for domain in DOMAINS]
print(json.dumps([seen, {name: morsel.value for name, morsel in browser.cookies.items()}]))
"""
SIGNED_IN, SIGNED_OUT = 200, 303


class Browser:
    def __init__(self, pods: Pods) -> None:
        self.pods, self.cookies = pods, {}

    def visit(self, number: int, *shops: dict[str, Any], signs_in: tuple[dict[str, Any], ...] = ()) -> list[int]:
        """Sign in to some shops of this pod, and open the accounts. Returns the statuses of these pages."""
        given = {
            "COOKIES": self.cookies,
            "SIGNS_IN": [shop["domain"] for shop in signs_in],
            "DOMAINS": [shop["domain"] for shop in shops],
            "PASSWORD": PASSWORD,
        }
        script = VISIT
        for name, value in given.items():
            script = script.replace(name, repr(value))
        hosts = {name: value.format(number) for name, value in HOSTS.items()}
        seen, self.cookies = json.loads(self.pods.shell(number, script, **hosts))
        return seen


@pytest.fixture
def pods(movable) -> Pods:
    return movable


@pytest.fixture
def customers(pods, shops) -> tuple[dict[str, Any], dict[str, Any]]:
    """The shops, with a customer each."""
    pods.shell(0, CUSTOMERS.replace("SHOPS", repr([shop["shop"] for shop in shops])))
    return shops


def test_a_session_of_two_shops_goes_on_in_both_while_they_are_in_two_pods(pods, customers):
    shop, other = customers
    browser = Browser(pods)
    assert browser.visit(0, shop, other, signs_in=customers) == [SIGNED_IN, SIGNED_IN]
    pods.move_here(shop["domain"], POD, {})
    assert browser.visit(POD, shop) == [SIGNED_IN]
    assert browser.visit(0, other) == [SIGNED_IN]
    pods.move_here(other["domain"], POD, {})
    assert browser.visit(POD, shop, other) == [SIGNED_IN, SIGNED_IN]


def test_a_browser_with_a_session_of_the_target_goes_on_with_that(pods, customers):
    shop, other = customers
    pods.move_here(shop["domain"], POD, {})
    browser = Browser(pods)
    assert browser.visit(POD, shop, signs_in=(shop,)) == [SIGNED_IN]
    assert browser.visit(0, other, signs_in=(other,)) == [SIGNED_IN]
    pods.move_here(other["domain"], POD, {})
    assert browser.visit(POD, shop, other) == [SIGNED_IN, SIGNED_OUT]


@pytest.mark.parametrize(
    ("here", "there", "expected"),
    [
        # The other shop has moved before, and its part is newer at the target.
        ({"901": "a", "902": "old"}, {"901": "stale", "902": "new"}, {"901": "a", "902": "new"}),
        # This shop's part is gone at the source, for example since the shopper has signed out.
        ({"902": "old"}, {"901": "stale", "902": "new"}, {"902": "new"}),
        # The other shop's part is gone at the target.
        ({"901": "a", "902": "old"}, {}, {"901": "a"}),
    ],
)
def test_a_session_that_the_target_has_gets_the_part_of_the_shop_alone(pods, here, there, expected):
    key = uuid4().hex
    with override_settings(SECRET_KEY=SECRET_KEY), ExitStack() as stack:
        source, target = (stack.enter_context(opened(pod)) for pod in read_pods(pods.listed))
        store(pods, 0, key, {"baskets": here, "seen": {"901": "x"}, "here": 1, "both": "here"}, LATER)
        store(pods, POD, key, {"baskets": there, "there": 2, "both": "there"}, SOON)
        assert Sessions(source, target, 901).copy() == 1
        ((data, until),) = pods.ask(POD, FOUND, [key])
        stored = SessionStore().decode(data)
    assert stored == {"baskets": expected, "seen": {"901": "x"}, "here": 1, "there": 2, "both": "there"}
    assert until == LATER


def store(pods: Pods, number: int, key: str, content: dict[str, Any], until: datetime) -> None:
    pods.ask(number, "INSERT INTO django_session VALUES (%s, %s, %s)", [key, SessionStore().encode(content), until])
