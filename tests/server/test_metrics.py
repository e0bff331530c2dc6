"""The figures for Prometheus: those of all processes together, on a port of their own."""

import json
import os
import re
import signal
import time
import urllib.request
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import requests
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.parser import text_string_to_metric_families

from storefront.kit import metrics
from storefront.server.metrics.directory import is_running
from tests.databases import database
from tests.deploy.monitoring import MONITORING, used_figures
from tests.server.programs import free_port, is_listening, running, storefront, wait_until
from tests.server.relays import Relay, relay
from tests.server.test_serve import Served, serving

pytestmark = pytest.mark.slow

# Published where pods have one registry: tests/pods/test_registry.py compares them.
FIGURES_OF_PODS = {
    "storefront_registry_age_seconds": set(),
    "storefront_registry_errors": set(),
    "storefront_registry_kept_bytes": {"slot"},
    "storefront_registry_read": {"slot"},
}
MUG = {"name": "Mug", "sku": "M1", "price": "9.50", "status": "active", "stock_qty": 12}


@dataclass
class Watched:
    served: Served
    port: int
    token: str
    directory: Path
    # The database's own URL, past the relay; empty for SQLite.
    database: str
    relay: Relay | None

    def figures(self) -> dict[tuple[str, tuple[str, ...]], float]:
        """By name and values of the labels, in the order of the labels' names."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=60) as answer:
            families = text_string_to_metric_families(answer.read().decode())
            samples = [sample for family in families for sample in family.samples]
        return {(each.name, tuple(value for _, value in sorted(each.labels.items()))): each.value for each in samples}

    def labels(self) -> dict[str, set[str]]:
        """The names of the labels of each figure that is published now."""
        found: dict[str, set[str]] = {}
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=60) as answer:
            for family in text_string_to_metric_families(answer.read().decode()):
                for sample in family.samples:
                    found.setdefault(sample.name, set()).update(sample.labels)
        return found

    def figure(self, name: str, *labels: str) -> float | None:
        return self.figures().get((f"storefront_{name}", labels))

    def ask(self, path: str, method: str = "GET", **body) -> requests.Response:
        # A connection for each call, so that both processes get some.
        headers = {"Authorization": f"Bearer {self.token}", "Connection": "close"}
        url = f"http://127.0.0.1:{self.served.port}{path}"
        return requests.request(method, url, headers=headers, json=body or None, timeout=15)


def declared_figures() -> dict[str, set[str]]:
    """The figures that processes count, with their labels."""
    found = {}
    for each in vars(metrics).values():
        if isinstance(each, MetricWrapperBase) and each is not metrics.SHOP_SECONDS:
            (family,) = each.describe()
            endings = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}.get(family.type, [""])
            found |= {family.name + ending: set(each._labelnames) for ending in endings}
    return found


@pytest.fixture(scope="module")
def watched(migrated, tmp_path_factory) -> Iterator[Watched]:
    directory, port = tmp_path_factory.mktemp("watched"), free_port()
    with database(directory, copied_from=migrated) as environment:
        domain = "shop.example.com"
        file = directory / "mug.jsonl"
        file.write_text(json.dumps(MUG))
        storefront(
            *("createshop", "--domain", domain, "--name", "Corner", "--base-url", f"http://{domain}"), **environment
        )
        storefront("importproducts", "--shop", domain, str(file), **environment)
        scopes = ("--scopes", "read_products,write_cart")
        token = storefront("createtoken", "--shop", domain, *scopes, **environment).stdout.strip()
        url = urlsplit(environment.get("DATABASE_URL", ""))
        with relay(url.hostname, url.port or 5432) if url.hostname else nullcontext() as between:
            if between:
                at = url.netloc.rpartition("@")[0]
                environment |= {"DATABASE_URL": url._replace(netloc=f"{at}@127.0.0.1:{between.port}").geturl()}
            given = {"STOREFRONT_METRICS": str(port), "STOREFRONT_BACKUP_MARKER": str(directory / "backup.done")}
            with serving(environment | given, "--workers", "2") as served:
                wait_until(lambda: is_listening(port), process=served.process, what="the figures")
                yield Watched(served, port, token, directory, url.geturl(), between)


def test_processes_listen_before_their_first_request(watched):
    """Otherwise the alert on silent listeners would fire after each start."""
    wait_until(lambda: watched.figure("web_processes") == 2, what="both processes")
    wait_until(lambda: watched.figure("listeners_connected") == 2, what="both listeners")
    assert not [labels for name, labels in watched.figures() if name == "storefront_request_seconds_count"]


def test_requests_are_counted_by_url_pattern_whichever_process_answers(watched):
    wait_until(lambda: watched.figure("web_processes") == 2, what="both processes")
    labels = ("GET", "api/v1/products/<id_or_slug>")
    numbers = count()

    def both_have_counted() -> bool:
        watched.ask(f"/api/v1/products/none-{next(numbers)}")
        files = directory_of(watched).glob("histogram_*")
        return sum(b"storefront_request_seconds" in file.read_bytes() for file in files) == 2

    # The kernel chooses which process answers.
    wait_until(both_have_counted, what="answers of both processes")
    asked, found = next(numbers), watched.figures()
    assert found["storefront_request_seconds_count", (*labels, "404")] == asked
    assert found["storefront_request_seconds_sum", (*labels, "404")] > 0
    assert found["storefront_refusals_total", ("not_found",)] == asked
    assert not [labels for _, labels in found if any("none-" in label for label in labels)]


def directory_of(watched: Watched) -> Path:
    return next(Path("/dev/shm").glob(f"storefront-metrics-{watched.served.process.pid}-*"))


def test_the_edge_counts_its_answers(watched):
    wait_until(lambda: watched.figure("listeners_connected") == 2, what="both listeners")
    before = watched.figure("edge_requests_total", "hit") or 0
    for _ in range(30):
        assert watched.ask("/api/v1/products/mug").status_code == 200
    # All but the first of each process, and one more where its listener has just connected.
    wait_until(lambda: watched.figure("edge_requests_total", "hit") >= before + 25, what="the answers from memory")
    assert watched.figure("edge_requests_total", "hit") <= before + 30
    assert watched.figure("edge_requests_total", "miss") >= 1
    assert time.time() - watched.figure("listener_heard_timestamp_seconds", "web") < 60


def test_a_restarted_process_keeps_the_counts_and_is_counted_once(watched):
    watched.ask("/api/v1/cart", "POST", product_id=1, qty=99)
    before = watched.figures()
    (parent,) = [watched.served.child("web")]
    victim = int(Path(f"/proc/{parent}/task/{parent}/children").read_text().split()[0])
    os.kill(victim, signal.SIGKILL)
    # Until it has ended, it is counted itself, instead of its successor.
    wait_until(lambda: not is_running(victim), what="its end")
    wait_until(lambda: watched.figure("web_processes") == 2, what="its successor")
    after = watched.figures()
    name = ("storefront_refusals_total", ("insufficient_stock",))
    assert after[name] == before[name] >= 1


def test_a_killed_process_is_not_counted_even_before_its_parent_has_taken_note(watched):
    parent = watched.served.child("web")
    os.kill(parent, signal.SIGSTOP)
    try:
        victim = int(Path(f"/proc/{parent}/task/{parent}/children").read_text().split()[0])
        os.kill(victim, signal.SIGKILL)
        wait_until(lambda: ") Z " in Path(f"/proc/{victim}/stat").read_text(), what="its end")
        assert watched.figure("web_processes") == 1
    finally:
        os.kill(parent, signal.SIGCONT)
    wait_until(lambda: watched.figure("web_processes") == 2, what="its successor")


def test_a_scrape_answers_while_a_process_makes_its_files(watched):
    (directory_of(watched) / "counter_999999999.db").touch()
    assert watched.figure("web_processes") == 2


def test_what_waits_is_read_from_the_database(watched):
    found = watched.figures()
    assert found["storefront_database_readable", ()] == 1
    for queue in ("events", "deliveries", "pictures"):
        assert found["storefront_queue_size", (queue,)] == 0
        assert found["storefront_queue_age_seconds", (queue,)] == 0
    assert found["storefront_deliveries", ("dead",)] == 0


def test_a_running_worker_is_counted(watched):
    wait_until(lambda: watched.figure("workers_live") == 1, what="the worker's heartbeat")
    assert watched.figure("feed_horizon_age_seconds") == 0


def test_a_session_that_holds_up_the_change_feed_is_seen(watched):
    if not watched.database:
        pytest.skip("SQLite has no sessions that could be idle")
    with psycopg.connect(watched.database) as other:
        other.execute("SELECT pg_current_xact_id()")
        wait_until(lambda: watched.figure("feed_horizon_age_seconds") > 1, what="the age of the idle transaction")
        other.rollback()
    wait_until(lambda: watched.figure("feed_horizon_age_seconds") == 0, what="its end")


def test_the_machine_has_figures(watched):
    found = watched.figures()
    room = os.statvfs(watched.directory)
    assert found["storefront_disk_size_bytes", ("data",)] == room.f_blocks * room.f_frsize
    assert 0 < found["storefront_disk_free_bytes", ("data",)] < room.f_blocks * room.f_frsize
    marker = watched.directory / "backup.done"
    assert found["storefront_backup_timestamp_seconds", ()] == 0
    marker.touch()
    assert watched.figure("backup_timestamp_seconds") == marker.stat().st_mtime


def test_the_load_of_a_shop_is_measured(watched):
    watched.ask("/api/v1/products/mug?no-cache=1")
    watched.ask("/api/v1/cart", "POST", product_id=1, qty=99)
    wait_until(lambda: (watched.figure("shop_load", "shop.example.com") or 0) > 0, what="the load")
    assert watched.figure("shop_load", "other") == 0
    assert not [name for name, _ in watched.figures() if name.startswith("storefront_shop_request")]


def test_alerts_and_dashboard_use_figures_that_exist(watched):
    # The figures that wait for an occasion, such as a lost delivery, are declared by the processes that count them.
    watched.ask("/readyz")
    known = declared_figures() | FIGURES_OF_PODS
    for name, labels in watched.labels().items():
        known.setdefault(name, set()).update(labels)
    found = used_figures()
    assert len(found) > 20
    for place, name, labels in found:
        assert name in known, f"{place}: nothing publishes {name}"
        assert labels <= known[name] | {"instance", "job", "le"}, f"{place}: {name} has no {labels - known[name]}"
    assert watched.figure("thread_wait_seconds_count", "web") is not None
    assert watched.figure("deliveries", "dead") is not None


def test_each_figure_is_documented(watched):
    page = (MONITORING.parents[1] / "docs/operations.md").read_text()
    bare = {
        re.sub("_(bucket|sum|count|created)$", "", name)
        for name in declared_figures() | FIGURES_OF_PODS | watched.labels()
    }
    assert [name for name in sorted(bare) if name.startswith("storefront_") and f"`{name}`" not in page] == []


def test_a_scrape_answers_while_the_database_does_not(watched):
    if watched.relay is None:
        pytest.skip("SQLite has no server that could stall")
    watched.relay.stall()
    try:
        wait_until(lambda: watched.figure("database_readable") == 0, what="a reading without the database")
        began = time.monotonic()
        found = watched.figures()
        assert time.monotonic() - began < 4
        assert ("storefront_queue_size", ("events",)) not in found
        assert found["storefront_web_processes", ()] == 2
    finally:
        watched.relay.resume()
    wait_until(lambda: watched.figure("database_readable") == 1, what="the database again")


def test_a_worker_of_its_own_serves_its_figures(migrated, tmp_path):
    port = free_port()
    with database(tmp_path, copied_from=migrated) as environment:
        environment |= {"STOREFRONT_METRICS": f"127.0.0.1:{port}"}
        with running("worker", log=tmp_path / "log", **environment) as worker:
            wait_until(lambda: is_listening(port), process=worker, what="the figures")
            figures = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60).read().decode()
            worker.terminate()
            assert worker.wait(15) == 0
    assert 'storefront_queue_size{queue="deliveries"} 0.0' in figures
    assert not list(Path("/dev/shm").glob(f"storefront-metrics-{worker.pid}-*"))


@pytest.mark.parametrize("given", ["abc", "0", "70000", "a b:9100", "[::1:9100", ":"])
def test_an_invalid_address_is_refused(given, tmp_path):
    done = storefront("worker", STOREFRONT_METRICS=given, STOREFRONT_DATA_DIR=str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.startswith(f"storefront: STOREFRONT_METRICS is {given!r}; expected a port such as 9100")
