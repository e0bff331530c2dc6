"""Programs that run for as long as the one that started them."""

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks.processes import cpu_seconds, family

# Seconds that a program may take to end before it is killed; `serve` and `worker` need ten at most.
END_SECONDS = 15
# As deploy/systemd has it.
RESTART_SECONDS = 2.0
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Lines of a log that an error shows.
SHOWN_LINES = 8


class Failed(Exception):
    """A program does not do what it is needed for. The message names it, and has the last lines of its log."""


class Ended(Exception):
    """Somebody ends this command, by Ctrl-C or a signal."""


def end_on_signals() -> None:
    """Have the first of these signals raise Ended, so that all is ended in order. Later ones change nothing then."""

    def end(_number: int, _frame: object) -> None:
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)
        raise Ended

    for number in ENDING:
        signal.signal(number, end)


class Program:
    """Started again `again_seconds` after it has ended, as systemd does it with `Restart=always`.

    `end` is the signal that ends it. The system sends that to the program, too, if the thread that started it ends,
    however that happens: so start it in one that lives as long as the program should.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        log: Path,
        environment: Mapping[str, str],
        *,
        user: str = "",
        end: signal.Signals = signal.SIGTERM,
        again_seconds: float = RESTART_SECONDS,
    ) -> None:
        self.name, self.log, self.environment = name, log, environment
        self.end, self.again_seconds = end, again_seconds
        dies_with_us = ["setpriv", "--pdeathsig", end.name.removeprefix("SIG"), *as_user(user), "--"]
        self.command = [*dies_with_us, *map(str, command)]
        self.process: subprocess.Popen[bytes] | None = None
        self._ended_at: float | None = None
        # CPU seconds of starts before this one, and of this one when it was looked at last.
        self._spent_before, self._spent = 0.0, 0.0

    @property
    def pid(self) -> int:
        assert self.process, f"{self.name} was not started"
        return self.process.pid

    def start(self) -> None:
        self._ended_at = None
        self._spent_before, self._spent = self._spent_before + self._spent, 0.0
        with self.log.open("ab") as log:
            # A session of its own: Ctrl-C reaches us alone, and we end the programs in their order.
            self.process = subprocess.Popen(
                self.command,
                env=dict(self.environment),
                cwd=self.log.parents[1],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def has_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def tend(self, now: float) -> bool:
        """Start it again if it ended long enough ago. `now` is time.monotonic(). Returns True if it was started."""
        if not self.has_ended():
            return False
        if self._ended_at is None:
            self._ended_at = now
        if now - self._ended_at < self.again_seconds:
            return False
        self.start()
        return True

    def spent(self) -> float:
        """CPU seconds of all its processes so far. Those since the last look are lost when it is killed."""
        if not self.has_ended():
            with suppress(OSError):
                self._spent = max(self._spent, sum(map(cpu_with_children, family(self.pid))))
        return self._spent_before + self._spent

    def kill(self) -> None:
        """Kill it with all that it has started. It then counts as ended like any other program."""
        if self.has_ended():
            return
        for pid in family(self.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert self.process
        self.process.wait(END_SECONDS)


def cpu_with_children(pid: int) -> float:
    """CPU seconds of the process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return cpu_seconds(pid) + (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def as_user(user: str) -> list[str]:
    """Options of setpriv by which a command runs as another user; none for this one's own."""
    return [f"--reuid={user}", f"--regid={user}", "--init-groups"] if user else []


def stop(programs: Iterable[Program]) -> None:
    """End these programs together, and kill what is left of them after END_SECONDS."""
    running = [program for program in programs if not program.has_ended()]
    for program in running:
        with suppress(ProcessLookupError):
            os.kill(program.pid, program.end)
    deadline = time.monotonic() + END_SECONDS
    for program in running:
        assert program.process
        with suppress(subprocess.TimeoutExpired):
            program.process.wait(max(0.1, deadline - time.monotonic()))
        program.kill()


def run(command: Sequence[str | Path], environment: Mapping[str, str], *, seconds: float, cwd: Path) -> str:
    """The output of a command that ends by itself. Raises Failed with what it wrote if it fails."""
    name = " ".join(map(str, command[:2]))
    try:
        done = subprocess.run(
            [str(part) for part in command],
            env=dict(environment),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{name} did not end within {seconds:.0f} s") from None
    if done.returncode:
        raise Failed(f"{name} failed:\n{last_lines(done.stderr or done.stdout)}")
    return done.stdout


def last_lines(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.strip().splitlines()[-SHOWN_LINES:])
