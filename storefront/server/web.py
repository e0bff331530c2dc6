"""The web server: Granian, which passes requests to the gate, in its own process beside the worker's."""

import ctypes
import math
import resource
import signal
import socket
from asyncio import AbstractEventLoop
from collections.abc import Callable
from typing import Any

from django.conf import settings
from granian import _signals
from granian._granian import CallbackScheduler, SocketHolder, WorkerSignal
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import mp

from storefront.server import environment, logs
from storefront.server.accepting import BACKLOG, stop_accepting
from storefront.server.lifeline import Lifeline

# Seconds that a web process has to finish running requests after a stop signal.
STOP_GRACE_SECONDS = 8
# Milliseconds in which the request line and headers must arrive, counted from when the connection is idle.
HEADERS_TIMEOUT_MS = 5_000
# Open connections of a web process, and the descriptors that it needs itself: databases, logs, libraries.
MAX_CONNECTIONS, OWN_DESCRIPTORS = 4096, 128
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
# Seconds from the stop signal, after which a process accepts no more connections, until it ends the open ones. Those
# that it has just accepted send their first request meanwhile, and after each response the connection is closed.
DRAIN_SECONDS = 0.5

# Options from glibc's <malloc.h>, and their value in bytes.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
LARGE_BYTES = 128 * 1024


class Scheduler(CallbackScheduler):
    """Granian's way from a request to the event loop, cut short: its thread calls `accept_request` with each."""

    def __new__(cls, loop: AbstractEventLoop, accept_request: Callable[[Any], None]) -> "Scheduler":
        return super().__new__(cls, loop, accept_request, None, None, None)  # type: ignore[call-arg]

    def __init__(self, _loop: AbstractEventLoop, accept_request: Callable[[Any], None]) -> None:
        super().__init__()
        self._schedule_fn = accept_request


def return_freed_memory() -> None:
    """Make this process and its children return freed memory to the system. By default, glibc keeps a heap with large
    blocks for each thread, and responses of all sizes fragment it."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:
        for option, value in ((M_ARENA_MAX, 1), (M_MMAP_THRESHOLD, LARGE_BYTES), (M_TRIM_THRESHOLD, LARGE_BYTES)):
            mallopt(option, value)


def most_connections() -> int:
    """How many connections a web process accepts at one time; further ones wait until one ends. Each may need a second
    descriptor for a file, and the process itself some more: so it never runs out of them."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = math.inf if descriptors == resource.RLIM_INFINITY else (descriptors - OWN_DESCRIPTORS) // 2
    return int(max(min(MAX_CONNECTIONS, free), 1))


class Server(mp.MPServer):
    """Granian's, whose processes accept from this socket, and end when this one has died."""

    def __init__(self, target: str, *, listening: socket.socket, **options: Any) -> None:
        super().__init__(target, **options)
        self.listening = listening

    def _init_shared_socket(self) -> None:
        shared: Any = SocketHolder(self.listening.fileno(), False, BACKLOG)  # type: ignore[call-arg]
        self._shd, self._ssp, self._sso = shared, None, None

    def _drop_shared_socket(self) -> None:
        # Before the web processes are stopped, so that the last of them that stops accepting closes the port.
        self.listening.close()


def serve(
    listening: socket.socket,
    target: str = "storefront.server.wsgi:application",
    *,
    workers: int,
    threads: int,
    on_ready: Callable[[], object] = lambda: None,
) -> None:
    """Serve a WSGI application, `module:name`, until a stop signal. The web processes are forked from this one,
    which has loaded all modules. Each calls `on_ready` when it accepts connections."""
    return_freed_memory()
    host, port, *_ = listening.getsockname()
    lifeline = Lifeline()

    def run_web_process(*arguments: Any) -> None:
        # Until it has its own handlers, a signal must end this process, not call the inherited handlers of the parent.
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        lifeline.follow(STOP_GRACE_SECONDS)
        _run_web_process(listening, threads, on_ready, *arguments)

    Server(
        target,
        listening=listening,
        address=host,
        port=port,
        interface=Interfaces.RSGI,
        # Otherwise it would also accept HTTP/2 over plain TCP, which has no time-out for headers.
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=HEADERS_TIMEOUT_MS),
        websockets=False,
        workers=workers,
        backpressure=most_connections(),
        blocking_threads_idle_timeout=600,
        respawn_failed_workers=True,
        workers_kill_timeout=STOP_GRACE_SECONDS,
        log_level=LogLevels.error,
        log_dictconfig=logs.logging_config(environment.log_level()),
        process_name="storefront web",
    ).serve(spawn_target=run_web_process)


def _run_web_process(
    listening: socket.socket,
    threads: int,
    on_ready: Callable[[], object],
    worker_id: int,
    process_name: str,
    load: Callable[[], Any],
    *rest: Any,
) -> None:
    """A web process as Granian runs it, except that requests go to the gate, and that it stops in two steps."""
    gates = []

    def load_gate() -> Any:
        application = load()
        # Needs Django set up, which loading the application does.
        from storefront.server.gate.gate import Gate
        from storefront.server.metrics.publishing import Publisher

        if settings.METRICS:
            Publisher(application).start()
        gates.append(Gate(application, threads=threads, body_seconds=settings.BODY_SECONDS, on_ready=on_ready))
        return gates[0]

    def set_signals(loop: AbstractEventLoop) -> WorkerSignal:
        stopping = WorkerSignal()

        def stop() -> None:
            for number in STOP_SIGNALS:
                loop.add_signal_handler(number, stopping.set)
            stop_accepting(listening)
            gates[0].close_connections()
            loop.call_later(DRAIN_SECONDS, stopping.set)

        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, stop)
        return stopping

    mp._new_cbscheduler = lambda loop, *_, **__: Scheduler(loop, gates[0].accept_request)
    _signals.set_loop_signals = set_signals
    Server._spawn_rsgi_worker(worker_id, process_name, load_gate, *rest)
