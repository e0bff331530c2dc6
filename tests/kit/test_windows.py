"""A moving window lets through what its limit says, no more and no less."""

import pytest
import time_machine

from storefront.kit.windows import Windows
from tests.races import at_once
from tests.shops.factories import NOW


@pytest.fixture
def clock():
    with time_machine.travel(NOW, tick=False) as clock:
        yield clock


def test_it_lets_through_as_many_as_the_limit_says(clock):
    windows = Windows()
    resets_at = NOW.timestamp() + 60
    assert [windows.count("a", 2) for _ in range(3)] == [
        (True, 1, resets_at),
        (True, 0, resets_at),
        (False, 0, resets_at),
    ]


def test_names_are_counted_apart(clock):
    windows = Windows()
    assert [windows.count(name, 1)[0] for name in "aab"] == [True, False, True]


def test_a_call_counts_for_one_minute(clock):
    windows = Windows()
    windows.count("a", 2)
    clock.shift(30)
    windows.count("a", 2)
    clock.shift(29.9)
    assert not windows.count("a", 2)[0]
    clock.shift(0.1)
    assert [windows.count("a", 2)[0] for _ in range(2)] == [True, False]


def test_a_limit_that_was_lowered_says_when_the_next_call_is_let_through(clock):
    windows = Windows()
    for _ in range(4):
        windows.count("a", 4)
        clock.shift(1)
    # Three must leave before one may come: the third did so after two seconds.
    assert windows.count("a", 2) == (False, 0, NOW.timestamp() + 62)
    clock.move_to(NOW.timestamp() + 62)
    assert windows.count("a", 2)[0]


def test_a_limit_of_zero_lets_nothing_through(clock):
    windows = Windows()
    assert windows.count("a", 0) == (False, 0, NOW.timestamp() + 60)
    assert len(windows) == 0


@pytest.mark.parametrize("limit", [1, 40, 400])
def test_threads_get_exactly_what_the_limit_says(limit):
    for _ in range(5):
        windows = Windows()
        passed = at_once(*[lambda windows=windows: [windows.count("a", limit)[0] for _ in range(20)]] * 50)
        assert sum(map(sum, passed)) == limit


def test_nothing_is_kept_of_those_who_went_away(clock):
    windows = Windows()
    for number in range(10_000):
        windows.count(str(number), 5)
    clock.shift(60)
    windows.count("late", 5)
    assert len(windows) == 1


def test_no_more_is_kept_than_was_let_through(clock):
    windows = Windows()
    for _ in range(10_000):
        windows.count("a", 7)
    assert sum(map(len, windows._calls.values())) == 7


def test_a_clock_that_was_put_back_locks_nobody_out(clock):
    windows = Windows()
    windows.count("a", 1)
    clock.shift(-3600)
    assert [windows.count("a", 1)[0] for _ in range(2)] == [True, False]
