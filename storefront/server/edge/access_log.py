"""The request log's lines for API calls, formatted by hand: the logging pipeline would take half as long as the call.

Lines for answers from memory (`edge.py`) are also buffered and written in batches, since writing one takes as long as
the answer. They appear at most PAUSE_SECONDS later. A killed process loses the lines of its last PAUSE_SECONDS; if the
log is not read fast enough, the oldest lines are dropped.
"""

import logging
import os
import sys
import threading
from collections import deque
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from multiprocessing.util import Finalize
from typing import NamedTuple

import orjson
import structlog

from storefront.server.logs import redact

# Seconds for which lines are buffered.
PAUSE_SECONDS = 0.1
# Lines that are buffered at most.
MAX_WAITING_LINES = 20_000
# Bytes that a pipe or file takes in one write, so that other processes' lines do not end up inside ours.
PIECE_BYTES = 4096

# A line as it is passed and buffered, since making a `Line` of it would delay the answer.
Values = tuple[float, str, str, str, int, float, str, str]


class Line(NamedTuple):
    """`time` in Unix seconds; the shop's domain and the caller are empty if they are not known."""

    time: float
    request_id: str
    method: str
    path: str
    status: int
    milliseconds: float
    shop: str = ""
    caller: str = ""


log = structlog.get_logger("storefront.requests")
_log = logging.getLogger("storefront.requests")


def write(*line: float | str | int) -> None:
    """Write a line immediately. The arguments are those of `Line`."""
    if not _log.isEnabledFor(logging.INFO):
        return
    # As in logging: a line that cannot be written must not fail the request.
    with suppress(Exception):
        if sys.stderr.isatty():
            _log_for_terminal(Line(*line))  # type: ignore[arg-type]
        else:
            _write_to_stream(_json_line(Line(*line)))  # type: ignore[arg-type]


class LineBuffer:
    """Buffers lines and writes them from its own thread, which sleeps while there are none."""

    def __init__(self) -> None:
        # Bounded, since the reader of the log may be slow.
        self.pending: deque[Values] = deque(maxlen=MAX_WAITING_LINES)
        self.has_pending = threading.Event()
        self.thread: threading.Thread | None = None
        self.write_lock = threading.Lock()

    def add(self, *line: float | str | int) -> None:
        """Buffer a line. The arguments are those of `Line`."""
        if not _log.isEnabledFor(logging.INFO):
            return
        self.pending.append(line)  # type: ignore[arg-type]
        if not self.has_pending.is_set():
            self._wake_thread()

    def flush(self) -> None:
        """Write all buffered lines."""
        with self.write_lock:
            lines = [Line(*self.pending.popleft()) for _ in range(len(self.pending))]
            if sys.stderr.isatty():
                for line in lines:
                    _log_for_terminal(line)
            else:
                _write_batches([_json_line(line) for line in lines])

    def _wake_thread(self) -> None:
        with self.write_lock:
            if self.thread is None:
                self.thread = threading.Thread(target=self._run, name="access log", daemon=True)
                self.thread.start()
                # Unlike atexit, this also runs in child processes of multiprocessing, as the server's are.
                Finalize(None, self.flush, exitpriority=0)
        self.has_pending.set()

    def _run(self) -> None:
        pause = threading.Event()
        while self.has_pending.wait():
            pause.wait(PAUSE_SECONDS)
            self.has_pending.clear()
            # Lines that cannot be written are lost; the thread goes on with the next ones.
            with suppress(Exception):
                self.flush()


def _log_for_terminal(line: Line) -> None:
    """Through the logging pipeline, for people at a terminal, who see colours."""
    named = {name: value for name, value in (("shop", line.shop), ("caller", line.caller)) if value}
    with structlog.contextvars.bound_contextvars(request_id=line.request_id, **named):
        log.info("request", method=line.method, path=line.path, status=line.status, milliseconds=line.milliseconds)


def _json_line(line: Line) -> str:
    """The line as the pipeline writes it. By hand, since Python's JSON takes a seventh of an answer's time for it."""
    return (
        f'{{"method": {_json_string(line.method)}, "path": {_json_string(line.path)}, "status": {line.status}, '
        f'"milliseconds": {line.milliseconds:.1f}, "event": "request", "request_id": "{line.request_id}", '
        f"{_who(line.shop, line.caller)}"
        f'"logger": "storefront.requests", "level": "info", '
        f'"timestamp": "{_timestamp(int(line.time))}.{int(line.time % 1 * 1e6):06}Z"}}\n'
    )


@lru_cache(maxsize=1024)
def _who(shop: str, caller: str) -> str:
    """The members of the shop and the caller, as far as they are known."""
    named = (("shop", shop), ("caller", caller))
    return "".join(f'"{name}": {_json_string(value)}, ' for name, value in named if value)


@lru_cache(maxsize=1024)
def _json_string(text: str) -> str:
    return orjson.dumps(redact(text)).decode()


@lru_cache(maxsize=4)
def _timestamp(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _write_batches(lines: list[str]) -> None:
    """Write the lines in batches of at most PIECE_BYTES bytes."""
    batch: list[str] = []
    size = 0
    for line in lines:
        if size + len(line) > PIECE_BYTES:
            _write_to_stream("".join(batch))
            batch, size = [], 0
        batch.append(line)
        size += len(line)
    _write_to_stream("".join(batch))


def _write_to_stream(text: str) -> None:
    """Write to the log's stream, under the handler's lock. Handlers of other classes, such as those that test tools
    add, are skipped."""
    for handler in logging.getLogger().handlers:
        if type(handler) is logging.StreamHandler and handler.lock and text:
            with handler.lock:
                handler.stream.write(text)
                handler.flush()


buffer = LineBuffer()


def _reset_after_fork() -> None:
    """A forked process inherits its parent's lines, but not the thread."""
    global buffer
    buffer = LineBuffer()


os.register_at_fork(after_in_child=_reset_after_fork)
