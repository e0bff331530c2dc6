"""An export in several processes: the chunks in order, and what happens when one of the processes breaks."""

import os
import signal
import subprocess
import sys
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path

import pytest

from storefront.product_files.export_processes import in_processes
from tests.product_files import chunks
from tests.webhooks.factories import wait_until

pytestmark = pytest.mark.slow


def test_chunks_come_in_their_order_however_long_each_takes():
    made = list(in_processes(chunks.slow_first, ([number] for number in range(20)), 3))
    assert [text for text, _ in made] == [f"{number}\n" for number in range(20)]
    assert {process for _, process in made} - {os.getpid()}, "another process than this one"


def test_few_chunks_are_asked_for_before_they_are_needed():
    asked = []
    texts = in_processes(chunks.slow_first, (asked.append(number) or [number] for number in range(100)), 2)
    next(texts)
    assert len(asked) == 5
    texts.close()


def test_an_error_in_a_chunk_is_raised_here_and_ends_the_processes():
    with pytest.raises(ZeroDivisionError):
        list(in_processes(chunks.broken, ([number] for number in range(50)), 2))


def test_a_process_that_is_killed_ends_the_export():
    with pytest.raises(BrokenProcessPool):
        list(in_processes(chunks.killed, ([number] for number in range(50)), 2))


def test_no_process_outlives_the_one_that_started_it():
    starter = subprocess.Popen([sys.executable, "-m", "tests.product_files.chunks"], stdout=subprocess.PIPE, text=True)
    child = int(starter.stdout.readline())
    starter.send_signal(signal.SIGKILL)
    starter.wait(30)
    wait_until(lambda: not _lives(child))


def _lives(process: int) -> bool:
    with suppress(OSError):
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        return state != "Z"
    return False
