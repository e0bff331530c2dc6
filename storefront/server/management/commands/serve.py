from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from functools import partial

from django.conf import settings
from django.contrib.admin import autodiscover
from django.db import connection, connections

from storefront.apps import rendering
from storefront.server import readiness, reloading, sealed, supervisor, web
from storefront.server.command import Command as Base
from storefront.server.command import Failed
from storefront.server.database_wait import wait_for_database
from storefront.server.metrics import directory, serving
from storefront.server.replica_check import require_own_replicas
from storefront.server.worker import worker

# Each thread of a web process keeps a database connection (`environment.database`).
MAX_THREADS = 20


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
            "--threads", type=number(1, MAX_THREADS), default=8, help="threads per process (default: %(default)s)"
        )
        parser.add_argument(
            "--no-worker", action="store_true", help="do not run the background worker; run storefront worker instead"
        )

    def handle(self, *, host, port, workers, threads, no_worker, **_options) -> None:
        # Before the port is open: whoever finds the server there finds its files closed.
        readiness.restrict_data_permissions()
        # The web processes, which start as copies of this one, share the admin's modules.
        autodiscover()
        wait_for_database(connection)
        readiness.require_migrated_database()
        require_own_replicas()
        readiness.require_buckets()
        readiness.raise_descriptor_limit()
        sealed.warn_of_unreadable()
        # From here on nothing asks the database before the web processes run: whoever can connect is answered.
        connections.close_all()
        listening = reloading.inherited_listening() or web.open_listening(host, port)
        supervising = supervisor.Supervisor(
            lambda on_ready: web.serve(listening, workers=workers, threads=threads, on_ready=on_ready),
            None if no_worker else worker.run,
            partial(serving.run_process, *settings.METRICS) if settings.METRICS else None,
            listening=listening,
            processes=workers,
        )
        if readiness.collect_static_files():
            self.write_message("Collected the static files.")
        rendering.limit_waiting_threads(threads)
        suffix = "" if no_worker else " with the background worker"
        self.write_message(f"Serving on http://{host}:{port}{suffix}; Ctrl-C stops.")
        code = supervising.run()
        directory.remove()
        if code:
            raise Failed("The web server stopped unexpectedly. See its messages above.")
