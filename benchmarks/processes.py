"""Runs programs on one core, and reads their CPU time and memory from /proc. Linux only."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

MEBIBYTE = 1024 * 1024
# Seconds that a server may take to start, and to end before it is killed.
START, END = 60, 15


class Broken(Exception):
    """Something to be measured does not work; the message names it."""


@dataclass(frozen=True)
class Cores:
    """One core for the server, another for the load; the same one if there is only one."""

    server: int
    load: int

    @classmethod
    def of_this_machine(cls) -> "Cores":
        allowed = sorted(os.sched_getaffinity(0))
        return cls(allowed[0], allowed[-1])


@dataclass(frozen=True)
class Memory:
    """Resident memory in MiB: the total, and the private part, without mapped files."""

    resident: float
    own: float


def memory(pid: int) -> Memory:
    """Raises ProcessLookupError or FileNotFoundError for a process that has ended."""
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    kibibytes = [int(lines[name].split()[0]) if name in lines else 0 for name in ("VmRSS", "RssAnon")]
    return Memory(*(value / 1024 for value in kibibytes))


def cpu_seconds(pid: int) -> float:
    """CPU time of a process with all its threads, user and system, ended threads included.

    From its CPU clock, which counts nanoseconds; /proc/<pid>/stat has the same time in hundredths of a second. The
    clock's number is computed as in clock_getcpuclockid(3).
    """
    return time.clock_gettime(~pid << 3 | 2)


def family(pid: int) -> list[int]:
    """The process and all its descendants."""
    found = [pid]
    for parent in found:
        for task in Path(f"/proc/{parent}/task").glob("*"):
            with suppress(OSError):
                found += map(int, (task / "children").read_text().split())
    return found


def named(name: str) -> list[int]:
    """Every process of this machine with this name."""
    found = []
    for path in Path("/proc").glob("[0-9]*/comm"):
        with suppress(OSError):
            if path.read_text().strip() == name:
                found.append(int(path.parent.name))
    return found


def busy(cores: Cores, seconds: float = 1.0) -> float:
    """The current use of the busier of the two cores, from 0 to 1, by all programs."""

    def ticks() -> dict[int, tuple[int, int]]:
        found = {}
        for line in Path("/proc/stat").read_text().splitlines():
            name, *values = line.split()
            if name[:3] == "cpu" and name[3:].isdecimal():
                counts = list(map(int, values[:8]))
                found[int(name[3:])] = (sum(counts), counts[3] + counts[4])
        return found

    before = ticks()
    time.sleep(seconds)
    after = ticks()
    shares = []
    for core in {cores.server, cores.load}:
        total, idle = (now - then for now, then in zip(after[core], before[core], strict=True))
        shares.append(1 - idle / total if total else 0.0)
    return max(shares)


@dataclass
class Server:
    """A running web server: where it listens, and what it has cost so far."""

    process: subprocess.Popen[bytes]
    port: int

    def cpu_seconds(self) -> float:
        """CPU time of all its processes. Raises Broken if one of them has ended."""
        try:
            return sum(cpu_seconds(pid) for pid in family(self.process.pid))
        except OSError:
            raise Broken("a process of the server has ended") from None

    def memory(self) -> Memory:
        """Memory of its largest process, which is the one that answers."""
        return max((memory(pid) for pid in family(self.process.pid)), key=lambda found: found.resident)


@contextmanager
def serving(
    command: Sequence[str], *, core: int, port: int, environment: dict[str, str], log: Path
) -> Iterator[Server]:
    """Run a server on this core; yields it once it listens. Always stops it with all its processes at the end."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            ["taskset", "-c", str(core), *command],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        wait_for(process, port, log)
        yield Server(process, port)
    finally:
        stop(process)


def wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START
    while not is_listening(port):
        if process.poll() is not None or time.monotonic() > deadline:
            raise Broken(f"the server did not start; see {log}")
        time.sleep(0.05)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Terminate it, then kill what is left of its process group."""
    process.terminate()
    try:
        process.wait(END)
    except subprocess.TimeoutExpired:
        pass
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
