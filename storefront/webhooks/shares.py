"""How many calls one worker has on their way at once: to each receiver, to those that may hang, and in all.

A receiver begins with a share of one, and earns more with each answer in good time. So one that hangs holds a single
place until its call times out, and all that hang together hold at most theirs: whoever answers finds a place free.
"""

from collections.abc import Iterable
from dataclasses import dataclass

# Each has a socket, and programs may open 1024 files unless told otherwise.
MOST = 800
# For receivers of which nothing good is known by now.
MOST_UNPROVEN = 600
# Seconds within which an answer counts as fast.
FAST = 1.0
FAST_SHARE, SLOW_SHARE = 64, 4
# Receivers that are remembered while nothing is on its way to them.
REMEMBERED = 10_000


@dataclass(slots=True)
class Share:
    """What one receiver may have on its way, and has. `proven` when its last call was answered."""

    size: int = 1
    taken: int = 0
    proven: bool = False


class Shares:
    def __init__(self) -> None:
        self.of: dict[int, Share] = {}
        self.taken = self.unproven = 0

    def allot(self, receivers: Iterable[int]) -> dict[int, int]:
        """How many more calls each of these may begin now, those with none left out. Takes nothing yet."""
        room, unproven_room = MOST - self.taken, MOST_UNPROVEN - self.unproven
        found = {}
        for receiver in receivers:
            share = self.of.get(receiver) or Share()
            free = min(share.size - share.taken, room if share.proven else min(room, unproven_room))
            if free > 0:
                found[receiver] = free
                room -= free
                unproven_room -= 0 if share.proven else free
        return found

    def begin(self, receiver: int) -> None:
        share = self.of.setdefault(receiver, Share())
        share.taken += 1
        self.taken += 1
        self.unproven += not share.proven

    def end(self, receiver: int, seconds: float | None) -> None:
        """The call is over: answered after so many seconds, or, with None, not at all."""
        share = self.of[receiver]
        self.unproven -= 0 if share.proven else share.taken
        share.taken -= 1
        self.taken -= 1
        share.proven = seconds is not None
        if seconds is None:
            share.size = 1
        else:
            share.size = min(share.size + 1, FAST_SHARE if seconds < FAST else SLOW_SHARE)
        self.unproven += 0 if share.proven else share.taken
        if len(self.of) > REMEMBERED:
            self._forget()

    def _forget(self) -> None:
        """Those to whom nothing is on its way begin anew."""
        self.of = {receiver: share for receiver, share in self.of.items() if share.taken}
