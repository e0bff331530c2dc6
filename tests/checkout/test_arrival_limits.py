"""Limits on the sessions and codes that handovers store for visitors without cookies."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from storefront.checkout import handover_pages
from storefront.server import environment
from storefront.server.worker.sweeps import SWEEPS
from storefront.shops.handover import delete_expired_codes
from storefront.shops.models import HandoverCode
from tests.catalogue.factories import make_product
from tests.shops.factories import NOW
from tests.walker import SECURE, Walker

pytestmark = pytest.mark.usefixtures("apart")

SHOP = "shop.example.com"
WAYS = [(SHOP, "/arrive?next=/"), (SECURE, "/shop.example.com/arrive?next=/checkout")]
HAND_OVERS = [(SHOP, "/hand-over?state=abc"), (SECURE, "/shop.example.com/hand-over?state=abc")]


def limit(settings, text: str) -> None:
    settings.LIMITS = settings.LIMITS | {"arrivals": environment.limits("STOREFRONT_UNSET", text)}


def ask(host: str, url: str, place: str = "192.0.2.1"):
    """A request without a cookie."""
    return Client(headers={"host": host}, REMOTE_ADDR=place).get(url)


@pytest.mark.parametrize(("host", "url"), WAYS + HAND_OVERS)
def test_limits_handovers_from_one_network_address(shop, other_shop, settings, clock, host, url):
    limit(settings, "3/hour")
    answers = [ask(host, url) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [303] * 3 + [429] * 2
    assert Session.objects.count() + HandoverCode.objects.count() == 3
    assert answers[-1]["Retry-After"] == "3600"
    page = answers[-1].content.decode()
    assert "Please try again later" in page
    assert "Please try again in 60 minutes." in page
    assert "This link does not work" not in page
    assert answers[-1]["Cache-Control"] == "no-store"
    assert ask(host, url, place="192.0.2.2").status_code == 303
    # Each shop has its own limit.
    assert ask(*(text.replace(SHOP, other_shop.domain) for text in (host, url))).status_code == 303
    clock.shift(3601)
    assert ask(host, url).status_code == 303


def test_both_handover_pages_share_one_limit(shop, settings):
    limit(settings, "2/hour")
    assert [ask(*each).status_code for each in (WAYS[0], HAND_OVERS[0], WAYS[1])] == [303, 303, 429]


def test_expired_codes_are_deleted_every_minute(shop):
    (sweep,) = [each for each in SWEEPS if each.batch is delete_expired_codes]
    assert sweep.every <= timedelta(minutes=1)


@pytest.mark.parametrize(("host", "url"), WAYS)
def test_session_with_only_a_handover_ends_within_an_hour(shop, clock, host, url):
    answer = ask(host, url)
    session = Session.objects.get()
    assert set(session.get_decoded()) == {handover_pages.ARRIVALS}
    assert session.expire_date == NOW + timedelta(hours=1)
    (cookie,) = [each for name, each in answer.cookies.items() if "session" in name]
    assert cookie["max-age"] == 3600


def test_session_with_other_data_keeps_its_lifetime(shop, clock):
    walker = Walker(shop)
    walker.ask(f"https://{SHOP}/arrive?next=/")
    walker.add(make_product(shop, "Mug", stock_qty=9))
    # At the next full hour.
    assert Session.objects.get().expire_date == NOW + timedelta(days=14, minutes=30)
    clock.shift(60)
    walker.ask(f"https://{SHOP}/arrive?next=/")
    assert Session.objects.get().expire_date == NOW + timedelta(days=14, minutes=30)
    cookie = walker.browser(SHOP).cookies["storefront_session"]
    assert cookie["max-age"] == 14 * 24 * 3600
