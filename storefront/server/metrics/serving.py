"""The HTTP server of the figures."""

import os
import re
import socket
import threading
import time
from collections.abc import Iterable
from socketserver import TCPServer
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler

import structlog
from django.conf import settings
from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.exposition import ThreadingWSGIServer
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from storefront.server.metrics.database import DatabaseFigures
from storefront.server.metrics.directory import VARIABLE, is_running
from storefront.server.metrics.machine import MachineFigures
from storefront.server.metrics.shop_load import ShopLoad
from storefront.server.waits import bound_web_process

log = structlog.get_logger(__name__)

# Seconds before trying again to listen where another process still does, as during a restart.
RETRY_SECONDS = 2.0
_LIVE_FILE = re.compile(r"gauge_live[a-z]*_([0-9]+)\.db")


class Handler(WSGIRequestHandler):
    # Seconds for which a client may be silent.
    timeout = 5

    def log_message(self, *_: Any) -> None:
        """Nothing: a scrape every few seconds would fill the log."""


class ProcessFigures(Collector):
    """The counts of all processes, and the state of the running ones."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.lock = threading.Lock()
        self.load = ShopLoad()
        # The load is counted from now on.
        self.collect()

    def collect(self) -> Iterable[Metric]:
        # A concurrent scrape must find the files of an ended process before or after their removal.
        with self.lock:
            for name in os.listdir(self.directory):
                if (found := _LIVE_FILE.fullmatch(name)) and not is_running(int(found[1])):
                    mark_process_dead(int(found[1]), self.directory)
            # A process that starts makes each of its files empty, and sizes it at once: the library cannot read that.
            files = [file.path for file in os.scandir(self.directory) if file.stat().st_size]
            return list(self.load.replace(MultiProcessCollector.merge(files)))


def run_process(host: str, port: int) -> None:
    """Serve the figures, as a process of its own, until it is stopped."""
    bound_web_process()
    run(host, port)


def run(host: str, port: int) -> None:
    """Serve the figures for ever. Waits for the port while another process listens there."""
    registry = CollectorRegistry()
    registry.register(ProcessFigures(os.environ[VARIABLE]))
    registry.register(DatabaseFigures())
    registry.register(MachineFigures())
    with _listen(host, port) as server:
        server.set_app(make_wsgi_app(registry))
        server.serve_forever()


def start_thread() -> None:
    """Serve the figures from a thread of this process, if they are wanted."""
    if settings.METRICS:
        threading.Thread(target=run, args=settings.METRICS, name="metrics", daemon=True).start()


class Server(ThreadingWSGIServer):
    def server_bind(self) -> None:
        # WSGIServer looks the host's name up, which may take long.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])
        self.setup_environ()


class ServerOverIPv6(Server):
    address_family = socket.AF_INET6


def _listen(host: str, port: int) -> Server:
    has_warned = False
    while True:
        try:
            return (ServerOverIPv6 if ":" in host else Server)((host, port), Handler)
        except OSError as error:
            if not has_warned:
                log.warning("metrics_port_taken", host=host, port=port, reason=error.strerror)
                has_warned = True
            time.sleep(RETRY_SECONDS)
