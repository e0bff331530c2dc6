import socket
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from contextlib import closing
from functools import partial

from django.db import connections

from storefront.apps import rendering
from storefront.server import readiness, sealed, supervisor, web
from storefront.server.command import Command as Base
from storefront.server.command import Failed
from storefront.server.worker import worker

# Each thread of a web process keeps a database connection (`environment.database`).
MOST_THREADS = 20


def number(smallest: int, largest: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not text.isdecimal() or not smallest <= int(text) <= largest:
            raise ArgumentTypeError(f"expected a number from {smallest} to {largest}, not {text}")
        return int(text)

    return parse


class Command(Base):
    help = "Serve the shops' pages and API, and run the background worker."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        parser.add_argument("--port", type=number(1, 65535), default=8000, help="(default: %(default)s)")
        parser.add_argument(
            "--workers",
            type=number(1, 256),
            default=1,
            help="web processes, at most one per core (default: %(default)s)",
        )
        parser.add_argument(
            "--threads", type=number(1, MOST_THREADS), default=8, help="threads per process (default: %(default)s)"
        )
        parser.add_argument(
            "--no-worker", action="store_true", help="do not run the background worker; run storefront worker instead"
        )

    def handle(self, *, host, port, workers, threads, no_worker, **_options) -> None:
        readiness.require_migrated_database()
        require_free_port(host, port)
        readiness.restrict_data_permissions()
        if readiness.collect_static_files():
            self.write_message("Collected the static files.")
        sealed.warn_of_unreadable()
        connections.close_all()
        rendering.limit_waiting_threads(threads)
        suffix = "" if no_worker else " with the background worker"
        self.write_message(f"Serving on http://{host}:{port}{suffix}; Ctrl-C stops.")
        code = supervisor.supervise(
            partial(web.serve, host=host, port=port, workers=workers, threads=threads),
            None if no_worker else worker.run,
        )
        if code:
            raise Failed("The web server stopped unexpectedly. See its messages above.")


def require_free_port(host: str, port: int) -> None:
    """Raises Failed if the port is in use. The web server would not notice, since its processes share the port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with closing(socket.socket(family)) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        raise Failed(
            f"Cannot listen on {host}, port {port}: {error.strerror}. Choose another: --port, or PORT=... for make run."
        ) from None
