"""What the processes of an export write in tests."""

import os
import signal
import sys
import time

from storefront.product_files.export_processes import Text, in_processes


def slow_first(chunk: list[int]) -> Text:
    """Takes longest for chunks that others wait for."""
    time.sleep(0.02 if chunk[0] % 3 == 0 else 0)
    return f"{chunk[0]}\n", os.getpid()


def broken(chunk: list[int]) -> Text:
    return f"{1 / (chunk[0] - 10)}", 1


def killed(chunk: list[int]) -> Text:
    if chunk[0] == 10:
        os.kill(os.getpid(), signal.SIGKILL)
    return slow_first(chunk)


def endless() -> object:
    while True:
        yield [1]


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    for _, process in in_processes(slow_first, endless(), 2):
        sys.stdout.write(f"{process}\n")
        sys.stdout.flush()
