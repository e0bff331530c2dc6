"""Limits how many calls one worker has in flight: to each receiver, to each host, to unproven receivers, and in all
(R-HOOK-15).

A receiver is an installation at a host and port (`rules.receiver_of`), so apps that share a host have separate limits.
A receiver's limit starts at one call and grows by one with each answer. A receiver that does not answer falls back to
one call, but not after a single time-out: until MISSES_BEFORE_UNPROVEN calls in a row had no answer, its limit stays at
FLOOR or above.

A receiver's calls beyond FLOOR may use half of its host's slots and three quarters of all slots. The rest is reserved
for the first calls of other receivers, so that no receiver uses all slots, nor does a host that stops answering under
load.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from storefront.webhooks.rules import host_of

# Each call needs a socket, and a process may open 1024 files by default.
MAX_SENDING, MAX_FURTHER = 800, 600
# Calls to all unproven receivers together.
MAX_UNPROVEN = 600
# The limits for all receivers at one host: all calls, calls beyond FLOOR, calls to unproven receivers.
MAX_PER_HOST, MAX_FURTHER_PER_HOST, MAX_UNPROVEN_PER_HOST = 200, 100, 100
# Seconds within which an answer counts as fast.
FAST_SECONDS = 1.0
# The highest limit of a receiver whose last answer was fast, and of one whose last answer was slow.
FAST_SHARE, SLOW_SHARE = 64, 4
# The lowest limit of a proven receiver, and the calls in a row without an answer after which it is unproven.
FLOOR, MISSES_BEFORE_UNPROVEN = 2, 3
# Receivers that are remembered while they have no call in flight.
MAX_RECEIVERS_REMEMBERED = 10_000


@dataclass(slots=True)
class ReceiverLimit:
    """One receiver's limit and its calls in flight. It is proven from its first answer until `misses`, the number of
    calls in a row without an answer, reaches MISSES_BEFORE_UNPROVEN."""

    limit: int = 1
    in_flight: int = 0
    misses: int = 0
    proven: bool = False


class CallLimiter:
    def __init__(self) -> None:
        self.receivers: dict[int, ReceiverLimit] = {}
        self.in_flight = self.unproven = 0
        self.host_in_flight: Counter[int] = Counter()
        self.host_unproven: Counter[int] = Counter()

    def free_slots(self, receivers: Iterable[int]) -> dict[int, int]:
        """How many more calls to each of these receivers may begin now, if all of them do. Receivers without a free
        slot are left out. Reserves nothing."""
        trial = CallLimiter()
        trial.in_flight, trial.unproven = self.in_flight, self.unproven
        trial.host_in_flight, trial.host_unproven = self.host_in_flight.copy(), self.host_unproven.copy()
        found = {}
        for receiver in receivers:
            state = self.receivers.get(receiver) or ReceiverLimit()
            if state.in_flight >= state.limit:
                continue
            free = trial._free_slots_of(state, host_of(receiver))
            if free > 0:
                found[receiver] = free
                trial._count(host_of(receiver), state, free)
        return found

    def _free_slots_of(self, state: ReceiverLimit, host: int) -> int:
        free = min(MAX_SENDING - self.in_flight, MAX_PER_HOST - self.host_in_flight[host])
        if not state.proven:
            free = min(free, MAX_UNPROVEN - self.unproven, MAX_UNPROVEN_PER_HOST - self.host_unproven[host])
        first = min(state.limit, FLOOR) - state.in_flight
        further = min(
            state.limit - state.in_flight,
            MAX_FURTHER - self.in_flight,
            MAX_FURTHER_PER_HOST - self.host_in_flight[host],
        )
        return min(free, max(first, further))

    def begin(self, receiver: int) -> None:
        """Count a call that begins."""
        state = self.receivers.setdefault(receiver, ReceiverLimit())
        state.in_flight += 1
        self._count(host_of(receiver), state, 1)

    def end(self, receiver: int, seconds: float | None) -> None:
        """Count a call that ended: answered after `seconds`, or, if that is None, not answered."""
        state, host = self.receivers[receiver], host_of(receiver)
        # The receiver may become proven or unproven, so all its calls are counted again.
        self._count(host, state, -state.in_flight)
        state.in_flight -= 1
        self._adjust_limit(state, seconds)
        self._count(host, state, state.in_flight)
        if not self.host_in_flight[host]:
            del self.host_in_flight[host], self.host_unproven[host]
        if len(self.receivers) > MAX_RECEIVERS_REMEMBERED:
            self._forget_idle()

    def _adjust_limit(self, state: ReceiverLimit, seconds: float | None) -> None:
        if seconds is not None:
            state.proven, state.misses = True, 0
            state.limit = min(state.limit + 1, FAST_SHARE if seconds < FAST_SECONDS else SLOW_SHARE)
            return
        state.misses += 1
        if state.misses >= MISSES_BEFORE_UNPROVEN:
            state.proven = False
        state.limit = max(state.limit // 2, FLOOR) if state.proven else 1

    def _count(self, host: int, state: ReceiverLimit, calls: int) -> None:
        self.in_flight += calls
        self.host_in_flight[host] += calls
        if not state.proven:
            self.unproven += calls
            self.host_unproven[host] += calls

    def _forget_idle(self) -> None:
        """Forget receivers without a call in flight; their limits start from one again."""
        self.receivers = {receiver: state for receiver, state in self.receivers.items() if state.in_flight}
