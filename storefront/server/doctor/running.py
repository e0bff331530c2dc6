import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

Result = TypeVar("Result")


def run_all(jobs: Sequence[Callable[[], Result]], *, seconds: float, at_once: int) -> list[Result | None]:
    """The results of the jobs in their order; None for a job that did not end within `seconds` from now, or that had no
    thread until then. Jobs raise nothing."""
    waiting: SimpleQueue[int] = SimpleQueue()
    for place in range(len(jobs)):
        waiting.put(place)
    results: dict[int, Result] = {}
    deadline = time.monotonic() + seconds

    def work() -> None:
        while time.monotonic() < deadline:
            try:
                place = waiting.get_nowait()
            except Empty:
                return
            results[place] = jobs[place]()

    threads = [Thread(target=work, daemon=True) for _ in range(min(at_once, len(jobs)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(deadline - time.monotonic(), 0))
    return [results.get(place) for place in range(len(jobs))]
