"""The request log's lines for calls of the API, put together by hand: one through the logging pipeline would cost as
much as half the call.

Lines for answers from memory (`server/edge.py`) are also written many at once, since each of them costs as much as the
answer it is about. They appear at most PAUSE later; those of the last PAUSE are lost with a process that is killed, and
the oldest where nobody takes them.
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

import orjson
import structlog

from storefront.server.logs import blot

# Seconds that lines are gathered for.
PAUSE = 0.1
MOST = 20_000
# What pipes and files take in one piece, so that other processes' lines do not end up inside ours.
PIECE = 4096

Line = tuple[float, str, str, str, int, float]

log = structlog.get_logger("storefront.requests")
_log = logging.getLogger("storefront.requests")


def write(*line: float | str | int) -> None:
    """Write this line at once: moment (Unix seconds), request id, method, path, status, milliseconds."""
    if not _log.isEnabledFor(logging.INFO):
        return
    # As in logging: a line that cannot be written is lost, and what it tells of is not.
    with suppress(Exception):
        if sys.stderr.isatty():
            _say(*line)  # type: ignore[arg-type]
        else:
            _put(_json(*line))  # type: ignore[arg-type]


class Lines:
    """Gathers lines, and writes them from a thread of its own that sleeps while there are none."""

    def __init__(self) -> None:
        # Bounded, since whoever reads the log may be slow.
        self.gathered: deque[Line] = deque(maxlen=MOST)
        self.some = threading.Event()
        self.thread: threading.Thread | None = None
        self.writing = threading.Lock()

    def add(self, *line: float | str | int) -> None:
        """Moment (Unix seconds), request id, method, path, status, milliseconds."""
        if not _log.isEnabledFor(logging.INFO):
            return
        self.gathered.append(line)  # type: ignore[arg-type]
        if not self.some.is_set():
            self._wake()

    def flush(self) -> None:
        """Write what is gathered."""
        with self.writing:
            lines = [self.gathered.popleft() for _ in range(len(self.gathered))]
            if sys.stderr.isatty():
                for line in lines:
                    _say(*line)
            else:
                _write([_json(*line) for line in lines])

    def _wake(self) -> None:
        with self.writing:
            if self.thread is None:
                self.thread = threading.Thread(target=self._run, name="access log", daemon=True)
                self.thread.start()
                # Also in a child process of multiprocessing, as the server's are, where atexit is not run.
                Finalize(None, self.flush, exitpriority=0)
        self.some.set()

    def _run(self) -> None:
        pause = threading.Event()
        while self.some.wait():
            pause.wait(PAUSE)
            self.some.clear()
            # The next ones are tried again.
            with suppress(Exception):
                self.flush()


def _say(moment: float, request_id: str, method: str, path: str, status: int, milliseconds: float) -> None:
    """For people at a terminal, who see colours and are in no hurry."""
    with structlog.contextvars.bound_contextvars(request_id=request_id):
        log.info("request", method=method, path=path, status=status, milliseconds=milliseconds)


def _json(moment: float, request_id: str, method: str, path: str, status: int, milliseconds: float) -> str:
    return (
        f'{{"method": {_shown(method)}, "path": {_shown(path)}, "status": {status}, '
        f'"milliseconds": {milliseconds:.1f}, "event": "request", "request_id": "{request_id}", '
        f'"logger": "storefront.requests", "level": "info", '
        f'"timestamp": "{_timestamp(int(moment))}.{int(moment % 1 * 1e6):06}Z"}}\n'
    )


@lru_cache(maxsize=1024)
def _shown(text: str) -> str:
    return orjson.dumps(blot(text)).decode()


@lru_cache(maxsize=4)
def _timestamp(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _write(lines: list[str]) -> None:
    piece: list[str] = []
    size = 0
    for line in lines:
        if size + len(line) > PIECE:
            _put("".join(piece))
            piece, size = [], 0
        piece.append(line)
        size += len(line)
    _put("".join(piece))


def _put(text: str) -> None:
    """To the stream that the log goes to, in turn with its other lines. Handlers that others added, such as test
    tools, have ways of their own with a stream."""
    for handler in logging.getLogger().handlers:
        if type(handler) is logging.StreamHandler and handler.lock and text:
            with handler.lock:
                handler.stream.write(text)
                handler.flush()


lines = Lines()


def _start_anew() -> None:
    """A forked process has the lines of the one it came from, and not the thread."""
    global lines
    lines = Lines()


os.register_at_fork(after_in_child=_start_anew)
