"""Ends processes whose parent has died, however it died.

A lifeline is a pipe. The parent alone holds its writing end, which the system closes when the parent dies; a thread of
each child waits for that.
"""

import os
import signal
import time
from threading import Thread


class Lifeline:
    """Made by the parent before it forks. Both ends are descriptors."""

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()

    def follow(self, grace_seconds: float) -> None:
        """Called by a child, once: when the parent has died, stop this process as SIGTERM does, and kill it if it has
        not ended `grace_seconds` later."""
        os.close(self.writer)
        Thread(target=self._wait, args=(grace_seconds,), name="lifeline", daemon=True).start()

    def _wait(self, grace_seconds: float) -> None:
        os.read(self.reader, 1)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(grace_seconds)
        os.kill(os.getpid(), signal.SIGKILL)
