"""Measures what a web process and a database cost at 1, 200 and 2,000 shops.

    python -m tests.load.costs [--shops N ...] [--write]

All is measured over HTTP, one request after the other, with one web process and a PostgreSQL server of its own. CPU
seconds of both are counted, which other programs of the machine change little.
"""

import argparse
import json
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.prepared import clean_environment
from benchmarks.processes import family, memory
from benchmarks.report import write
from deploy.local.deployment import COMMAND_SECONDS, ROOT, SHOP_SECONDS, STOREFRONT, is_ready
from deploy.local.programs import Ended, Failed, Program, cpu_with_children, end_on_signals, run, stop
from tests.load.measured import CART, HIT, LIST, ORDER, PRODUCT_PAGE, Cost, Measured, table
from tests.load.plan import plan
from tests.load.report import PAGE, at
from tests.load.shoppers import Seen, Shopper, find_names_under_localhost
from tests.server.clusters import Cluster, programs
from tests.server.programs import free_port, wait_until

BEGIN, END = "<!-- shops: written by make load COSTS=1 -->", "<!-- end of shops -->"
PLAN_BEGIN, PLAN_END = "<!-- plan: written by make load COSTS=1 -->", "<!-- end of plan -->"
SIZES = (1, 200, 2000)
# Requests of each kind; reads that are repeated; orders.
CALLS, HITS, ORDERS = 100, 2000, 20
# As many products as a shop has: larger pages have the same content and another address.
PER_PAGE = 12


def main() -> int:
    parser = argparse.ArgumentParser(prog="make load COSTS=1", description=__doc__)
    parser.add_argument(
        "--shops", type=int, nargs="+", default=SIZES, help="numbers of shops, the least first (%(default)s)"
    )
    parser.add_argument("--write", action="store_true", help="write the table into docs/scale.md")
    given = parser.parse_args()
    if list(given.shops) != sorted(set(given.shops)) or given.shops[0] < 1:
        parser.error("--shops: expected numbers above 0, the least first")
    find_names_under_localhost()
    end_on_signals()
    try:
        return measure_all(given.shops, write_into_page=given.write)
    except Failed as failure:
        say(str(failure))
    except Ended:
        say("Ended before all was measured.")
    return 1


def measure_all(sizes: Sequence[int], *, write_into_page: bool) -> int:
    with database() as (cluster, environment):
        empty, port, shops = size_of(cluster), free_port(), list[dict[str, Any]]()
        measured = [measure(cluster, environment, port, shops, Measured(number, empty=empty)) for number in sizes]
    text, needed = table(measured), "\n".join(plan(measured[0], measured[-1]))
    sys.stdout.write(f"{text}\n\n{needed}\n")
    if write_into_page:
        write(text, BEGIN, END, PAGE)
        write(needed, PLAN_BEGIN, PLAN_END, PAGE)
    return 0


