"""How guesses are counted (`shops/throttle.py`): in memory and in Redis alike."""

from datetime import timedelta

import pytest

from storefront.shops import throttle
from storefront.shops.throttle import GUESSES, Backoff, MemoryStore, TooManyTries, begin_try
from tests.races import run_concurrently
from tests.shops.factories import NOW

HOME, ELSEWHERE = "192.0.2.7", "198.51.100.9"


@pytest.fixture(params=["memory", "redis"])
def counted(request, settings):
    settings.REDIS_URL = request.getfixturevalue("redis_url") if request.param == "redis" else None


def guess(account="anna", place=HOME, browser=None, what="staff", after=0):
    return begin_try(what, account=account, place=place, browser=browser, now=NOW + timedelta(seconds=after))


def wait_of(**given) -> int:
    with pytest.raises(TooManyTries) as refused:
        guess(**given)
    return refused.value.retry_after


def test_waits_double_up_to_the_longest():
    backoff = Backoff(free_tries=3, first_wait=60, longest_wait=200)
    assert [backoff.wait_after(tries) for tries in range(1, 8)] == [0, 0, 60, 120, 200, 200, 200]
    assert backoff.wait_after(10**6) == 200


@pytest.mark.parametrize("counters", GUESSES.values(), ids=GUESSES)
def test_no_counter_is_reset_before_it_opens_again(counters):
    for backoff in filter(None, (counters.browser, counters.account_at_place, counters.place, counters.account)):
        assert backoff.forgotten_after >= backoff.longest_wait


@pytest.mark.usefixtures("counted")
class TestCounting:
    def test_after_ten_guesses_each_wait_is_twice_as_long(self):
        for _ in range(10):
            guess()
        assert wait_of() == 60
        assert wait_of(after=59) == 1
        guess(after=60)
        assert wait_of(after=60) == 120
        guess(after=180)
        assert wait_of(after=180) == 240

    def test_a_refused_guess_does_not_lengthen_the_wait(self):
        for _ in range(10):
            guess()
        for _ in range(20):
            assert wait_of() == 60
        guess(after=60)

    def test_accounts_and_places_are_counted_separately(self):
        for _ in range(10):
            guess()
        guess(account="bert")
        guess(place=ELSEWHERE)

    def test_limits_one_place_that_guesses_at_many_accounts(self):
        for number in range(60):
            guess(account=f"nobody-{number}")
        assert wait_of(account="anna") == 60
        guess(account="anna", place=ELSEWHERE)

    def test_limits_guesses_at_one_account_from_many_places(self):
        for number in range(50):
            guess(place=f"203.0.113.{number}")
        assert wait_of(place=ELSEWHERE) == 60

    def test_a_known_browser_has_its_own_counter(self):
        for number in range(50):
            guess(place=f"203.0.113.{number}")
        for number in range(60):
            guess(account=f"nobody-{number}", place=HOME)
        for _ in range(10):
            guess(browser="laptop")
        assert wait_of(browser="laptop") == 60
        guess(browser="phone")

    def test_a_right_guess_does_not_count(self):
        for _ in range(9):
            guess()
        guess().succeed()
        for _ in range(10):
            guess()
        assert wait_of() == 60

    def test_right_guesses_do_not_count_against_the_place(self):
        for _ in range(70):
            guess(account="bert").succeed()
        guess(account="anna")

    def test_a_right_guess_does_not_reset_shared_counters(self):
        for number in range(59):
            guess(account=f"nobody-{number}")
        guess(account="bert").succeed()
        guess(account="anna")
        assert wait_of(account="carl") == 60

    def test_concurrent_guesses_get_no_extra_tries(self):
        results = run_concurrently(*[guess] * 40, refusal=TooManyTries)
        assert sum(not isinstance(result, TooManyTries) for result in results) == 10

    def test_codes_allow_fewer_guesses_than_passwords(self):
        for _ in range(5):
            guess(what="code")
        assert wait_of(what="code") == 60
        guess(what="staff")


def test_counters_are_reset_after_a_day():
    for _ in range(10):
        guess()
    for _ in range(10):
        guess(after=24 * 3600 + 60)


def test_limits_guesses_if_redis_is_away(settings):
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    for _ in range(10):
        guess()
    assert wait_of() == 60


def test_redis_stores_no_names(settings, redis_url):
    from redis import Redis

    settings.REDIS_URL = redis_url
    guess(account="anna@example.com")
    keys = Redis.from_url(redis_url).keys()
    assert len(keys) == 3
    assert not any(b"anna" in key for key in keys)
    # Redis forgets by its own clock.
    assert all(0 < Redis.from_url(redis_url).ttl(key) <= 24 * 3600 for key in keys)


def test_memory_keeps_the_most_recent_names_only(monkeypatch):
    monkeypatch.setattr(MemoryStore, "MAX_KEYS", 30)
    for number in range(200):
        guess(account=f"nobody-{number}", place=f"203.0.113.{number}")
    assert len(throttle.memory_store()._kept) == 30


def test_the_refusal_says_how_long_to_wait():
    assert TooManyTries(61).text == "Too many attempts. Please try again in 2 minutes."
    assert TooManyTries(60).text.endswith("in 1 minute.")
    assert TooManyTries(61).headers == {"Retry-After": "61"}
