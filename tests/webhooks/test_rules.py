"""When a delivery is tried again (decisions: Delivery)."""

from datetime import timedelta
from random import Random

import pytest

from storefront.webhooks.rules import MOST_TRIES, next_wait, receiver_of

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
WAITS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR]


@pytest.mark.parametrize(("tries", "wait"), list(enumerate(WAITS, 1)))
def test_the_waits_are_those_of_the_schedule_with_some_jitter(tries, wait):
    found = {next_wait(tries, random=Random(seed)) for seed in range(50)}
    assert wait <= min(found) < max(found) <= wait * 1.1


def test_after_ten_tries_it_is_given_up():
    assert (MOST_TRIES, next_wait(10), next_wait(11)) == (10, None, None)


def test_a_receiver_that_asks_for_more_patience_gets_it_within_a_day():
    assert next_wait(1, retry_after=HOUR) == HOUR
    assert next_wait(1, retry_after=48 * HOUR) == 24 * HOUR
    assert next_wait(2, retry_after=SECOND) >= 5 * MINUTE


def test_a_receiver_is_a_host_and_its_port():
    assert receiver_of("https://a.example.com/x?y=1") == receiver_of("https://a.example.com/z")
    others = ("https://b.example.com/x", "https://a.example.com:8443/x", "http://a.example.com/x")
    assert len({receiver_of(address) for address in ("https://a.example.com/x", *others)}) == 4
