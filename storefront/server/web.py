"""The web server: Granian, which passes requests to the gate, in its own process beside the worker's."""

import asyncio
import errno
import fcntl
import math
import os
import resource
import signal
import socket
import tempfile
import time
from asyncio import AbstractEventLoop
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import structlog
from django.conf import settings
from django.utils.module_loading import import_string
from granian._granian import CallbackScheduler, RSGIWorker, SocketHolder, WorkerSignal
from granian.http import HTTP1Settings

from storefront.server.command import Failed
from storefront.server.lifeline import Lifeline
from storefront.server.metrics import directory
from storefront.server.supervisor import POLL_SECONDS, Child, stop_all

log = structlog.get_logger(__name__)

# Seconds that a web process has to finish running requests after a stop signal.
STOP_GRACE_SECONDS = 8
# Milliseconds in which the request line and headers must arrive, counted from when the connection is idle.
HEADERS_TIMEOUT_MS = 5_000
# Open connections of a web process, and the descriptors that it needs itself: databases, logs, libraries.
MAX_CONNECTIONS, OWN_DESCRIPTORS = 4096, 128
# A web process that ends within these seconds after it was started again cannot run.
MIN_LIFE_SECONDS = 5.5
# Directories with temporary files of web processes begin with this.
TEMPORARY_PREFIX = "storefront-web-"
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
BACKLOG = 1024
# Seconds for which a start waits for a port: the processes of a supervisor that was killed free it a moment later.
PORT_SECONDS = 3.0
# Seconds from the stop signal, after which a process accepts no more connections, until it ends the open ones. Those
# that it has just accepted send their first request meanwhile, and after each response the connection is closed.
DRAIN_SECONDS = 0.5


class Scheduler(CallbackScheduler):
    """Granian's way from a request to Python: its thread calls `accept_request` with each.

    Without this class, Granian passes each request to the event loop first, and an answer from memory takes twice the
    CPU: 66 µs instead of 34, or 59 with uvloop. The rows "from memory" of `make bench` show that.
    """

    def __new__(cls, loop: AbstractEventLoop, accept_request: Callable[[Any], None]) -> "Scheduler":
        return super().__new__(cls, loop, accept_request, None, None, None)  # type: ignore[call-arg]

    def __init__(self, _loop: AbstractEventLoop, accept_request: Callable[[Any], None]) -> None:
        super().__init__()
        self._schedule_fn = accept_request


def open_listening(host: str, port: int) -> socket.socket:
    """The listening socket for this address, which all web processes share: connections wait in it while some of them
    end and others start. Raises Failed if another program has the port."""
    deadline = time.monotonic() + PORT_SECONDS
    while True:
        try:
            return socket.create_server(
                (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=BACKLOG
            )
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                raise Failed(
                    f"Cannot listen on {host}, port {port}: {os.strerror(error.errno or 0)}. "
                    "Choose another: --port, or PORT=... for make run."
                ) from None
        time.sleep(0.1)


def most_connections() -> int:
    """How many connections a web process accepts at one time; further ones wait until one ends. Each may need a second
    descriptor for a file, and the process itself some more: so it never runs out of them."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = math.inf if descriptors == resource.RLIM_INFINITY else (descriptors - OWN_DESCRIPTORS) // 2
    return int(max(min(MAX_CONNECTIONS, free), 1))


def serve(
    listening: socket.socket,
    target: str = "storefront.server.wsgi.application",
    *,
    workers: int,
    threads: int,
    on_ready: Callable[[], object] = lambda: None,
) -> None:
    """Serve the WSGI application with this dotted name until a stop signal. The web processes are forked from this one,
    which has loaded all modules. Each calls `on_ready` when it accepts connections. One that ends is started again; if
    it then ends within MIN_LIFE_SECONDS, all stop."""
    stopping, lifeline = Event(), Lifeline()
    for number in STOP_SIGNALS:
        signal.signal(number, lambda *_: stopping.set())
    run = partial(_run_web_process, listening, target, threads, on_ready)
    children = [Child(f"web worker-{number + 1}", run, lifeline) for number in range(workers)]
    restarted: set[Child] = set()
    while not stopping.wait(POLL_SECONDS):
        ended = [child for child in children if child.has_ended()]
        if any(child in restarted and time.monotonic() - child.started < MIN_LIFE_SECONDS for child in ended):
            break
        for child in ended:
            log.error("child_ended", child=child.name, exit=child.process.exitcode)
            child.start()
        restarted.update(ended)
    # Before the web processes are stopped, so that the last of them that stops accepting closes the port.
    listening.close()
    stop_all(children, STOP_GRACE_SECONDS)


def _run_web_process(listening: socket.socket, target: str, threads: int, on_ready: Callable[[], object]) -> None:
    """Serve in this process with Granian's worker, whose requests go to the gate, until a stop signal. Then it stops in
    two steps: it accepts no more connections, and DRAIN_SECONDS later it ends the open ones."""
    application = import_string(target)
    # Needs Django set up, which importing the application does.
    from storefront.kit.replicas import watching
    from storefront.server import tracing
    from storefront.server.edge import listening as changes
    from storefront.server.gate.gate import Gate
    from storefront.server.metrics.publishing import Publisher

    if settings.METRICS:
        Publisher(application).start()
    # From the start, so that a process that hears nothing is known before its first request.
    changes.start()
    watching.start()
    tracing.start()
    loop, stopping = asyncio.new_event_loop(), WorkerSignal()
    gate = Gate(application, loop, threads=threads, body_seconds=settings.BODY_SECONDS, on_ready=on_ready)
    stopping.add_cb(lambda: loop.call_soon_threadsafe(loop.stop))

    def stop() -> None:
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, stopping.set)
        stop_accepting(listening)
        gate.close_connections()
        loop.call_later(DRAIN_SECONDS, stopping.set)

    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, stop)
    worker: Any = RSGIWorker(
        1,
        (None, SocketHolder(listening.fileno(), False, BACKLOG)),  # type: ignore[call-arg]
        None,  # type: ignore[arg-type]
        py_threads_idle_timeout=600,
        backpressure=most_connections(),
        # Otherwise it would also accept HTTP/2 over plain TCP, which has no time-out for headers.
        http_mode="1",
        http1_opts=HTTP1Settings(header_read_timeout=HEADERS_TIMEOUT_MS),
        metrics=(None, None),
    )
    directory.remove_abandoned(Path(tempfile.gettempdir()), TEMPORARY_PREFIX)
    prefix = f"{TEMPORARY_PREFIX}{os.getpid()}-"
    # For all temporary files of this process: those that are left when it stops are deleted then.
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as tempfile.tempdir:
        # systemd-tmpfiles leaves old directories alone that are locked.
        fcntl.flock(os.open(tempfile.tempdir, os.O_RDONLY), fcntl.LOCK_SH)
        worker.serve_str(Scheduler(loop, gate.accept_request), loop, stopping)
        loop.run_forever()
    tracing.stop()


def stop_accepting(listening: socket.socket) -> None:
    """Accept no more connections in this process; others that share the socket still do.

    The server has no way to stop accepting and keep its connections. So the socket's descriptor is replaced by that of
    a socket that nobody connects to.
    """
    with socket.socket(listening.family) as silent:
        silent.bind(("::1" if listening.family == socket.AF_INET6 else "127.0.0.1", 0))
        silent.listen(1)
        silent.setblocking(False)
        os.dup2(silent.fileno(), listening.fileno())
