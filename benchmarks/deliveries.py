"""Measures webhooks: deliveries per second of one worker, latency from the commit, and the cost of an idle worker.

    python -m benchmarks.deliveries [--quick] [--write]

Each database is measured in a separate process, with a real worker. The receivers run in a third process: one that
answers immediately, and five hundred that never answer.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any

from benchmarks import postgres, report
from benchmarks.processes import cpu_seconds, free_port, is_listening

STOREFRONT = str(Path(sys.executable).with_name("storefront"))
HANGING = 500
RECORD = {
    "id": 1,
    "lines": [{"name": f"Mug {place}", "sku": f"M{place}", "qty": 2, "line_total": "19.00"} for place in range(5)],
    "billing_address": {"name": "Ada Lovelace", "line1": "1 Example Street", "city": "Berlin", "country": "DE"},
    "total": "95.00",
}
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
# The database generates these rows itself: a million through the ORM would take minutes.
PENDING = {
    "postgresql": "SELECT number FROM generate_series(1, {count}) number",
    "sqlite": "WITH RECURSIVE n (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM n WHERE number < {count}) "
    "SELECT number FROM n",
}


@dataclass(frozen=True)
class Result:
    what: str
    value: float
    unit: str
    bar: float | None = None
    at_least: bool = False

    def __str__(self) -> str:
        verdict = f"{self.met}, bar {self.bar:,g}" if self.bar is not None else ""
        return f"  {self.what:<62}{self.amount:>16}  {verdict}"

    @property
    def amount(self) -> str:
        return f"{self.value:,.{0 if self.value >= 1000 else 2}f} {self.unit}"

    @property
    def met(self) -> str:
        if self.bar is None:
            return ""
        return "yes" if (self.value >= self.bar if self.at_least else self.value < self.bar) else "**no**"


class Receiver(asyncio.Protocol):
    """Answers each request immediately, and prints its webhook-id and the time of its arrival."""

    def connection_made(self, transport: Any) -> None:
        self.transport, self.unread = transport, b""

    def data_received(self, data: bytes) -> None:
        self.unread += data
        while (end := self.unread.find(b"\r\n\r\n")) >= 0:
            head = self.unread[:end].decode("latin-1").lower()
            headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:])
            size = end + 4 + int(headers["content-length"])
            if len(self.unread) < size:
                return
            self.unread = self.unread[size:]
            self.transport.write(ANSWER)
            sys.stdout.write(f"{headers['webhook-id']} {time.time()}\n")


async def receive(quick: int, hanging: int) -> None:
    loop = asyncio.get_running_loop()
    await loop.create_server(Receiver, "127.0.0.1", quick, backlog=1024)
    # Every address of 127.0.0.0/8 is this machine, and each counts as a separate receiver.
    await loop.create_server(asyncio.Protocol, "0.0.0.0", hanging, backlog=2048)
    while True:
        sys.stdout.flush()
        await asyncio.sleep(0.05)


@contextmanager
def running(command: list[str], output: Path, **environment: str) -> Iterator[subprocess.Popen]:
    with output.open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=os.environ | environment)
    try:
        yield process
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(12)
        process.kill()
        process.wait()


def wait_for(condition: Callable[[], Any], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit("Something that was waited for did not happen.")
        time.sleep(0.05)


class DeliveryBench:
    """The measurements on one database, with a shop created for them."""

    def __init__(self, directory: Path, quick: bool) -> None:
        self.directory, self.is_quick = directory, quick
        self.ports = free_port(), free_port()
        self.received_file = directory / "received.txt"
        self.shop = self.new_shop("a.example.com")
        self.add_app("quick", f"http://127.0.0.1:{self.ports[0]}/", self.shop)

    @staticmethod
    def new_shop(domain: str) -> Any:
        from storefront.staff.actions import create_shop

        return create_shop(domain=domain, name=domain, base_url=f"http://{domain}", now=_now())

    @staticmethod
    def add_app(slug: str, address: str, shop: Any) -> None:
        """Install an app with a webhook to this address."""
        from storefront.apps.actions import install_app, register_app
        from storefront.webhooks.actions import register_webhook
        from storefront.webhooks.models import Delivery

        given = {"install_url": address, "scopes": ["read_orders"], "now": _now()}
        app, _ = register_app(name=slug, slug=slug, **given)
        installation, _ = install_app(shop=shop, app=app, scopes=["read_orders"], now=_now())
        Delivery.objects.filter(installation=installation).delete()
        hook = {"topic": "order.placed", "address": address, "now": _now()}
        register_webhook(shop=shop, installation_id=installation.pk, **hook)

    def measure_all(self) -> Iterator[Result]:
        receivers = [sys.executable, "-m", "benchmarks.deliveries", "--receive", *map(str, self.ports)]
        with running(receivers, self.received_file):
            wait_for(lambda: all(map(is_listening, self.ports)))
            for measurement in (self.throughput, self.idle, self.latency, self.claims):
                yield from measurement()

    @contextmanager
    def worker(self) -> Iterator[subprocess.Popen]:
        log = self.directory / "worker.log"
        with running([STOREFRONT, "worker"], log) as process:
            wait_for(lambda: "worker_started" in log.read_text())
            yield process

    def received(self) -> dict[str, float]:
        """The time of each message's first arrival, by message id."""
        found: dict[str, float] = {}
        for line in self.received_file.read_text().splitlines():
            message, arrived_at = line.split()
            found.setdefault(message, float(arrived_at))
        return found

    def throughput(self) -> list[Result]:
        from storefront.webhooks.dispatch import dispatch
        from storefront.webhooks.models import Event

        count = 3000 if self.is_quick else 15000
        rows = [Event(shop=self.shop, topic="order.placed", data=RECORD, created_at=_now()) for _ in range(count)]
        Event.objects.bulk_create(rows, batch_size=1000)
        began = time.monotonic()
        while dispatch(_now()):
            pass
        dispatched = count / (time.monotonic() - began)
        with self.worker() as worker:
            wait_for(lambda: len(self.received()) >= count)
            spent = cpu_seconds(worker.pid)
        times = sorted(self.received().values())
        return [
            Result("events dispatched by one worker", dispatched, "/s"),
            Result("deliveries by one worker to a fast receiver", count / (times[-1] - times[0]), "/s", 1000, True),
            Result("CPU of the worker for a delivery, its start included", spent / count * 1000, "ms"),
        ]

    def idle(self) -> list[Result]:
        seconds = 5 if self.is_quick else 20
        with self.worker() as worker:
            time.sleep(3)
            before = cpu_seconds(worker.pid)
            time.sleep(seconds)
            spent = cpu_seconds(worker.pid) - before
        return [Result("an idle worker, share of a core", spent / seconds * 100, "%", 1)]

    def latency(self) -> list[Result]:
        from storefront.webhooks.actions import record_event

        other_shop = self.new_shop("b.example.com")
        for number in range(HANGING):
            address = f"http://127.1.{number // 250}.{number % 250 + 1}:{self.ports[1]}/"
            self.add_app(f"hanging-{number}", address, other_shop)
        # Each of them has more pending deliveries than can time out during the measurement.
        for _ in range(5):
            record_event(shop=other_shop, topic="order.placed", data=RECORD, now=_now())
        committed = {}
        with self.worker():
            time.sleep(5)
            for _ in range(60 if self.is_quick else 300):
                event = record_event(shop=self.shop, topic="order.placed", data=RECORD, now=_now())
                committed[str(event.public_id)] = time.time()
                time.sleep(0.1)
            wait_for(lambda: committed.keys() <= self.received().keys())
        arrivals = self.received()
        waits = sorted((arrivals[message] - committed_at) * 1000 for message, committed_at in committed.items())
        percentiles = quantiles(waits, n=100)
        text = f"from commit to receiver, while {HANGING} others hang"
        return [Result(f"{text}, p50", percentiles[49], "ms", 100), Result(f"{text}, p99", percentiles[98], "ms", 1000)]

    def claims(self) -> list[Result]:
        from django.db import connection

        from storefront.webhooks.messages import seal
        from storefront.webhooks.models import Delivery, Registration

        Delivery.objects.all().delete()
        results, created = [], 0
        for count in (1000, 100_000 if self.is_quick else 1_000_000):
            hook = Registration.objects.earliest("id")
            with connection.cursor() as cursor:
                numbers = PENDING[connection.vendor].format(count=count - created)
                columns = "shop_id, installation_id, kind, registration_id, message_id, topic, address, receiver"
                # Each is a separate message, since an event has one delivery for each webhook.
                cursor.execute(
                    f"INSERT INTO webhooks_delivery ({columns}, sealed_message, status, tries, earlier_tries, due_at, "
                    f"created_at) SELECT {self.shop.pk}, {hook.installation_id}, 'event', {hook.pk}, "
                    "'00000000000000000000000000000000', 'order.placed', 'http://a/', number %% 1000, %s, 'pending', "
                    f"0, 0, created_at, created_at FROM webhooks_registration, ({numbers}) numbers "
                    f"WHERE id = {hook.pk}",
                    [seal(b"{}")],
                )
                cursor.execute("ANALYZE webhooks_delivery")
            created = count
            results.append(Result(f"claiming 200 of {count:,} pending deliveries", self.claim(), "ms"))
        return results

    def claim(self) -> float:
        """Milliseconds to find due receivers and claim their deliveries, the median of nine times."""
        from storefront.webhooks import claiming

        times = []
        for place in range(9):
            began = time.monotonic()
            claiming.find_work(_now())
            receivers, _ = claiming.due_receivers(_now(), after=place * 50)
            claiming.claim(dict.fromkeys(receivers[:200], 1), lease=f"bench-{place}", now=_now())
            times.append((time.monotonic() - began) * 1000)
        return sorted(times)[4]


