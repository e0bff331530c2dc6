"""The web server as a process of its own: Granian, speaking WSGI to Django. Started by `storefront serve`."""

import argparse

from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from storefront.server import environment, logs

# Seconds a web process may take to answer what it has begun when it is told to stop.
GRACE = 8


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--workers", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    given = parser.parse_args()
    logs.configure_structlog()
    target = "storefront.server.wsgi:application"
    serve(target, host=given.host, port=given.port, workers=given.workers, threads=given.threads)


def serve(target: str, *, host: str, port: int, workers: int, threads: int) -> None:
    """Serve a WSGI application, `module:name`, until the process is told to stop."""
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


if __name__ == "__main__":
    main()
