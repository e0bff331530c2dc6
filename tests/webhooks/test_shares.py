"""A receiver that hangs holds its own share of a worker, and no more."""

from storefront.webhooks import shares
from storefront.webhooks.shares import Shares


def fill(found: Shares, receivers) -> int:
    """Begin whatever is allotted: how many calls."""
    count = 0
    while given := found.allot(receivers):
        for receiver, free in given.items():
            for _ in range(free):
                found.begin(receiver)
            count += free
    return count


def test_a_receiver_of_which_nothing_is_known_gets_one_call():
    assert Shares().allot([1, 2]) == {1: 1, 2: 1}


def test_each_fast_answer_earns_another_up_to_a_bound():
    found = Shares()
    for _ in range(200):
        found.begin(1)
        found.end(1, 0.05)
    assert found.allot([1]) == {1: shares.FAST_SHARE}


def test_slow_answers_earn_less():
    found = Shares()
    for _ in range(200):
        found.begin(1)
        found.end(1, 2.0)
    assert found.allot([1]) == {1: shares.SLOW_SHARE}


def test_a_call_without_an_answer_costs_all_but_one():
    found = Shares()
    for seconds in (0.1, 0.1, 0.1, None):
        found.begin(1)
        found.end(1, seconds)
    assert found.allot([1]) == {1: 1}


def test_all_that_hang_leave_room_for_whoever_answers():
    found = Shares()
    found.begin(0)
    found.end(0, 0.1)
    assert fill(found, range(1, 5000)) == shares.MOST_UNPROVEN
    assert found.allot([0]) == {0: 2}
    assert found.allot([5001]) == {}


def test_nothing_is_begun_beyond_the_most():
    found = Shares()
    for receiver in range(100):
        for _ in range(70):
            found.begin(receiver)
            found.end(receiver, 0.1)
    assert fill(found, range(100)) == shares.MOST


def test_the_books_balance_when_receivers_turn_well_and_bad():
    found = Shares()
    for receiver, answers in ((1, (0.1, None)), (2, (None, 0.1)), (3, (0.1, 2.0))):
        for _ in answers:
            found.begin(receiver)
        for seconds in answers:
            found.end(receiver, seconds)
    assert (found.taken, found.unproven) == (0, 0)


def test_receivers_that_nothing_is_on_its_way_to_are_forgotten_some_day(monkeypatch):
    monkeypatch.setattr(shares, "REMEMBERED", 10)
    found = Shares()
    found.begin(99)
    for receiver in range(30):
        found.begin(receiver)
        found.end(receiver, 0.1)
    assert len(found.of) <= 11
    assert 99 in found.of
