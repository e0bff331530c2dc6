"""The web server: Granian, speaking WSGI to Django, in a process of its own beside the worker's."""

from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from storefront.server import environment, logs

# Seconds a web process may take to answer what it has begun when it is told to stop.
GRACE = 8


def serve(
    target: str = "storefront.server.wsgi:application", *, host: str, port: int, workers: int, threads: int
) -> None:
    """Serve a WSGI application, `module:name`, until told to stop. Its processes are forked from this one, which has
    everything loaded."""
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
