"""The web server: Granian, speaking WSGI to Django, in a process of its own beside the worker's."""

import ctypes

from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from storefront.server import environment, logs

# Seconds a web process may take to answer what it has begun when it is told to stop.
GRACE = 8

# Names of glibc's <malloc.h>, and bytes.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
LARGE = 128 * 1024


def give_memory_back() -> None:
    """Have the process, and those it starts, return what is freed to the system. By itself glibc keeps a heap for each
    thread, and large blocks in them; answers of all sizes that come and go then leave holes as large as they are."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:
        for option, value in ((M_ARENA_MAX, 1), (M_MMAP_THRESHOLD, LARGE), (M_TRIM_THRESHOLD, LARGE)):
            mallopt(option, value)


def serve(
    target: str = "storefront.server.wsgi:application", *, host: str, port: int, workers: int, threads: int
) -> None:
    """Serve a WSGI application, `module:name`, until told to stop. Its processes are forked from this one, which has
    everything loaded."""
    give_memory_back()
    Granian(
        target,
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        websockets=False,
        workers=workers,
        blocking_threads=threads,
        # A thread keeps its database connection, so threads that come and go would make new ones all the time.
        blocking_threads_idle_timeout=600,
        respawn_failed_workers=True,
        workers_kill_timeout=GRACE,
        log_level=LogLevels.error,
        log_dictconfig=logs.logging_config(environment.log_level()),
        process_name="storefront web",
    ).serve()
