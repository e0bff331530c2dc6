"""A sliding window allows exactly as many calls as its limit."""

import sys

import pytest
import time_machine

from storefront.kit.windows import Windows
from tests.races import run_concurrently
from tests.shops.factories import NOW


@pytest.fixture
def clock():
    with time_machine.travel(NOW, tick=False) as clock:
        yield clock


@pytest.fixture
def switching():
    """Threads take turns so often that each meets another within a call."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_allows_as_many_calls_as_the_limit(clock):
    windows = Windows()
    resets_at = NOW.timestamp() + 60
    assert [windows.count("a", 2) for _ in range(3)] == [
        (True, 1, resets_at),
        (True, 0, resets_at),
        (False, 0, resets_at),
    ]


def test_names_are_counted_separately(clock):
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


def test_a_lowered_limit_reports_when_the_next_call_is_allowed(clock):
    windows = Windows()
    for _ in range(4):
        windows.count("a", 4)
        clock.shift(1)
    # Three must leave before one may come: the third did so after two seconds.
    assert windows.count("a", 2) == (False, 0, NOW.timestamp() + 62)
    clock.move_to(NOW.timestamp() + 62)
    assert windows.count("a", 2)[0]


def test_a_limit_of_zero_allows_nothing(clock):
    windows = Windows()
    assert windows.count("a", 0) == (False, 0, NOW.timestamp() + 60)
    assert len(windows) == 0


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 40, 400])
def test_threads_together_get_exactly_the_limit(limit, switching):
    for _ in range(20):
        windows = Windows()
        passed = run_concurrently(*[lambda windows=windows: [windows.count("a", limit)[0] for _ in range(20)]] * 50)
        assert sum(map(sum, passed)) == limit


def test_drops_names_without_recent_calls(clock):
    windows = Windows()
    for number in range(10_000):
        windows.count(str(number), 5)
    clock.shift(60)
    windows.count("late", 5)
    assert len(windows) == 1


def test_stores_only_allowed_calls(clock):
    windows = Windows()
    for _ in range(10_000):
        windows.count("a", 7)
    assert sum(map(len, windows._calls.values())) == 7


def test_a_clock_set_back_blocks_nobody(clock):
    windows = Windows()
    windows.count("a", 1)
    clock.shift(-3600)
    assert [windows.count("a", 1)[0] for _ in range(2)] == [True, False]


def test_a_window_can_be_longer_than_a_minute(clock):
    windows = Windows(3600)
    assert windows.count("a", 1) == (True, 0, NOW.timestamp() + 3600)
    clock.shift(3599)
    assert not windows.count("a", 1)[0]
    clock.shift(1)
    assert windows.count("a", 1)[0]


def test_peeking_counts_nothing_and_stores_no_name(clock):
    windows = Windows()
    assert [windows.count("a", 1, peek=True)[0] for _ in range(3)] == [True] * 3
    assert len(windows) == 0
    windows.count("a", 1)
    assert windows.count("a", 1, peek=True) == (False, 0, NOW.timestamp() + 60)


def test_stores_at_most_the_allowed_number_of_names(clock):
    windows = Windows(3600, most_names=3)
    for name in "abacd":
        windows.count(name, 9)
    assert len(windows) == 3
    # The one that called longest ago was forgotten.
    assert [windows.count(name, 9, peek=True)[1] for name in "acdb"] == [7, 8, 8, 9]
