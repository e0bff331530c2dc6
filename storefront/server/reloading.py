"""Starts `storefront serve` again in the same process, with the release and the settings that are there now.

The new program replaces the running one (`exec`), and so keeps its process id, its children and three things that it
finds in an environment variable: the listening socket, the lifeline of the children and their ids. When its own
children accept connections, it lets go of the lifeline, which stops the earlier ones.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence

from storefront.server.lifeline import Lifeline

# Descriptors of the listening socket and the lifeline, then the ids of the children.
VARIABLE = "STOREFRONT_RELOADED_FROM"
# Seconds that the check of a new start may take.
CHECK_SECONDS = 60.0


class Check:
    """A process that loads the program and its settings and looks whether migrations are pending."""

    def __init__(self) -> None:
        self.deadline = time.monotonic() + CHECK_SECONDS
        command = [sys.executable, "-m", "storefront.server.cli", "migrate", "--check", "--verbosity", "0"]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603

    def result(self) -> bool | None:
        """True if a new start would succeed, False if not; None while that is not known."""
        if self.process.poll() is None and time.monotonic() > self.deadline:
            self.process.kill()
            self.process.wait()
        return None if self.process.returncode is None else self.process.returncode == 0


def start_anew(listening: socket.socket, lifeline: Lifeline, children: Sequence[int | None]) -> None:
    """Replace this program. Does not return."""
    kept = (listening.fileno(), lifeline.writer)
    for descriptor in kept:
        os.set_inheritable(descriptor, True)
    os.environ[VARIABLE] = ",".join(map(str, [*kept, *children]))
    # Until the new program handles it, another one would end it.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606


def inherited_listening() -> socket.socket | None:
    """The listening socket, in a program that was started again."""
    given = os.environ.get(VARIABLE)
    if not given:
        return None
    listening = socket.socket(fileno=int(given.split(",")[0]))
    listening.set_inheritable(False)
    return listening


class Previous:
    """The children of the program that this one replaced."""

    def __init__(self, lifeline: int, children: Sequence[int]) -> None:
        self.lifeline, self.children = lifeline, set(children)
        os.set_inheritable(lifeline, False)

    def stop(self) -> None:
        if self.lifeline >= 0:
            os.close(self.lifeline)
            self.lifeline = -1

    def has_ended(self) -> bool:
        for child in list(self.children):
            if os.waitpid(child, os.WNOHANG)[0]:
                self.children.discard(child)
        return not self.children


def take_previous() -> Previous | None:
    """The children of the replaced program, if there is one. Only the first call finds them."""
    given = os.environ.pop(VARIABLE, "")
    if not given:
        return None
    _, lifeline, *children = map(int, given.split(","))
    return Previous(lifeline, children)
