"""Where a try comes from, and how tries are counted (`customers/throttle.py`)."""

import pytest
import time_machine

from storefront.customers.throttle import TooManyTries, count_try, place_of
from tests.shops.factories import NOW


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("", "unknown"),
        ("nonsense", "unknown"),
    ],
)
def test_a_place_is_an_address_or_a_households_network(rf, address, place):
    assert place_of(rf.get("/", REMOTE_ADDR=address)) == place


def test_what_a_visitor_claims_counts_for_nothing_without_a_proxy(rf, settings):
    settings.HTTPS = False
    request = rf.get("/", REMOTE_ADDR="192.0.2.7", HTTP_X_FORWARDED_FOR="198.51.100.1")
    assert place_of(request) == "192.0.2.7"


def test_behind_a_proxy_the_address_that_it_saw_counts(rf, settings):
    settings.HTTPS = True
    request = rf.get("/", REMOTE_ADDR="127.0.0.1", HTTP_X_FORWARDED_FOR="198.51.100.1, 203.0.113.9")
    assert place_of(request) == "203.0.113.9"


def test_tries_are_forgotten_after_a_quarter_of_an_hour(shop):
    def tried() -> None:
        count_try("sign-in", shop=shop, email="ada@example.com", place="192.0.2.7")

    with time_machine.travel(NOW, tick=False) as clock:
        for _ in range(10):
            tried()
        with pytest.raises(TooManyTries) as refused:
            tried()
        assert refused.value.retry_after == 15 * 60
        assert "in 15 minutes" in refused.value.text
        clock.shift(15 * 60 + 1)
        tried()


def test_shops_count_apart_and_an_address_counts_in_any_case(shop, other_shop):
    for email in ("ada@example.com", "ADA@example.com") * 5:
        count_try("sign-in", shop=shop, email=email, place="192.0.2.7")
    with pytest.raises(TooManyTries):
        count_try("sign-in", shop=shop, email="Ada@Example.com", place="192.0.2.8")
    count_try("sign-in", shop=other_shop, email="ada@example.com", place="192.0.2.7")


def test_a_redis_that_is_away_does_not_open_the_door(shop, settings):
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    for _ in range(5):
        count_try("mail", shop=shop, email="ada@example.com", place="192.0.2.7")
    with pytest.raises(TooManyTries):
        count_try("mail", shop=shop, email="ada@example.com", place="192.0.2.7")
