"""The retry schedule and the numbers of receivers (R-HOOK-10)."""

from datetime import timedelta
from random import Random

import pytest

from storefront.webhooks.rules import MAX_TRIES, host_of, is_success, next_wait, receiver_of

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
WAITS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR]


@pytest.mark.rule("R-HOOK-10")
@pytest.mark.parametrize(("tries", "wait"), list(enumerate(WAITS, 1)))
def test_waits_follow_the_schedule_with_jitter(tries, wait):
    found = {next_wait(tries, random=Random(seed)) for seed in range(50)}
    assert wait <= min(found) < max(found) <= wait * 1.1


@pytest.mark.rule("R-HOOK-10")
def test_no_wait_after_ten_attempts():
    assert (MAX_TRIES, next_wait(10), next_wait(11)) == (10, None, None)


@pytest.mark.rule("R-HOOK-10")
def test_retry_after_is_honoured_up_to_a_day():
    assert next_wait(1, retry_after=HOUR) == HOUR
    assert next_wait(1, retry_after=48 * HOUR) == 24 * HOUR
    assert next_wait(2, retry_after=SECOND) >= 5 * MINUTE


@pytest.mark.rule("R-HOOK-11")
def test_a_success_is_an_answer_from_200_to_299():
    assert [status for status in (None, 0, 199, 200, 299, 300, 500) if is_success(status)] == [200, 299]


def test_a_receiver_is_an_installation_at_a_host_and_its_port():
    assert receiver_of(1, "https://a.example.com/x?y=1") == receiver_of(1, "https://a.example.com/z")
    others = ("https://b.example.com/x", "https://a.example.com:8443/x", "http://a.example.com/x")
    assert len({receiver_of(1, address) for address in ("https://a.example.com/x", *others)}) == 4
    assert receiver_of(1, "https://a.example.com/x") != receiver_of(2, "https://a.example.com/x")


def test_the_number_of_any_receiver_fits_its_column():
    numbers = [receiver_of(2**31 - 1, f"https://{number}.example.com/") for number in range(100)]
    assert 0 <= min(numbers) < 2**61 < 2**62 < max(numbers) < 2**63


def test_receivers_at_one_host_have_the_same_host_number():
    one, two = (receiver_of(number, "https://a.example.com/x") for number in (1, 2))
    assert host_of(one) == host_of(two) != host_of(receiver_of(1, "https://b.example.com/x"))


def test_the_last_31_bits_of_a_receiver_are_the_installations_id():
    for number in range(20):
        address = f"https://{number}.example.com/"
        assert receiver_of(2**31 + 5, address) == receiver_of(5, address)
        assert receiver_of(5, address) % 2**31 == 5
