"""Runs the `storefront` script as a program, with its own environment variables."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

STOREFRONT = str(Path(sys.executable).with_name("storefront"))
# Seconds that a command may take: less than a test may, and enough on a machine that is busy with others.
PATIENCE = 240
OURS = ("STOREFRONT_", "DATABASE_", "SECRET_KEY", "EMAIL_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE")


def clean_environment(**given: str) -> dict[str, str]:
    """This process's environment variables without our settings, except those given."""
    return {name: value for name, value in os.environ.items() if not name.startswith(OURS)} | given


def storefront(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command and wait for its end."""
    return subprocess.run(
        [STOREFRONT, *arguments],
        env=clean_environment(**environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@contextmanager
def running(*arguments: str, log: Path, **environment: str) -> Iterator[subprocess.Popen]:
    """Run a command until the end of the block, then stop it and kill its remaining processes."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [STOREFRONT, *arguments],
            env=clean_environment(**environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_until(condition, *, what: str, process: subprocess.Popen | None = None, seconds: float = 90):
    """Poll the condition until it is true, and return its value. Fails if the process ends or the time is over."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert process is None or process.poll() is None, f"the program ended before {what} came true"
        assert time.monotonic() < deadline, f"{what} did not come true in {seconds} s"
        time.sleep(0.05)
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
