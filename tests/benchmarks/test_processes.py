"""CPU time and memory of a process and its children, read from the kernel."""

import os
import subprocess
import sys
import time

import pytest

from benchmarks import processes
from benchmarks.processes import Broken
from tests.server.programs import wait_until

pytestmark = pytest.mark.slow

LISTENER = """
import socket, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
with socket.create_server(("127.0.0.1", int(sys.argv[1]))):
    time.sleep(60)
"""


def serving(log, port, code=LISTENER):
    command = [sys.executable, "-c", code, str(port)]
    core = min(os.sched_getaffinity(0))
    return processes.serving(command, core=core, port=port, environment=dict(os.environ), log=log)


def test_cpu_time_is_that_of_the_process_clock():
    before, counted = time.process_time(), processes.cpu_seconds(os.getpid())
    after = time.process_time()
    assert before <= counted <= after


def test_a_process_that_ended_has_no_cpu_time():
    ended = subprocess.Popen(["true"])
    ended.wait()
    with pytest.raises(OSError):
        processes.cpu_seconds(ended.pid)


def test_a_server_is_on_its_core_and_ends_with_its_children(tmp_path):
    port = processes.free_port()
    with serving(tmp_path / "log", port) as server:
        pids = processes.family(server.process.pid)
        assert len(pids) == 2
        assert {core for pid in pids for core in os.sched_getaffinity(pid)} == {min(os.sched_getaffinity(0))}
        assert server.cpu_seconds() > 0
        assert server.memory().resident > server.memory().own > 1
    assert not processes.is_listening(port)
    assert server.process.poll() is not None
    # The child is killed, too: it is gone, or a zombie until init collects it.
    wait_until(lambda: all(state(pid) in ("", "Z") for pid in pids), what="the end of the child")


def test_the_server_ends_when_the_measurement_fails(tmp_path):
    port = processes.free_port()
    with pytest.raises(Broken), serving(tmp_path / "log", port) as server:
        raise Broken("wrk said nothing")
    assert server.process.poll() is not None


def test_a_server_that_does_not_start_is_broken(tmp_path):
    with pytest.raises(Broken, match="did not start"), serving(tmp_path / "log", processes.free_port(), "1 / 0"):
        pass
    assert "ZeroDivisionError" in (tmp_path / "log").read_text()


def state(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""
