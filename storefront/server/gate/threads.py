"""Threads that run requests in the order of their arrival, and let none wait for too long."""

import threading
import time
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

import structlog

from storefront.kit import metrics

log = structlog.get_logger(__name__)

# Requests that may wait for each thread, and seconds after which a waiting request is rejected.
MAX_WAITING, MAX_WAIT_SECONDS = 50, 10

# The time on the monotonic clock until which the job may wait, the job, and what rejects it.
Waiting = tuple[float, Callable[[], None], Callable[[], None]]


class ThreadPool:
    """A fixed number of threads."""

    def __init__(self, name: str, size: int) -> None:
        self.waits = metrics.THREAD_WAITS.labels(name)
        self.waiting: deque[Waiting] = deque()
        # One turn for each waiting job. A thread whose turn finds no job, since it was rejected, waits for the next.
        self.turns: SimpleQueue[None] = SimpleQueue()
        self.most_waiting = size * MAX_WAITING
        for number in range(size):
            threading.Thread(target=self._run, name=f"{name} {number + 1}", daemon=True).start()

    def enqueue(self, job: Callable[[], None], reject: Callable[[], None]) -> bool:
        """Run the job when a thread is free, or reject it if that takes too long. False if too many wait already."""
        if len(self.waiting) >= self.most_waiting:
            return False
        self.waiting.append((time.monotonic() + MAX_WAIT_SECONDS, job, reject))
        self.turns.put(None)
        return True

    def reject_overdue(self, now: float) -> None:
        """Reject the jobs that have waited too long, which are the first in the queue."""
        while self.waiting and self.waiting[0][0] < now:
            try:
                first = self.waiting.popleft()
            except IndexError:
                return
            if first[0] < now:
                first[2]()
                continue
            # A thread has taken the overdue one meanwhile.
            self.waiting.appendleft(first)
            self.turns.put(None)

    def _run(self) -> None:
        while True:
            self.turns.get()
            try:
                deadline, job, reject = self.waiting.popleft()
            except IndexError:
                continue
            late = time.monotonic() - deadline
            self.waits.observe(max(MAX_WAIT_SECONDS + late, 0.0))
            try:
                (job if late <= 0 else reject)()
            except BaseException as error:
                log.error("request_lost", exc_info=error)
            # Release what the job refers to before waiting for the next one.
            del job, reject