@contextmanager
def database() -> Iterator[tuple[Cluster, dict[str, str]]]:
    """A PostgreSQL server with a migrated database, and the variables of a service that uses it."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="storefront-shops-", dir="/tmp"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o755)
        found = programs()
        assert found, "PostgreSQL's programs are not installed"
        (folder / "cluster").mkdir()
        cluster = Cluster(folder / "cluster", found)
        if os.geteuid() == 0:
            shutil.chown(cluster.directory, cluster.user)
        stack.callback(cluster.kill)
        cluster.make_empty()
        environment = clean_environment() | {"STOREFRONT_DATA_DIR": str(folder / "data"), "DATABASE_URL": cluster.url}
        limits = ("BASKETS", "ORDERS", "ORDERS_EACH", "UNPAID", "UNPAID_EACH", "MAILS_EACH", "PAYMENTS")
        environment |= {f"STOREFRONT_LIMIT_{name}": "0" for name in limits}
        say("Preparing the database.")
        run([STOREFRONT, "migrate", "--verbosity", "0"], environment, seconds=COMMAND_SECONDS, cwd=ROOT)
        yield cluster, environment


def size_of(cluster: Cluster) -> int:
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    assert row
    return int(row[0])


def measure(
    cluster: Cluster, environment: dict[str, str], port: int, shops: list[dict[str, Any]], found: Measured
) -> Measured:
    """Make shops until there are so many, and measure."""
    say(f"Making {found.shops - len(shops)} shops.")
    began, before = time.monotonic(), len(shops)
    shops += make(environment, before + 1, found.shops, port)
    found.making, found.size = (time.monotonic() - began) / (found.shops - before), size_of(cluster)
    folder = Path(environment["STOREFRONT_DATA_DIR"])
    found.podmap = podmap(cluster, environment, folder)
    command = [STOREFRONT, "serve", "--no-worker", "--port", str(port), "--workers", "1"]
    web = Program("web", command, folder / "web.log", environment)
    began = time.monotonic()
    web.start()
    try:
        wait_until(lambda: is_ready(port), what="the web server", process=web.process)
        found.start, found.start_cpu = time.monotonic() - began, web.spent()
        found.resident = resident(web)
        say(f"Measuring with {found.shops} shops.")
        shopper = Shopper(port, shops, Seen(), ends_at=0.0, rate=1.0, name=f"of-{found.shops}")
        for name, count, ask in requests_of(shopper, shops):
            found.costs[name] = cost_of(web, cluster, count, ask)
        found.resident_after = resident(web)
        assert not shopper.seen.failures, shopper.seen.failures
    finally:
        stop([web])
    return found


def make(environment: dict[str, str], first: int, last: int, port: int) -> list[dict[str, Any]]:
    given = ["--first", str(first), "--last", str(last), "--step", "1", "--port", str(port)]
    command = [sys.executable, "-m", "deploy.local.shops", *given]
    printed = run(command, environment, seconds=COMMAND_SECONDS + SHOP_SECONDS * (last - first), cwd=ROOT)
    return [json.loads(line) for line in printed.splitlines()]


def requests_of(shopper: Shopper, shops: list[dict[str, Any]]) -> Iterator[tuple[str, int, Callable[[int], object]]]:
    """Each kind of request: its name, how many, and what makes the one with a number."""

    def shop(number: int) -> dict[str, Any]:
        # Spread over all shops: with 2,000, each of the 100 calls is the first for its shop.
        return shops[number * len(shops) // CALLS % len(shops)]

    def read(number: int) -> object:
        return shopper.call("list", "GET", shop(number), f"products?per_page={PER_PAGE + number % CALLS}")

    def cart(number: int) -> object:
        line = {"product_id": shop(number)["products"][0][0], "qty": 1}
        return shopper.call("cart", "POST", shop(number), "cart", headers={"Idempotency-Key": f"c{number}"}, json=line)

    yield LIST, CALLS, read
    yield HIT, HITS, read
    yield PRODUCT_PAGE, CALLS, lambda n: shopper.ask("page", "GET", shopper.url(shop(n), "/products/mug"))
    yield CART, CALLS, cart
    yield ORDER, ORDERS, lambda n: shopper.checkout(shop(n), f"{shopper.name}-{n}")


def cost_of(web: Program, cluster: Cluster, count: int, ask: Callable[[int], object]) -> Cost:
    durations, before = [], (web.spent(), database_cpu(cluster))
    for number in range(count):
        began = time.monotonic()
        ask(number)
        durations.append(time.monotonic() - began)
    spent = (web.spent() - before[0], database_cpu(cluster) - before[1])
    return Cost(*(1000 * seconds / count for seconds in spent), at(durations, 0.5))


def database_cpu(cluster: Cluster) -> float:
    assert cluster.process
    total = 0.0
    for pid in family(cluster.process.pid):
        try:
            total += cpu_with_children(pid)
        except OSError:
            # Ended meanwhile: its parent counts it at the next look.
            continue
    return total


def resident(web: Program) -> float:
    """MiB of the largest process, which is the one that answers."""
    return max(memory(pid).resident for pid in family(web.pid))


def podmap(cluster: Cluster, environment: dict[str, str], folder: Path) -> float:
    """CPU seconds of one podmap, which reads the shops of one pod."""
    listed = folder / "pods.toml"
    listed.write_text(f'[[pod]]\nnumber = 0\nupstream = ["127.0.0.1:1"]\ndatabase = "{cluster.url}"\n')
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [STOREFRONT, "podmap", "--pods", listed, "--format", "nginx", "--output", folder / "pods.map"]
    run(command, environment, seconds=COMMAND_SECONDS, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
