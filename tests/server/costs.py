"""Measures how the cost of a call grows with its input."""

import gc
import time
from collections.abc import Callable
from functools import cache

# Twice the input costs at most this many times as much. A call whose cost grows by the square comes to 4.
MOST = 2.5
# Seconds from which a measurement counts; below, noise is part of it.
MEASURABLE = 0.004
# Runs of which the least counts. Before a call fails, the size is doubled, the runs are more, and all is tried again.
RUNS = (1, 3, 5, 5, 5, 5, 7, 7, 7, 7)

# Calls the parser with an input of this size, made before, so that making it is not measured.
Prepared = Callable[[], object]


def growth(
    prepare: Callable[[int], Prepared], *, first: int = 256, largest: int = 1 << 16, measurable: float = MEASURABLE
) -> float:
    """How many times as much twice the input costs, from a size on that can be measured, at most `largest`. It is the
    least of several sizes, since machines are busy. 1 if the cost stays too small to be measured."""
    keep_memory()
    size, once = first, seconds(prepare(first), 1)
    while once < measurable and size < largest:
        size *= 4
        once = seconds(prepare(size), 1)
    if once < measurable:
        return 1
    least = float("inf")
    # Not above the largest: a parser may refuse what is larger, which costs nothing. Last a smaller one, whose input is
    # in the processor's caches on every machine.
    for runs, each in zip(RUNS, (size, 2 * size, 4 * size, 8 * size, size // 2) * 2, strict=True):
        tried = min(each, largest)
        # Over three doublings: one alone can cross a bound of the memory allocator, or of a cache.
        small, large = prepare(max(tried // 4, 1)), prepare(2 * tried)
        of_small = of_large = float("inf")
        # In turn, so that a machine that becomes busy slows both.
        for _ in range(runs):
            of_small = min(of_small, seconds(small, 3))
            of_large = min(of_large, seconds(large, 1))
        least = min(least, (of_large / of_small) ** (1 / 3))
        if least <= MOST:
            break
    return least


@cache
def keep_memory() -> list[object]:
    """Keeps about 100 MB of memory for small objects with this process, by an object in each of its arenas. Where the
    machine is virtual and busy, a page that is used for the first time costs many times as much as what is written
    there, and a large input needs more of them."""
    return [bytearray(8) for _ in range(1_500_000)][::1_000]


def seconds(call: Prepared, runs: int) -> float:
    """CPU seconds of this thread, the least of these runs."""
    least = float("inf")
    # A collection visits all objects of the tests, whatever the call does.
    gc.disable()
    try:
        for _ in range(runs):
            started = time.thread_time()
            call()
            least = min(least, time.thread_time() - started)
    finally:
        gc.enable()
    return least
