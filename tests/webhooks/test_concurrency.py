"""A receiver that hangs uses its own slots of a worker, and no others."""

import pytest

from storefront.webhooks import concurrency
from storefront.webhooks.concurrency import CallLimiter
from storefront.webhooks.rules import receiver_of


def at_own_host(number: int) -> int:
    """A receiver at a host that no other receiver has."""
    return receiver_of(1, f"https://{number}.example.com/")


def at_shared_host(number: int) -> int:
    """A receiver of this installation at a shared host."""
    return receiver_of(number, "https://hooks.example.com/")


def fill(limiter: CallLimiter, receivers) -> int:
    """Begin calls until no slot is free. Returns how many."""
    count = 0
    while slots := limiter.free_slots(receivers):
        for receiver, free in slots.items():
            for _ in range(free):
                limiter.begin(receiver)
            count += free
    return count


def answer(limiter: CallLimiter, receiver: int, *answers: float | None) -> None:
    for seconds in answers:
        limiter.begin(receiver)
        limiter.end(receiver, seconds)


def test_a_new_receiver_gets_one_call():
    assert CallLimiter().free_slots([1, 2]) == {1: 1, 2: 1}


def test_each_fast_answer_raises_the_limit_up_to_a_maximum():
    limiter = CallLimiter()
    answer(limiter, 1, *[0.05] * 200)
    assert limiter.free_slots([1]) == {1: concurrency.FAST_SHARE}


def test_slow_answers_have_a_lower_maximum():
    limiter = CallLimiter()
    answer(limiter, 1, *[2.0] * 200)
    assert limiter.free_slots([1]) == {1: concurrency.SLOW_SHARE}


def test_after_one_time_out_a_receiver_keeps_the_floor_and_stays_proven():
    limiter = CallLimiter()
    answer(limiter, 1, 0.1, None)
    assert limiter.free_slots([1]) == {1: concurrency.FLOOR}
    assert limiter.receivers[1].proven


def test_after_time_outs_in_a_row_a_receiver_gets_one_call():
    limiter = CallLimiter()
    answer(limiter, 1, 0.1, 0.1, 0.1, *[None] * concurrency.MISSES_BEFORE_UNPROVEN)
    assert limiter.free_slots([1]) == {1: 1}
    assert not limiter.receivers[1].proven


def test_an_answer_between_time_outs_keeps_the_receiver_proven():
    limiter = CallLimiter()
    answer(limiter, 1, *[0.1] * 20, None, None, 0.1, None, None)
    assert limiter.receivers[1].proven
    assert limiter.free_slots([1])[1] >= concurrency.FLOOR


def test_a_receiver_that_never_answered_has_no_floor():
    limiter = CallLimiter()
    answer(limiter, 1, None)
    assert limiter.free_slots([1]) == {1: 1}


def test_a_hanging_installation_takes_no_slots_from_another_at_its_host():
    limiter = CallLimiter()
    answer(limiter, at_shared_host(1), *[0.1] * 100)
    fill(limiter, [at_shared_host(1)])
    assert limiter.in_flight == concurrency.FAST_SHARE
    assert limiter.free_slots([at_shared_host(1), at_shared_host(2)]) == {at_shared_host(2): 1}


def test_hanging_receivers_leave_slots_for_those_that_answer():
    limiter = CallLimiter()
    answer(limiter, at_own_host(0), 0.1)
    assert fill(limiter, map(at_own_host, range(1, 5000))) == concurrency.MAX_UNPROVEN
    assert limiter.free_slots([at_own_host(0)]) == {at_own_host(0): 2}
    assert limiter.free_slots([at_own_host(5001)]) == {}


def test_an_app_that_hangs_in_every_shop_leaves_slots_for_others():
    limiter = CallLimiter()
    answer(limiter, at_shared_host(0), 0.1)
    assert fill(limiter, map(at_shared_host, range(1, 5000))) == concurrency.MAX_UNPROVEN_PER_HOST
    assert limiter.free_slots([at_shared_host(0), at_own_host(1)]) == {at_shared_host(0): 2, at_own_host(1): 1}


def test_a_host_that_stops_answering_under_load_leaves_slots_for_others():
    limiter = CallLimiter()
    many = [at_shared_host(number) for number in range(100)]
    for receiver in many:
        answer(limiter, receiver, *[0.1] * 70)
    assert fill(limiter, many) == concurrency.MAX_PER_HOST
    assert limiter.free_slots([at_own_host(1)]) == {at_own_host(1): 1}


def test_receivers_with_high_limits_leave_slots_for_first_calls_of_others():
    limiter = CallLimiter()
    many = [at_own_host(number) for number in range(100)]
    for receiver in many:
        answer(limiter, receiver, *[0.1] * 70)
    fill(limiter, many[:9])
    assert concurrency.MAX_FURTHER - concurrency.FAST_SHARE < limiter.in_flight <= concurrency.MAX_FURTHER
    assert limiter.free_slots([many[-1], at_own_host(200)]).keys() >= {at_own_host(200)}


def test_calls_never_exceed_the_total_limit():
    limiter = CallLimiter()
    many = [at_own_host(number) for number in range(400)]
    for receiver in many:
        answer(limiter, receiver, *[0.1] * 70)
    assert fill(limiter, many) == concurrency.MAX_SENDING


def test_counters_return_to_zero_after_all_calls_end():
    limiter = CallLimiter()
    for receiver, answers in ((1, (0.1, None)), (2, (None, 0.1)), (3, (0.1, 2.0)), (4, (0.1, None, None, None, 0.1))):
        for _ in answers:
            limiter.begin(receiver)
        for seconds in answers:
            limiter.end(receiver, seconds)
    assert (limiter.in_flight, limiter.unproven) == (0, 0)
    assert (limiter.host_in_flight, limiter.host_unproven) == ({}, {})


def test_forgets_idle_receivers(monkeypatch):
    monkeypatch.setattr(concurrency, "MAX_RECEIVERS_REMEMBERED", 10)
    limiter = CallLimiter()
    limiter.begin(99)
    for receiver in range(30):
        answer(limiter, receiver, 0.1)
    assert len(limiter.receivers) <= 11
    assert 99 in limiter.receivers


@pytest.mark.parametrize("installation", [1, 2**31 - 1, 2**40 + 5])
def test_receiver_numbers_fit_the_column(installation):
    assert 0 <= receiver_of(installation, "https://a.example.com/") < 2**63
