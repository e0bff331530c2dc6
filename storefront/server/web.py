"""The web server: Granian, which passes requests to the gate, in its own process beside the worker's."""

import ctypes
import resource
from asyncio import AbstractEventLoop
from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings
from granian._granian import CallbackScheduler
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import mp

from storefront.server import environment, logs

# Seconds that a web process has to finish running requests after a stop signal.
STOP_GRACE_SECONDS = 8
# Milliseconds in which the request line and headers must arrive, counted from when the connection is idle.
HEADERS_TIMEOUT_MS = 5_000
# Open connections of a web process; further ones wait until one ends.
MAX_CONNECTIONS = 4096

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


def raise_open_file_limit() -> None:
    """Let the process open two files for each connection, or as many as its hard limit allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * MAX_CONNECTIONS if hard == resource.RLIM_INFINITY else min(hard, 2 * MAX_CONNECTIONS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def serve(
    target: str = "storefront.server.wsgi:application", *, host: str, port: int, workers: int, threads: int
) -> None:
    """Serve a WSGI application, `module:name`, until a stop signal. The web processes are forked from this one,
    which has loaded all modules."""
    return_freed_memory()
    raise_open_file_limit()
    mp.MPServer(
        target,
        address=host,
        port=port,
        interface=Interfaces.RSGI,
        # Otherwise it would also accept HTTP/2 over plain TCP, which has no time-out for headers.
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=HEADERS_TIMEOUT_MS),
        websockets=False,
        workers=workers,
        backpressure=MAX_CONNECTIONS,
        blocking_threads_idle_timeout=600,
        respawn_failed_workers=True,
        workers_kill_timeout=STOP_GRACE_SECONDS,
        log_level=LogLevels.error,
        log_dictconfig=logs.logging_config(environment.log_level()),
        process_name="storefront web",
    ).serve(spawn_target=partial(_run_web_process, threads))


def _run_web_process(threads: int, worker_id: int, process_name: str, load: Callable[[], Any], *rest: Any) -> None:
    """A web process as Granian runs it, except that requests go to the gate."""
    gates = []

    def load_gate() -> Any:
        application = load()
        # Needs Django set up, which loading the application does.
        from storefront.server.gate.gate import Gate

        gates.append(Gate(application, threads=threads, body_seconds=settings.BODY_SECONDS))
        return gates[0]

    mp._new_cbscheduler = lambda loop, *_, **__: Scheduler(loop, gates[0].accept_request)
    mp.MPServer._spawn_rsgi_worker(worker_id, process_name, load_gate, *rest)