def _now() -> Any:
    from storefront.kit import clock

    return clock.now()


def measure(quick: bool) -> None:
    """Runs in the process of one database. Prints the results as JSON lines."""
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    for result in DeliveryBench(Path(os.environ["STOREFRONT_DATA_DIR"]), quick).measure_all():
        print(json.dumps(vars(result)), flush=True)


def measure_on(name: str, quick: bool, **environment: str) -> list[Result]:
    print(name, flush=True)
    results = []
    settings = {
        "STOREFRONT_ALLOW_PRIVATE_CALLBACKS": "1",
        "STOREFRONT_LOG_LEVEL": "info",
        "DJANGO_SETTINGS_MODULE": "storefront.server.settings",
    }
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "benchmarks.deliveries", "--measure", *(["--quick"] if quick else [])]
        environ = os.environ | settings | environment | {"STOREFRONT_DATA_DIR": directory}
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environ, text=True) as process:
            assert process.stdout
            for line in process.stdout:
                results.append(Result(**json.loads(line)))
                print(results[-1], flush=True)
        if process.returncode:
            raise SystemExit(f"The measurement on {name} broke off.")
    return results


def table(databases: dict[str, list[Result]]) -> str:
    """The results as a Markdown table."""
    lines = [("What", "Database", "Measured", "Bar", "Met"), ("---", "---", "---:", "---:", "---")]
    for name, results in databases.items():
        for result in results:
            bar = "" if result.bar is None else f"{result.bar:,g} {result.unit}"
            lines.append((result.what, name, result.amount, bar, result.met))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer of everything")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md, as full runs do")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--receive", nargs=2, type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.receive:
        asyncio.run(receive(*given.receive))
    elif given.measure:
        measure(given.quick)
    else:
        measure_databases(given.quick, write=given.write or not given.quick)


def measure_databases(quick: bool, *, write: bool) -> None:
    databases = {"SQLite": measure_on("SQLite", quick, DATABASE_URL="")}
    if server := postgres.answering_server():
        name = f"storefront_bench_deliveries_{os.getpid()}"
        postgres.create(server, name)
        try:
            databases["PostgreSQL"] = measure_on("PostgreSQL", quick, DATABASE_URL=postgres.with_name(server, name))
        finally:
            postgres.drop(server, name)
    if write:
        report.write(table(databases), *report.WEBHOOKS)


if __name__ == "__main__":
    main()
